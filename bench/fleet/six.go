package fleet

import (
	"fmt"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// titles are all games. A new one needs a row here; its function send adds keywords and
// rules, and what they mean. Their shares roughly follow the numbers of real servers.
var titles = []*title{
	{
		ID: "rust", recorded: "Rust", app: 252490, share: 90, folder: "rust", name: "Rust", version: "2571",
		maps:   []string{"Procedural Map", "Barren", "HapisIsland"},
		places: []int{50, 100, 150, 200, 250}, send: (*gameServer).rust,
	},
	{
		ID: "ark", recorded: "ARK: Survival Evolved", app: 346110, share: 60, folder: "ark_survival_evolved",
		name: "ARK: Survival Evolved", version: "1.0.0.0",
		maps:   []string{"TheIsland", "Ragnarok", "ScorchedEarth_P", "CrystalIsles"},
		places: []int{10, 20, 50, 70}, send: (*gameServer).ark,
	},
	{
		ID: "valheim", recorded: "Valheim", app: 892970, share: 60, folder: "valheim", version: "1.0.0.0",
		maps:   []string{"Midgard", "Nordheim", "Home"},
		places: []int{10, 64}, send: (*gameServer).valheim,
	},
	{
		ID: "arma3", recorded: "Arma 3", app: 107410, share: 60, folder: "Arma3", name: "Antistasi", version: "2.18.152405",
		maps:   []string{"Altis", "Stratis", "Tanoa", "Malden"},
		places: []int{16, 32, 64, 100}, send: (*gameServer).arma3,
	},
	{
		ID: "cs2", recorded: "Counter-Strike 2", app: 730, share: 80, folder: "csgo", name: "Counter-Strike 2", version: "1.41.1.6",
		maps:   []string{"de_mirage", "de_nuke", "de_anubis", "de_inferno"},
		places: []int{10, 12, 20, 32}, send: (*gameServer).cs2,
	},
	{
		ID: "gmod", recorded: "Garry's Mod", app: 4000, share: 60, folder: "garrysmod", name: "DarkRP", version: "2024.10.29",
		maps:   []string{"rp_downtown_v4c_v2", "gm_construct", "ttt_minecraft_b5"},
		places: []int{20, 32, 64, 128}, send: (*gameServer).gmod,
	},
}

// rust puts the real counts into the keywords, because the counts in INFO are one byte
// each.
func (s *gameServer) rust() {
	places := int(s.Info.MaxPlayers)
	if s.lasting.OneIn(6) {
		places = random.Pick(&s.lasting, []int{300, 425, 575})
		s.setPeople(places * s.tonight.Between(50, 99) / 100)
	}
	s.Info.MaxPlayers = uint32(uint8(places))

	s.tagKey("mp", places, game.KeyMaxPlayers)
	s.tagKey("cp", s.people, game.KeyPlayers)
	s.tagAttribute("pt", "rak", "transport")
	s.tagKey("qp", s.tonight.Below(39), game.KeyQueue)
	s.tagKey("v", s.Info.Version, game.KeyVersion)
	s.tagKey("$r", random.Pick(&s.lasting, []string{"EU", "NA", "AF"}), game.KeyRegion)
	if s.lasting.OneIn(2) {
		source := s.tag("^", "w^z^o")
		s.attribute(source, "wipe_cycle", "weekly")
		s.is(source, game.KeyModded, true)
		s.attribute(source, "framework", "oxide")
	} else {
		source := s.tag("^", "m^v")
		s.attribute(source, "wipe_cycle", "monthly")
		s.is(source, game.KeyMode, "vanilla")
	}
	s.tagAttribute("h", "994ea700", "hash")
	s.tagKey("born", s.lasting.Between(1_760_000_000, 1_779_999_999), game.KeyStarted)
	s.tagAttribute("gm", "rust", "gamemode")

	text := "Welcome to Rust!"
	for i := range s.lasting.Between(1, 14) {
		text += " " + remarks[i%len(remarks)]
	}
	s.is("rules.description_N", game.KeyDescription, text)
	for i := range 16 { // pieces of a hundred bytes; pieces after the end of the text are empty
		piece := text[:min(100, len(text))]
		text = text[len(piece):]
		s.rule(fmt.Sprintf("description_%02d", i), piece)
	}
	pve := s.lasting.OneIn(5)
	s.is(s.rule("pve", either(pve, "True", "False")), game.KeyPVP, !pve)
	s.rule("ent_cnt", s.tonight.Between(20_000, 190_000))
	s.rule("uptime", s.tonight.Between(600, 86_400))
	s.rule("world.seed", s.lasting.Below(1<<31-1))
	s.settings(`build=125000|131072 fps=59|30 fps_avg=58.07|29.93 gc_cl=4711 gc_mb=2048|8192 gmn=rust gmt=Survival hash=994ea700
headerimage=https://example.org/header.png logoimage=|https://example.org/logo.png url=https://example.org/rust
world.size=4500|3000|3500|4000`)
}

// remarks are the sentences of Rust servers' descriptions.
var remarks = []string{
	"No cheating, no scripting, no exploits.", "Admins are there every evening.",
	"Please speak English in the global chat.", "Raiding is allowed on weekends only.",
	"Ask for the password on our Discord.", "Map wipe on the first Thursday of the month.",
	"Twice the gather rate, stacks of five.", "Bases that nobody visits for a week are removed.",
	"Donations keep the server up; they buy no advantage.", "Solo players are welcome.",
}

// ark puts its version into the server's name, and sends a rule for each mod.
func (s *gameServer) ark() {
	release := random.Pick(&s.lasting, []string{"358.24", "358.7", "360.1"})
	name := s.Info.Name
	s.Info.Name = s.bytes(name, " - (v", release, ")")
	s.is("info.name", game.KeyVersion, release)
	owner := s.lasting.Between(90071992547409000, 90073092059036775)
	free := int(s.Info.MaxPlayers) - s.people
	s.tag("OWNINGID:", owner)
	s.tag("NUMOPENPUBCONN:", free)
	s.tag("P2PPORT:", 7777)

	s.rule("CUSTOMSERVERNAME_s", s.Info.Name)
	day := s.tonight.Between(1, 4000)
	s.is(s.rule("DayTime_s", day), game.KeyDay, day)
	modded := s.lasting.OneIn(2)
	active := s.rule("HASACTIVEMODS_i", either(modded, "1", "0"))
	s.is(active, game.KeyModded, modded)
	s.settings("ALLOWDOWNLOADCHARS_i=0|1 ALLOWDOWNLOADITEMS_i=0|1 ClusterId_s=cluster|north GameMode_s=TestGameMode_C LEGACY_i=0" +
		" MATCHTIMEOUT_f=120.000000 ModId_l=0 Networking_i=0 OFFICIALSERVER_i=0 P2PPORT=7777 SEARCHKEYWORDS_s=Custom SESSIONFLAGS=683")
	s.rule("NUMOPENPUBCONN", free)
	s.rule("OWNINGID", owner)
	s.rule("P2PADDR", owner)
	locked := s.Info.Password == 1
	s.is(s.rule("SERVERPASSWORD_b", either(locked, "true", "false")), game.KeyPassword, locked)
	anticheat, pve := s.lasting.OneIn(2), s.lasting.OneIn(2)
	s.is(s.rule("SERVERUSESBATTLEYE_b", either(anticheat, "true", "false")), game.KeyAnticheat, anticheat)
	s.is(s.rule("SESSIONISPVE_i", either(pve, "1", "0")), game.KeyPVP, !pve)
	if !modded {
		s.hasMods(active)
		return
	}
	s.hasMods("rules.MODN_s")
	s.chooseMods(s.lasting.Between(1, 4))
	for i, m := range s.chosen {
		hash := fmt.Sprintf("%08x", m.hash)
		s.rule(fmt.Sprintf("MOD%d_s", i), fmt.Sprint(m.id, ":", hash))
		s.mods = append(s.mods, game.Mod{ID: s.bytes(m.id), Hash: s.bytes(hash)})
	}
}

// valheim puts its version into the keywords. Older versions of the game send no other
// keyword.
func (s *gameServer) valheim() {
	release := random.Pick(&s.lasting, []string{"0.219.16", "0.220.5", "0.221.4"})
	if s.lasting.OneIn(5) {
		s.tag("", release)
		s.is("keywords", game.KeyVersion, release)
		return
	}
	s.tagKey("g=", release, game.KeyVersion)
	s.tagAttribute("n=", 34, "network_version")
	s.tagAttribute("m=", random.Pick(&s.lasting, []string{"", "combat_hard", "portals_casual"}), "modifiers")
}

// arma3 sends its mods in binary pages (A3SBP, version 3).
func (s *gameServer) arma3() {
	letter := func(v bool) string { return either(v, "t", "f") }
	battleye, locked, signed := s.lasting.OneIn(2), s.Info.Password == 1, s.lasting.OneIn(2)
	s.is(s.tag("b", letter(battleye)), game.KeyAnticheat, battleye)
	s.tagAttribute("r", 218, "required_version")
	s.tagAttribute("n", 152405, "required_build")
	s.attribute(s.tag("s", 7), "state", "playing")
	s.tag("i", 1)
	s.tagAttribute("m", "f", "equal_mods")
	s.tagAttribute("l", letter(locked), "locked")
	s.tagAttribute("v", letter(signed), "verify_signatures")
	s.tag("d", "t")
	s.tagKey("t", random.Pick(&s.lasting, []string{"coop", "survive", "sandbox", "rpg"}), game.KeyMode)
	s.attribute(s.tag("g", 65545), "language", "English")
	s.tagAttribute("h", fmt.Sprintf("%08x", uint32(s.lasting.Next())), "hash")
	s.tagAttribute("f", 0, "file_patching")
	s.tag("c", "-2147483648--2147483648") // no coordinates
	s.tagAttribute("p", "w", "platform")
	s.keywords = append(s.keywords, ',')
	s.pages()
	s.rule("timeLeft", 15)
}

// cs2 sends few rules or none. Some servers list a single player called "Max Players"
// instead of all players (EC-85).
func (s *gameServer) cs2() {
	s.tag(random.Pick(&s.lasting, []string{"competitive", "retakes", "5v5", "deathmatch"}), "")
	s.tag("secure", "")
	if s.lasting.OneIn(2) {
		s.settings("game_mode=0|1 game_type=0|1 mp_autoteambalance=1|0 mp_c4timer=40|35|45 mp_freezetime=15|2|0" +
			" mp_friendlyfire=1|0 mp_limitteams=2|0 mp_maxrounds=24|30|0 mp_roundtime=1.92|5|60 mp_timelimit=0|20|60" +
			" sv_airaccelerate=12|100|150 sv_cheats=0 sv_gravity=800 sv_maxspeed=320 sv_alltalk=0|1 tv_enable=0|1")
	}
	if s.people > 1 && s.lasting.OneIn(10) {
		s.Players = s.Players[:1]
		s.Players[0].Name, s.Players[0].Score = s.bytes("Max Players"), int32(s.Info.MaxPlayers)
	}
}

// gmod separates its keywords with spaces, and sends its console variables as rules.
func (s *gameServer) gmod() {
	s.separate = ' '
	s.tagKey("gm:", random.Pick(&s.lasting, []string{"darkrp", "sandbox", "terrortown"}), game.KeyMode)
	s.tagAttribute("gmws:", 2724150474, "gamemode_workshop")
	s.tagAttribute("gmc:", random.Pick(&s.lasting, []string{"rp", "build", "pvp"}), "category")
	s.tagKey("loc:", random.Pick(&s.lasting, []string{"us", "de", "ru", "fr"}), game.KeyRegion)
	s.tagKey("ver:", "250917", game.KeyVersion)

	hurt := s.lasting.OneIn(2)
	s.is(s.rule("sbox_playershurtplayers", either(hurt, "1", "0")), game.KeyPVP, hurt)
	for _, v := range cvars {
		if name := string(v.name); name != "sv_password" && name != "sv_tags" {
			s.rule(name, random.Pick(&s.lasting, v.values))
		}
	}
	s.is(s.rule("sv_password", s.Info.Password), game.KeyPassword, s.Info.Password == 1)
	s.rule("sv_tags", s.keywords)
}

// settings adds a rule for each word, which has the form NAME=VALUE|VALUE. Most servers
// have the first value, which is the default.
func (s *gameServer) settings(words string) {
	for word := range strings.FieldsSeq(words) {
		name, values, _ := strings.Cut(word, "=")
		all := strings.Split(values, "|")
		value := all[0]
		if s.lasting.OneIn(4) {
			value = random.Pick(&s.lasting, all)
		}
		s.rule(name, value)
	}
}

func either(v bool, yes, no string) string {
	if v {
		return yes
	}
	return no
}
