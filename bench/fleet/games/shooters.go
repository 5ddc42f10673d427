package games

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
)

func shooterTitles() []*Title {
	return []*Title{
		{ID: "arma3", app: 107410, folder: "Arma3", name: "Antistasi", version: "2.18.152405", protocol: 17,
			maps: []string{"Altis", "Stratis", "Tanoa", "Malden"}, places: []int{16, 32, 64, 100}, share: 60, fill: arma3},
		{ID: "dayz", app: 221100, folder: "dayz", name: "DayZ", version: "1.29.163709", protocol: 17,
			maps: []string{"chernarusplus", "enoch", "sakhal"}, places: []int{40, 60, 80}, share: 60, fill: dayz},
		{ID: "squad", app: 393380, folder: "squad", name: "Squad", version: "v8.2.1.394022.785", protocol: 17,
			maps: []string{"Narva_RAAS_v1", "Gorodok_AAS_v2", "Kohat_RAAS_v1"}, places: []int{80, 98, 100}, share: 25, fill: squad},
		{ID: "postscriptum", app: 736220, folder: "postscriptum", name: "Post Scriptum", version: "v2.1.7", protocol: 17,
			maps: []string{"Arnhem_Offensive_01", "Veghel_Offensive_01"}, places: []int{80}, share: 10, fill: squad},
		{ID: "sandstorm", app: 581320, folder: "sandstorm", name: "Insurgency: Sandstorm", version: "1.0.0.0", protocol: 17,
			maps: []string{"Farmhouse", "Precinct", "Ministry"}, places: []int{8, 28}, share: 25, fill: sandstorm},
		{ID: "battalion1944", app: 489940, folder: "battalion1944", name: "Battalion 1944", version: "1.0.0.0", protocol: 17,
			maps: []string{"Liberation", "Coastal"}, places: []int{10, 100}, share: 5, fill: battalion},
		{ID: "killingfloor2", app: 232090, folder: "kf2", name: "Killing Floor 2", version: "1150", protocol: 17,
			maps: []string{"KF-BurningParis", "KF-Outpost", "KF-Biotics"}, places: []int{6, 12}, share: 25, fill: killingFloor2},
		{ID: "jc2mp", app: 259080, folder: "jc2mp", name: "Just Cause 2: Multiplayer", version: "1.0.0.0", protocol: 17,
			maps: []string{""}, places: []int{255}, share: 5, fill: jc2mp},
	}
}

// arma3 sends its mods in binary pages (A3SBP, version 3).
func arma3(s *Server) {
	battleye, locked := s.yes(2), s.Info.Password == 1
	s.tag("b", spelled(battleye, "t", "f")).truth(game.KeyAnticheat, battleye)
	s.tag("r", 218).attribute("required_version")
	s.tag("n", 152405).attribute("required_build")
	s.tag("s", s.tonight.Between(1, 9)).attribute("state")
	s.tag("i", 1)
	s.tag("m", "f").attribute("equal_mods")
	s.tag("l", spelled(locked, "t", "f")).attribute("locked")
	s.tag("v", s.one("t", "f")).attribute("verify_signatures")
	s.tag("d", "t")
	s.tag("t", s.one("coop", "survive", "sandbox", "rpg")).text(game.KeyMode)
	s.tag("g", 65545).attribute("language")
	s.tag("h", s.hex(8)).attribute("hash")
	s.tag("f", 0).attribute("file_patching")
	arma3Place(s)
	s.tag("p", "w").attribute("platform")
	s.keywords = append(s.keywords, ',')
	mask, dlc, names := s.dlcs([]string{
		"karts", "marksmen", "heli", "zeus", "apex", "jets", "laws_of_war", "malden", "tac_ops", "tanks", "contact", "enoch", "art_of_war",
	})
	difficulty, crosshair := s.difficulty()
	mods := s.chooseMods(s.lasting.Below(12))
	if s.yes(4) {
		mods = append(mods, bohemiaMod{hash: s.hashOf(1042220), id: 1042220, creator: true})
	}
	signatures := []string{"a3", "cba_3.16.0", "ace_3.17.1"}
	b := binary.LittleEndian.AppendUint16([]byte{3, 0}, mask)
	b = append(append(b, difficulty, crosshair), dlc...)
	s.pages(appendTexts(appendMods(b, mods), signatures))
	s.rule("timeLeft", 15)
	s.meaning(mods, names, signatures)
}

// arma3Place adds the server's coordinates. Half of the servers have none.
func arma3Place(s *Server) {
	if s.yes(2) {
		s.tag("c", "-2147483648--2147483648")
		return
	}
	longitude, latitude := s.bytes(s.lasting.Between(-120, 140)), s.bytes(s.lasting.Between(-40, 60))
	d := s.tag("c", longitude, "-", latitude)
	d.means("longitude", longitude).means("latitude", latitude)
}

// difficulty picks the settings in the two bytes of the difficulty, and states what
// they mean.
func (s *Server) difficulty() (difficulty, crosshair byte) {
	level, ai := s.lasting.Below(4), s.lasting.Below(4)
	advanced, third, cross := s.yes(4), s.yes(2), s.yes(2)
	d := s.of("rules.pages")
	d.means("difficulty", s.bytes(level)).means("ai_level", s.bytes(ai))
	d.means("advanced_flight", s.bytes(spelled(advanced, "true", "false")))
	d.means("third_person", s.bytes(spelled(third, "true", "false")))
	d.means("crosshair", s.bytes(spelled(cross, "true", "false")))
	difficulty = byte(level | ai<<3)
	if advanced {
		difficulty |= 0x40
	}
	if third {
		difficulty |= 0x80
	}
	if cross {
		crosshair = 1
	}
	return difficulty, crosshair
}

// dayz sends its mods in binary pages too (version 2), and lists no players.
func dayz(s *Server) {
	s.tag("battleye").truth(game.KeyAnticheat, true)
	if s.yes(3) {
		s.tag("no3rd").means("third_person", s.bytes("false"))
	}
	s.tag("external").means("external", s.bytes("true"))
	s.tag("privHive").means("private_hive", s.bytes("true"))
	s.tag("shard", s.hex(6)).attribute("shard")
	s.tag("lqs", s.tonight.Below(2)*s.tonight.Below(30)).count(game.KeyQueue)
	s.tag("etm", s.one("1.000000", "6.000000")).attribute("day_factor")
	s.tag("entm", s.one("1.000000", "3.500000")).attribute("night_factor")
	mods := s.chooseMods(s.lasting.Below(8))
	if len(mods) > 0 {
		s.tag("mod").truth(game.KeyModded, true)
	}
	clock := s.bytes(fmt.Sprintf("%02d:%02d", s.tonight.Below(24), s.tonight.Below(60)))
	s.tag("", clock)
	s.tagged("keywords", clock).text(game.KeyTimeOfDay)
	mask, dlc, names := s.dlcs([]string{"livonia", "frostline", "badlands"})
	b := append(binary.LittleEndian.AppendUint16([]byte{2, 0}, mask), dlc...)
	signatures := []string{"dayz", "cf", "vpp"}
	description := s.bytes("Rules: be nice. ", someRemarks(s, 3))
	b = appendTexts(appendMods(b, mods), signatures)
	s.pages(append(append(b, byte(len(description))), description...))
	s.rule("allowedBuild", 0)
	s.rule("clientPort", int(s.plan.Port)+2)
	s.rule("dedicated", 1)
	s.rule("island", s.Info.Map).text(game.KeyMap)
	s.rule("language", 65545)
	s.rule("platform", "win")
	s.rule("requiredBuild", 0)
	s.rule("requiredVersion", 129)
	s.rule("timeLeft", 15)
	s.meaning(mods, names, signatures)
	s.of("rules.pages").is(game.KeyDescription, description)
	s.unlisted()
}

// squad counts both people and ghosts in INFO, even beyond the capacity.
func squad(s *Server) {
	people := s.people
	owner := s.sessionOwner()
	s.tag("BUILDID:", 490802986)
	s.tag("OWNINGID:", owner)
	s.rule("Flags_i", 7)
	s.rule("GameMode_s", s.one("RAAS", "AAS", "Invasion")).text(game.KeyMode)
	s.rule("GameVersion_s", s.Title.version).text(game.KeyVersion)
	squadLicense(s)
	s.rule("MapName_s", s.Info.Map)
	s.rule("MatchTimeout_f", "120.000000")
	s.rule("NUMPRIVCONN", 2)
	s.rule("NUMPUBCONN", int(s.Info.MaxPlayers)-2)
	s.rule("Password_b", spelled(s.Info.Password == 1, "true", "false")).truth(game.KeyPassword, s.Info.Password == 1)
	s.rule("PlayerCount_i", people).count(game.KeyPlayers)
	s.rule("PlayerReserveCount_i", s.lasting.Below(6))
	s.rule("PublicQueue_i", s.tonight.Below(10)).count(game.KeyQueue)
	s.rule("ReservedQueue_i", s.tonight.Below(2))
	s.rule("TeamOne_s", s.now("USA", "GB", "CAF"))
	s.rule("TeamTwo_s", s.now("RUS", "INS", "MEA"))
	s.rule("SEARCHKEYWORDS_s", "Custom")
	s.steamSession(owner, owner, 171)
	if people > 0 {
		s.setPeople(people + s.tonight.Below(25))
		s.Players[len(s.Players)-1].Duration = 140_000
	}
}

// squadLicense adds the signature of a licensed server: 256 bytes in three rules.
func squadLicense(s *Server) {
	if s.Title.ID != "squad" || s.yes(2) {
		return
	}
	signature := make([]byte, 0, 256)
	for range cap(signature) / 8 {
		signature = binary.LittleEndian.AppendUint64(signature, s.lasting.Next())
	}
	text := base64.StdEncoding.EncodeToString(signature)
	s.rule("LicenseId_i", s.lasting.Between(370000, 380000))
	s.rule("LicenseSig1_s", text[:127])
	s.rule("LicenseSig2_s", text[127:254])
	s.rule("LicenseSig3_s", text[254:])
}

// sandstorm may report 0 players and 0 slots in INFO.
func sandstorm(s *Server) {
	coop := s.yes(2)
	s.rule("Coop_b", spelled(coop, "true", "false"))
	s.rule("Day_b", s.now("true", "false"))
	s.rule("GameMode_s", spelled(coop, "Checkpoint", "Push")).text(game.KeyMode)
	s.rule("MatchServer_b", "false")
	modded := s.yes(3)
	if modded {
		s.rule("ModList_s", "98145,109375").mods(game.Mod{ID: s.bytes("98145")}, game.Mod{ID: s.bytes("109375")})
	}
	s.rule("Mods_b", spelled(modded, "true", "false")).truth(game.KeyModded, modded)
	s.rule("Mutated_b", spelled(modded, "true", "false"))
	s.rule("OfficialRuleset_b", "false")
	s.rule("PlrC_i", s.people).count(game.KeyPlayers)
	s.rule("PlrM_i", int(s.Info.MaxPlayers)).count(game.KeyMaxPlayers)
	s.rule("Pwd_b", spelled(s.Info.Password == 1, "true", "false")).truth(game.KeyPassword, s.Info.Password == 1)
	s.rule("RankedServer_b", "true")
	s.rule("Versus_b", spelled(coop, "false", "true"))
	if s.yes(3) {
		s.Info.Players, s.Info.MaxPlayers = 0, 0
	}
}

// battalion has its true values only in rules: its INFO has a number as the name,
// and no players.
func battalion(s *Server) {
	s.rule("bat_gamemode_s", s.one("BOMB", "WARTIDE")).text(game.KeyMode)
	s.rule("bat_has_password_s", spelled(s.Info.Password == 1, "Y", "N")).truth(game.KeyPassword, s.Info.Password == 1)
	s.rule("bat_map_s", s.now("Derailed", "Coastal", "Manorhouse")).text(game.KeyMap)
	s.rule("bat_max_players_i", 10).count(game.KeyMaxPlayers)
	s.rule("bat_name_s", s.Info.Name).attribute("name")
	s.rule("bat_player_count_s", min(s.people, 10)).count(game.KeyPlayers)
	owner := s.sessionOwner()
	s.steamSession(owner, owner, 683)
	s.unlisted()
	s.Info.Players = 0
	s.Info.Name = s.bytes(s.lasting.Below(1 << 30))
}

func killingFloor2(s *Server) {
	s.rule("bCustom", s.one("True", "False"))
	s.rule("bInProgress", s.now("True", "False"))
	s.rule("bMutators", "False")
	s.rule("CurrentWave", s.tonight.Between(1, 7))
	s.rule("Difficulty", s.lasting.Below(4))
	s.rule("MapName", s.Info.Map).text(game.KeyMap)
	s.rule("Mode", "Survival").text(game.KeyMode)
	s.rule("NumSpectators", 0)
	s.rule("NumWaves", 7)
	s.rule("ServerVersion", s.Title.version)
}

// jc2mp has up to 5000 slots; INFO's map contains the numbers of players and slots.
func jc2mp(s *Server) {
	places := random.Pick(&s.lasting, []int{200, 1000, 5000})
	people := s.tonight.Below(places / 20)
	s.setPeople(people)
	s.Info.MaxPlayers = uint32(min(places, 255))
	s.Info.Map = s.bytes("Players: ", people, "/", places)
	s.info("map", s.bytes(people)).count(game.KeyPlayers)
	s.info("map", s.bytes(places)).count(game.KeyMaxPlayers)
}
