package game

import "bytes"

// This file has the games that put most of their values into rules, and games that need
// little more than a name. A value that was never recorded, or whose meaning is unknown,
// becomes an attribute, as the server sent it.

// Call of Duty 4 with CoD4X: INFO's players are people, but the player list also contains
// the bots (people.go). INFO has no 64-bit game ID, only the 16-bit application ID.
var _ = register("cod4", "Call of Duty 4", []uint32{7940}, &table{
	evidence: "the source code of CoD4X, file sv_main.c",
})

// Barotrauma: INFO's version is always 1.0.0.0.
var _ = register("barotrauma", "Barotrauma", []uint32{602960}, &table{
	evidence: "a recorded reply of version 0.18, with one package",
	rules: []field{
		{name: "version", read: text(KeyVersion)},
		{name: "gamemode", read: text(KeyMode)},
		{name: "haspassword", read: truth(KeyPassword)},
		{name: "playercount", read: count(KeyPlayers)},
		{name: "message", read: text(KeyDescription)},
	},
	// finish reads three lists in the same order: names, hashes and Workshop IDs of
	// packages. ID 0 is the game's own package. Only replies with one package were
	// recorded, so the comma between packages is a guess: if the lists differ in length,
	// the names become one attribute.
	finish: func(d *decoder) {
		const source = "rules.contentpackage"
		var names, hashes, ids []byte
		for i := range d.in.Rules {
			switch r := &d.in.Rules[i]; string(r.Name) {
			case "contentpackage":
				names = r.Value
			case "contentpackagehash":
				hashes = r.Value
			case "contentpackageid":
				ids = r.Value
			}
		}
		n := bytes.Count(names, []byte(","))
		switch {
		case len(names) == 0:
			return
		case bytes.Count(hashes, []byte(",")) != n || bytes.Count(ids, []byte(",")) != n:
			d.addAttribute("content_packages", d.limit(names, maxLongText), source)
			return
		}
		d.mark(KeyMods, source)
		for range n + 1 {
			var m Mod
			m.Name, names = cutComma(names)
			m.Hash, hashes = cutComma(hashes)
			m.ID, ids = cutComma(ids)
			if string(m.ID) != "0" && !d.addMod(m, source) {
				return
			}
		}
	},
})

func cutComma(b []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(b, []byte(","))
	return trim(first), rest
}

// Days of War: INFO's name is a Steam ID, its map is empty, its version 1.0.0.0 and its
// number of players 0. The player list is empty.
var _ = register("daysofwar", "Days of War", []uint32{454350}, &table{
	evidence: "two recorded replies of version 1.0.3.3",
	rules: []field{
		{name: "ONM_s", read: attribute("name")},
		{name: "MPN_s", read: mapFor("")},
		{name: "G_s", read: text(KeyMode)},
		{name: "N_i", read: count(KeyPlayers)},
		{name: "P_i", read: count(KeyMaxPlayers)},
		{name: "V_s", read: text(KeyVersion)},
	},
	finish: func(d *decoder) {
		if mode, ok := unrealTag(d.in.Info.Keywords, "G_s:"); ok {
			d.setText(KeyMode, mode, "keywords.G_s")
		}
	},
})

// Empyrion: INFO's map is empty, and its version is a number. The rule Players is not
// read: it says 20 where INFO and the list have 19.
var _ = register("empyrion", "Empyrion - Galactic Survival", []uint32{383120}, &table{
	evidence: "two recorded replies of Alpha 7.6 and earlier versions",
	rules: []field{
		{name: "Host", read: attribute("name")},
		{name: "MaxPlayers", read: count(KeyMaxPlayers)},
		{name: "PasswordNeeded", read: truth(KeyPassword)},
		{name: "Version", read: text(KeyVersion)},
		{name: "EACActive", read: truth(KeyAnticheat)},
		{name: "ServerInfo", read: text(KeyDescription)},
	},
})

// Squad and Post Scriptum: INFO counts ghosts (see ghostly in flags.go). For example, INFO
// says 104 of 80 players, but the rules say 77.
var _ = register("squad", "Squad", []uint32{393380}, &table{
	evidence: "a recorded reply of Alpha 8; UncoreMetrics for the queues",
	rules:    squadRules,
})

var _ = register("postscriptum", "Post Scriptum", []uint32{736220}, &table{
	evidence: "a recorded reply of version 2.0.446",
	rules:    squadRules,
})

var squadRules = []field{
	{name: "PlayerCount_i", read: count(KeyPlayers)},
	{name: "PublicQueue_i", read: count(KeyQueue)},
	{name: "GameMode_s", read: text(KeyMode)},
	{name: "GameVersion_s", read: text(KeyVersion)},
	{name: "Password_b", read: truth(KeyPassword)},
}

// Battalion 1944: INFO's name is a number and its player count is always 0. The
// rules have the real name and count, and the mode. The rule bat_map_s is not read: it
// says Derailed where INFO says Liberation, and gamedig considers it often wrong.
var _ = register("battalion1944", "Battalion 1944", []uint32{489940}, &table{
	evidence: "two recorded replies from 2018",
	rules: []field{
		{name: "bat_name_s", read: attribute("name")},
		{name: "bat_player_count_s", read: count(KeyPlayers)},
		{name: "bat_max_players_i", read: count(KeyMaxPlayers)},
		{name: "bat_has_password_s", read: truth(KeyPassword)},
		{name: "bat_gamemode_s", read: text(KeyMode)},
	},
})

// Insurgency: Sandstorm: INFO may say 0 of 0 players; the rules have the real counts.
// On one recorded server, however, PlrC_i is 1 although INFO says 0 of 12 and the list
// is empty. So if INFO has a capacity, finish drops a count that the list contradicts.
var _ = register("sandstorm", "Insurgency: Sandstorm", []uint32{581320}, &table{
	evidence: "a recorded reply of version 1.1.0.0; queryhost for mutators and mods",
	rules: []field{
		{name: "PlrC_i", read: count(KeyPlayers)},
		{name: "PlrM_i", read: count(KeyMaxPlayers)},
		{name: "GameMode_s", read: text(KeyMode)},
		{name: "Pwd_b", read: truth(KeyPassword)},
		{name: "Mods_b", read: truth(KeyModded)},
		{name: "ModList_s", read: modsBy(',')},
	},
	finish: func(d *decoder) {
		in := &d.in
		if in.Info.MaxPlayers > 0 && in.HasPlayers && !in.PlayersCut && len(in.Players) != d.g.Players {
			d.drop(KeyPlayers)
		}
	},
})

// Killing Floor 2: INFO's counts are right, and a rule has the mode. The rule MapName is not
// read: it says KF-BurningParis on three servers whose INFO names other maps.
var _ = register("killingfloor2", "Killing Floor 2", []uint32{232090}, &table{
	evidence: "queryhost, which is based on recorded replies",
	rules:    []field{{name: "Mode", read: text(KeyMode)}},
})

// Soulmask: INFO's version is always 1.0.0.0. The real version is in a rule.
var _ = register("soulmask", "Soulmask", []uint32{2646460, 3017310}, &table{ // application IDs of the game and of its server
	evidence: "gamedig's change 772",
	rules:    []field{{name: "NO_s", read: text(KeyVersion)}},
})

// EXFIL: the rule Players_s has players and slots, such as 1/24, and is more reliable than
// INFO.
var _ = register("exfil", "EXFIL", []uint32{860020}, &table{
	evidence: "DiscordGSM, which reads these rules",
	rules: []field{
		{name: "SteamServerName_s", read: attribute("name")},
		{name: "Players_s", read: func(d *decoder, v []byte, source string) {
			if people, places, ok := bytes.Cut(v, []byte("/")); ok {
				count(KeyPlayers)(d, people, source)
				count(KeyMaxPlayers)(d, places, source)
			}
		}},
	},
})

// The Front: INFO's name is a Steam ID, its capacity 200 and its version 1.0.0.0.
var _ = register("thefront", "The Front", []uint32{2285150}, &table{
	evidence: "output of gamedig, in gamedig's issue 443; DiscordGSM for the rule ServerName_s",
	rules:    []field{{name: "ServerName_s", read: attribute("name")}},
	finish: func(d *decoder) {
		if mode, ok := unrealTag(d.in.Info.Keywords, "GameMode_s:"); ok {
			d.setText(KeyMode, mode, "keywords.GameMode_s")
		}
	},
})

// Hurtworld: a rule has the time of the last wipe.
var _ = register("hurtworld", "Hurtworld", []uint32{393420}, &table{
	evidence: "old output of gamedig, in gamedig's issue 45",
	rules: []field{
		{name: "lastwipe", read: began},
		{name: "eac", read: truth(KeyAnticheat)},
	},
})

// TOXIKK: the names of rules are numbers.
var _ = register("toxikk", "TOXIKK", []uint32{324810}, &table{
	evidence: "output of gamedig, in gamedig's issue 641",
	rules:    []field{{name: "p1073741826", read: text(KeyMode)}},
})

// Games of which little more than the name is certain.
var (
	_ = register("abioticfactor", "Abiotic Factor", []uint32{427410}, &table{
		evidence: "a server's log in an issue of abiotic-factor-linux-docker",
		split:    ',',
		prefixes: []field{
			{name: "StoryProgress_s:", read: attribute("story_progress")},
			{name: "ModifiedRuleset_i:", read: attribute("modified_ruleset")},
		},
		rules: []field{
			{name: "StoryProgress_s", read: attribute("story_progress")},
			{name: "ModifiedRuleset_i", read: attribute("modified_ruleset")},
		},
	})
	_ = register("tf2classified", "Team Fortress 2 Classified", []uint32{3545060}, &table{
		evidence: "issue 711 of the game's tracker, where several people say that INFO does not count bots as players",
	})
	_ = register("enshrouded", "Enshrouded", []uint32{1203620}, &table{
		evidence: "gamedig's issues 512 and 524, which do not explain the keywords",
	})
)
