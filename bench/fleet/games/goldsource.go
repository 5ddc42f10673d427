package games

// goldTitles are the games on the GoldSource engine.
func goldTitles() []*Title {
	all := []*Title{
		{ID: "cs16", app: 10, folder: "cstrike", name: "Counter-Strike", share: 80,
			maps: []string{"de_dust2", "de_inferno", "de_aztec", "fy_iceworld"}},
		{ID: "tfc", app: 20, folder: "tfc", name: "Team Fortress Classic", share: 5, maps: []string{"2fort", "well"}},
		{ID: "dod", app: 30, folder: "dod", name: "Day of Defeat", share: 8, maps: []string{"dod_anzio", "dod_avalanche"}},
		{ID: "dmc", app: 40, folder: "dmc", name: "Deathmatch Classic", share: 3, maps: []string{"dmc_dm2"}},
		{ID: "opfor", app: 50, folder: "gearbox", name: "Opposing Force", share: 5, maps: []string{"op4_bootcamp"}},
		{ID: "ricochet", app: 60, folder: "ricochet", name: "Ricochet", share: 3, maps: []string{"rc_arena"}},
		{ID: "hl", app: 70, folder: "valve", name: "Half-Life", share: 12, maps: []string{"crossfire", "stalkyard", "bounce"}},
		{ID: "czero", app: 80, folder: "czero", name: "Condition Zero", share: 5, maps: []string{"de_dust2_cz", "cs_italy_cz"}},
		{ID: "svencoop", app: 225840, folder: "svencoop", name: "Sven Co-op 5.26", share: 10, maps: []string{"stadium4", "osprey"}},
		{ID: "goldsource", app: 70, folder: "ns", name: "Natural Selection", share: 4, maps: []string{"ns_veil", "ns_tanith"}},
	}
	for _, t := range all {
		t.gold, t.protocol, t.version = true, 48, "1.1.2.7/Stdio"
		t.places, t.fill = []int{12, 16, 20, 32}, goldSource
	}
	return all
}

// goldSource fills in a server on the GoldSource engine: variables as rules, and
// bots among the players of some servers.
func goldSource(s *Server) {
	s.Info.SteamID = anonymousServer | s.lasting.Next()>>32
	variables(s, goldSourceVariables(), s.Title.ID, true)
	s.addBots(s.lasting.Below(2) * s.lasting.Below(6))
	s.mapChanged()
}

// names are the games' names in records, by ID.
var names = map[string]string{
	"rust": "Rust", "ark": "ARK: Survival Evolved", "valheim": "Valheim", "conan": "Conan Exiles", "unturned": "Unturned",
	"7dtd": "7 Days to Die", "zomboid": "Project Zomboid", "vrising": "V Rising", "soulmask": "Soulmask",
	"arma3": "Arma 3", "dayz": "DayZ", "squad": "Squad", "postscriptum": "Post Scriptum",
	"sandstorm": "Insurgency: Sandstorm", "battalion1944": "Battalion 1944", "killingfloor2": "Killing Floor 2",
	"jc2mp": "Just Cause 2: Multiplayer", "tf2": "Team Fortress 2", "css": "Counter-Strike: Source",
	"cs2": "Counter-Strike 2", "csgo": "Counter-Strike: Global Offensive", "l4d": "Left 4 Dead", "l4d2": "Left 4 Dead 2",
	"gmod": "Garry's Mod", "cs16": "Counter-Strike", "tfc": "Team Fortress Classic", "dod": "Day of Defeat",
	"dmc": "Deathmatch Classic", "opfor": "Half-Life: Opposing Force", "ricochet": "Ricochet", "hl": "Half-Life",
	"czero": "Counter-Strike: Condition Zero", "svencoop": "Sven Co-op", "goldsource": "Half-Life mod",
}
