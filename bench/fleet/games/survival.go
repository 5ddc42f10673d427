package games

import (
	"encoding/base64"
	"fmt"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
)

func survivalTitles() []*Title {
	return []*Title{
		{ID: "rust", app: 252490, folder: "rust", name: "Rust", version: "2571", protocol: 17,
			maps: []string{"Procedural Map", "Barren", "HapisIsland"}, places: []int{50, 100, 150, 200, 250}, share: 90, fill: rust},
		{ID: "ark", app: 346110, folder: "ark_survival_evolved", name: "ARK: Survival Evolved", version: "1.0.0.0", protocol: 17,
			maps: []string{"TheIsland", "Ragnarok", "ScorchedEarth_P", "CrystalIsles"}, places: []int{10, 20, 50, 70}, share: 60, fill: ark},
		{ID: "valheim", app: 892970, folder: "valheim", name: "", version: "1.0.0.0", protocol: 17,
			maps: []string{"Midgard", "Nordheim", "Home"}, places: []int{10, 64}, share: 60, fill: valheim},
		{ID: "conan", app: 440900, folder: "conanexiles", name: "Conan Exiles", version: "1.0.0.0", protocol: 17,
			maps: []string{"The Exiled Lands", "Isle of Siptah"}, places: []int{10, 40, 70}, share: 25, fill: conan},
		{ID: "unturned", app: 304930, folder: "unturned", name: "Unturned", version: "1.0.0.0", protocol: 17,
			maps: []string{"PEI", "Russia", "Washington", "Germany"}, places: []int{8, 16, 24, 48}, share: 40, fill: unturned},
		{ID: "7dtd", app: 251570, folder: "7DTD", name: "7 Days To Die", version: "1.0.0.0", protocol: 17,
			maps: []string{"Navezgane", "PREGEN6k", "Pregen8k01"}, places: []int{8, 12, 16, 32}, share: 50, fill: sevenDays},
		{ID: "zomboid", app: 108600, folder: "zomboid", name: "Project Zomboid", version: "1.0.0.0", protocol: 17,
			maps: []string{"Muldraugh, KY", "Riverside, KY"}, places: []int{16, 32, 64}, share: 50, fill: zomboid},
		{ID: "vrising", app: 1604030, folder: "V Rising", name: "V Rising", version: "1.1.10.0", protocol: 17,
			maps: []string{"VRisingWorld", "world1"}, places: []int{10, 40, 60}, share: 25, fill: vrising},
		{ID: "soulmask", app: 3017310, folder: "WS", name: "Soulmask", version: "1.0.0.0", protocol: 17,
			maps: []string{"Level01_Main"}, places: []int{20, 40, 50}, share: 15, fill: soulmask},
	}
}

// rust has the true counts in the keywords: the counts in INFO are one byte each.
func rust(s *Server) {
	places := int(s.Info.MaxPlayers)
	if s.yes(6) {
		places = random.Pick(&s.lasting, []int{300, 425, 575})
		s.setPeople(places * s.tonight.Between(50, 99) / 100)
	}
	s.Info.MaxPlayers = uint32(uint8(places))
	s.tag("mp", places).count(game.KeyMaxPlayers)
	s.tag("cp", s.people).count(game.KeyPlayers)
	s.tag("pt", "rak").attribute("transport")
	s.tag("qp", s.tonight.Below(3)*s.tonight.Below(20)).count(game.KeyQueue)
	s.tag("v", s.Title.version).text(game.KeyVersion)
	rustTags(s)
	hash := s.one("994ea700", "994ea700", "986958cf") // of the release
	s.tag("h", hash).attribute("hash")
	born := 1760000000 + s.lasting.Below(20_000_000)
	s.tag("born", born).number(game.KeyStarted, int64(born))
	s.tag("gm", "rust").attribute("gamemode")
	rustRules(s, hash)
}

// rustRules adds the rules, including sixteen lines of description.
func rustRules(s *Server, hash string) {
	s.rule("build", s.lasting.Between(120000, 135000))
	rustDescription(s)
	s.rule("ent_cnt", s.tonight.Between(20000, 190000))
	s.rule("fps", s.tonight.Between(25, 60))
	s.rule("fps_avg", fmt.Sprintf("%.2f", float64(s.tonight.Between(2500, 6000))/100))
	s.rule("gc_cl", s.tonight.Between(100, 9000))
	s.rule("gc_mb", s.tonight.Between(800, 9000))
	s.settings("gmn=rust gmt=Survival")
	s.rule("hash", hash)
	s.rule("headerimage", "https://example.org/header-", s.lasting.Below(90), ".png")
	s.rule("logoimage", s.one("https://example.org/logo.png", ""))
	pve := s.yes(5)
	s.rule("pve", spelled(pve, "True", "False")).truth(game.KeyPVP, !pve)
	s.rule("uptime", s.tonight.Between(600, 86400))
	s.rule("url", "https://example.org/rust")
	s.rule("world.seed", s.lasting.Below(1<<31))
	s.rule("world.size", 500*s.lasting.Between(6, 10))
}

// rustTags adds keywords for wipe cycle, mods and region: words, or the letters of
// later versions.
func rustTags(s *Server) {
	modded := s.yes(2)
	if s.yes(2) {
		s.tag("weekly").means("wipe_cycle", s.bytes("weekly"))
		s.tag("EU").is(game.KeyRegion, s.bytes("EU"))
		if modded {
			s.tag("oxide").means("framework", s.bytes("oxide"))
			s.tag("modded").truth(game.KeyModded, true)
		} else {
			s.tag("vanilla").is(game.KeyMode, s.bytes("vanilla"))
		}
		return
	}
	s.tag("$r", s.one("EU", "NA", "AF")).text(game.KeyRegion)
	letters := s.tag("^", spelled(modded, "w^z^o", "m^v"))
	letters.source = "keywords.^"
	if modded {
		letters.means("wipe_cycle", s.bytes("weekly")).truth(game.KeyModded, true).means("framework", s.bytes("oxide"))
	} else {
		letters.means("wipe_cycle", s.bytes("monthly")).is(game.KeyMode, s.bytes("vanilla"))
	}
}

// rustDescription adds the description in pieces of a hundred bytes. Pieces that
// are not needed are empty.
func rustDescription(s *Server) {
	const lines, size = 16, 100
	text := s.bytes("Welcome to ", names[s.Title.ID], "! ", someRemarks(s, 14))
	left := text
	for i := range lines {
		piece := left[:min(size, len(left))]
		left = left[len(piece):]
		s.part(s.bytes(fmt.Sprintf("description_%02d", i)), piece)
	}
	s.of("rules.description_N").is(game.KeyDescription, text)
}

func ark(s *Server) {
	version := s.one("358.24", "358.7", "360.1")
	s.Info.Name = s.bytes(s.Info.Name, " - (v", version, ")")
	s.info("name", s.bytes(version)).text(game.KeyVersion)
	owner := s.sessionOwner()
	s.tag("OWNINGID:", owner)
	s.tag("NUMOPENPUBCONN:", int(s.Info.MaxPlayers)-s.people)
	s.tag("P2PPORT:", 7777)
	s.rule("ALLOWDOWNLOADCHARS_i", s.one("0", "1"))
	s.rule("ALLOWDOWNLOADITEMS_i", s.one("0", "1"))
	s.rule("ClusterId_s", "cluster", s.lasting.Below(40))
	s.rule("CUSTOMSERVERNAME_s", s.Info.Name)
	s.rule("DayTime_s", s.tonight.Between(1, 4000)).count(game.KeyDay)
	s.rule("GameMode_s", "TestGameMode_C")
	modded := s.yes(2)
	flag := s.rule("HASACTIVEMODS_i", spelled(modded, "1", "0")).truth(game.KeyModded, modded)
	if !modded {
		flag.mods()
	}
	s.settings("LEGACY_i=0 MATCHTIMEOUT_f=120.000000 ModId_l=0 Networking_i=0 OFFICIALSERVER_i=0 SEARCHKEYWORDS_s=Custom")
	s.rule("NUMOPENPUBCONN", int(s.Info.MaxPlayers)-s.people)
	s.steamSession(owner, owner, 683)
	s.rule("SERVERPASSWORD_b", spelled(s.Info.Password == 1, "true", "false")).truth(game.KeyPassword, s.Info.Password == 1)
	battleye := s.yes(2)
	s.rule("SERVERUSESBATTLEYE_b", spelled(battleye, "true", "false")).truth(game.KeyAnticheat, battleye)
	pve := s.yes(2)
	s.rule("SESSIONISPVE_i", spelled(pve, "1", "0")).truth(game.KeyPVP, !pve)
	if modded {
		arkMods(s)
	}
}

func arkMods(s *Server) {
	var all []game.Mod
	for i, m := range s.chooseMods(s.lasting.Between(1, 4)) {
		hash := fmt.Sprintf("%08x", m.hash)
		s.part(s.bytes("MOD", i, "_s"), s.bytes(int(m.id), ":", hash))
		all = append(all, game.Mod{ID: s.bytes(int(m.id)), Hash: s.bytes(hash)})
	}
	s.of("rules.MODN_s").mods(all...)
}

func valheim(s *Server) {
	version := s.one("0.219.16", "0.220.5", "0.221.4")
	if s.yes(5) {
		s.tag("", version)
		s.tagged("keywords", s.bytes(version)).text(game.KeyVersion)
		return
	}
	s.tag("g=", version).text(game.KeyVersion)
	s.tag("n=", 34).attribute("network_version")
	s.tag("m=", s.one("", "combat_hard", "portals_casual")).attribute("modifiers")
}

// conan repeats the name of the server in a rule and, if it is short, in the keywords.
func conan(s *Server) {
	name := s.bytes(s.Info.Name)
	s.tag("BUILDID:", 256536549)
	owner := s.sessionOwner()
	s.tag("OWNINGID:", owner)
	if len(name) < 50 {
		s.tag("OWNINGNAME:", name)
	} else {
		s.tag("P2PPORT:", 7777)
	}
	s.rule("CSF_i", 0)
	s.rule("HOSTIP", s.lasting.Below(1<<31))
	s.settings("HOSTPORT=7777|27000 " + conanSettings)
	s.steamSession(owner, string(name), 523).attribute("name")
	if len(name) < 50 {
		s.tagged("keywords.OWNINGNAME", name).attribute("name") // if the rules are missing
	}
	if s.yes(2) {
		s.unlisted()
	}
}

func unturned(s *Server) {
	pve := s.yes(3)
	s.tag(spelled(pve, "PVE", "PVP")).truth(game.KeyPVP, !pve)
	s.tag("CHn").means("cheats", s.bytes("false"))
	hard := s.yes(3)
	s.tag(spelled(hard, "HRD", "NRM")).means("difficulty", s.bytes(spelled(hard, "hard", "normal")))
	s.tag("2Pp").means("camera", s.bytes("both"))
	s.tag("WSy").means("workshop", s.bytes("true"))
	s.tag("F2P").means("gold_only", s.bytes("false"))
	s.tag("BEy").truth(game.KeyAnticheat, true)
	s.tag("<net>", "sns</net>").means("transport", s.bytes("sns"))
	s.rule("Browser_Icon", "https://example.org/icon.png")
	s.rule("Browser_Desc_Hint", s.one("Semi-vanilla", "Roleplay", "Kits"))
	s.rule("GameVersion", "3.24.5.0").text(game.KeyVersion)
	description := s.bytes("Join ", s.Info.Name, "! ", someRemarks(s, 5))
	code := base64.StdEncoding.EncodeToString(description)
	s.rule("Browser_Desc_Full_Count", 2)
	s.part(s.bytes("Browser_Desc_Full_Line_0"), s.bytes(code[:len(code)/2]))
	s.part(s.bytes("Browser_Desc_Full_Line_1"), s.bytes(code[len(code)/2:]))
	s.rule("Cfg_Count", 1)
	s.rule("Cfg_0", "Items.Spawn_Chance=0.", s.lasting.Between(1, 9))
	setting := s.Rules[len(s.Rules)-1].Value
	ids, all := []byte{}, []game.Mod{}
	for _, m := range s.chooseMods(s.lasting.Between(1, 5)) {
		if len(ids) > 0 {
			ids = append(ids, ',')
		}
		ids = append(ids, s.bytes(int(m.id))...)
		all = append(all, game.Mod{ID: s.bytes(int(m.id))})
	}
	s.rule("Mod_Count", 1)
	s.part(s.bytes("Mod_0"), s.bytes(ids))
	s.of("rules.Mod_N").mods(all...)
	s.of("rules.Browser_Desc_Full_Line_N").is(game.KeyDescription, description)
	s.of("rules.Cfg_N").means("config", setting)
}

func sevenDays(s *Server) {
	s.tag("", base64.StdEncoding.EncodeToString(s.bytes(s.hex(16)))) // of unknown meaning
	s.settings(sevenDaysFirst)
	version := s.one("V 1.0", "V 2.4", "Alpha 21.2")
	s.rule("CompatibilityVersion", version)
	s.rule("CurrentPlayers", s.people)
	ticks := s.tonight.Below(24000 * 200)
	clock := s.rule("CurrentServerTime", ticks).number(game.KeyDay, int64(ticks/24000)+1)
	clock.is(game.KeyTimeOfDay, s.bytes(fmt.Sprintf("%02d:%02d", ticks%24000/1000, ticks%1000*60/1000)))
	s.settings("DayCount=3 DayLightLength=18 DayNightLength=60|90|120 " + sevenDaysDrops)
	eac := s.yes(2)
	s.rule("EACEnabled", spelled(eac, "True", "False")).truth(game.KeyAnticheat, eac)
	s.settings(sevenDaysEnemy)
	s.rule("GameDifficulty", s.lasting.Below(6))
	s.rule("GameHost", s.Info.Name)
	s.rule("GameMode", "GameModeSurvival").text(game.KeyMode)
	s.rule("GameName", "My Game ", s.lasting.Below(100))
	s.rule("GameType", "7DTD")
	s.rule("IP", "203.0.113.", s.lasting.Below(250))
	s.rule("IsDedicated", "True")
	s.rule("IsPasswordProtected", spelled(s.Info.Password == 1, "True", "False")).truth(game.KeyPassword, s.Info.Password == 1)
	s.settings(sevenDaysLand)
	s.rule("LevelName", s.Info.Map).text(game.KeyMap)
	s.settings(sevenDaysLoot)
	s.rule("MaxPlayers", int(s.Info.MaxPlayers))
	s.settings(sevenDaysMax)
	sevenDaysRest(s, version)
}

// sevenDaysRest adds the second half of the rules.
func sevenDaysRest(s *Server, version string) {
	killing := s.lasting.Below(4)
	mode := s.rule("PlayerKillingMode", killing)
	if killing != 1 {
		mode.truth(game.KeyPVP, killing != 0)
	}
	s.rule("Port", int(s.plan.Port))
	s.rule("Region", s.one("Europe", "NorthAmericaEast", "Asia")).text(game.KeyRegion)
	s.rule("RequiresMod", "False")
	s.rule("ServerDescription", someRemarks(s, 3)).text(game.KeyDescription)
	s.rule("ServerWebsiteURL", s.one("", "https://example.org"))
	s.rule("ShowFriendPlayerOnMap", "True")
	s.rule("SteamID", s.sessionOwner())
	s.settings("StockFiles=True|False StockSettings=True|False")
	s.rule("Version", version).text(game.KeyVersion)
	s.rule("WorldSize", s.one("6144", "8192"))
	s.rule("ZombiesRun", 0)
}

func zomboid(s *Server) {
	s.separate = ';'
	mods := s.chooseMods(s.lasting.Below(5))
	if len(mods) > 0 {
		s.tag("modded").truth(game.KeyModded, true)
	}
	version := s.one("41.78.16", "42.12", "42.20")
	s.tag("VERSION:", version).text(game.KeyVersion)
	text := someRemarks(s, 5)
	s.part(s.bytes("description:1/2"), s.bytes("Welcome to ", s.Info.Name))
	s.part(s.bytes("description:2/2"), s.bytes(" ", text))
	s.rule("modCount", len(mods))
	var all []game.Mod
	list := []byte{}
	for i, m := range mods {
		if i > 0 {
			list = append(list, ';')
		}
		list = append(list, m.name...)
		all = append(all, game.Mod{ID: s.bytes(m.name)})
	}
	s.rule("mods", list).mods(all...)
	s.rule("open", s.one("0", "1"))
	s.rule("public", 1)
	pvp := s.yes(2)
	s.rule("pvp", spelled(pvp, "1", "0")).truth(game.KeyPVP, pvp)
	s.rule("version", version)
	s.of("rules.description:N").is(game.KeyDescription, s.bytes("Welcome to ", s.Info.Name, " ", text))
}

func vrising(s *Server) {
	s.tag("pvp")
	s.rule("blood-bound-enabled", s.one("true", "false"))
	s.rule("castle-heart-damage-mode", s.one("Never", "CanBeDestroyedByPlayers"))
	s.rule("days-runningv2", s.tonight.Between(1, 400)).count(game.KeyDay)
	text := someRemarks(s, 4)
	s.part(s.bytes("desc0"), s.bytes("A clan for "))
	s.part(s.bytes("desc1"), s.bytes("night people. ", text))
	s.of("rules.descN").is(game.KeyDescription, s.bytes("A clan for night people. ", text))
}

func soulmask(s *Server) {
	s.tag("Soulmask")
	s.rule("NO_s", s.one("0.7.1", "0.8.2", "1.0.3")).text(game.KeyVersion)
	s.rule("PVE_b", s.one("true", "false"))
}
