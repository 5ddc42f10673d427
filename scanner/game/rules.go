package game

import "bytes"

// This file has the games that put all their values into rules, and games that need no
// more than a name. Exfil (rules Players_s, SteamServerName_s) and The Front (rule
// ServerName_s) are missing: their application IDs are uncertain.

// Call of Duty 4 with CoD4X: INFO's players are people, and the list has the bots too
// (people.go). INFO has no game ID, so the application is the short one.
var _ = register("cod4", "Call of Duty 4", []uint32{7940}, &table{
	evidence: "the source of CoD4X, sv_main.c",
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
	// recorded, so the comma between packages is a guess: if the lists differ in
	// length, they stay attributes.
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

// cutComma splits b at its first comma.
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
		{name: "MPN_s", read: text(KeyMap)},
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

// Empyrion: INFO's map is empty and its version a number. The rule Players is not
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

// Squad and Post Scriptum: INFO counts ghosts (see ghostly in flags.go), such as 104 of 80
// players where the rules say 77.
var _ = register("squad", "Squad", []uint32{393380}, &table{
	evidence: "a recorded reply of Alpha 8; UncoreMetrics for the queues",
	rules:    squadRules,
})

var _ = register("postscriptum", "Post Scriptum", []uint32{736220}, &table{
	evidence: "a recorded reply of version 2.0.446",
	rules:    squadRules,
})

// squadRules are the rules of both games.
var squadRules = []field{
	{name: "PlayerCount_i", read: count(KeyPlayers)},
	{name: "PublicQueue_i", read: count(KeyQueue)},
	{name: "GameMode_s", read: text(KeyMode)},
	{name: "GameVersion_s", read: text(KeyVersion)},
	{name: "Password_b", read: truth(KeyPassword)},
}

// Battalion 1944: INFO's name is a number and its player count is always 0. The
// rules have the real name and count, and the map and mode of the match that these
// players are in. gamedig takes INFO's map, because it considers the rule often
// wrong. But the rules of one recorded server say 11 of 10 players on Derailed,
// while its INFO says 0 of 100 players on Liberation.
var _ = register("battalion1944", "Battalion 1944", []uint32{489940}, &table{
	evidence: "two recorded replies from 2018",
	rules: []field{
		{name: "bat_name_s", read: attribute("name")},
		{name: "bat_player_count_s", read: count(KeyPlayers)},
		{name: "bat_max_players_i", read: count(KeyMaxPlayers)},
		{name: "bat_has_password_s", read: truth(KeyPassword)},
		{name: "bat_gamemode_s", read: text(KeyMode)},
		{name: "bat_map_s", read: text(KeyMap)},
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

// Killing Floor 2: INFO's counts are right. The rules have the mode and the map.
var _ = register("killingfloor2", "Killing Floor 2", []uint32{232090}, &table{
	evidence: "queryhost, after recorded replies",
	rules: []field{
		{name: "Mode", read: text(KeyMode)},
		{name: "MapName", read: text(KeyMap)},
	},
})

// Soulmask: INFO's version is always 1.0.0.0. The real version is in a rule.
var _ = register("soulmask", "Soulmask", []uint32{2646460, 3017310}, &table{ // the game, and its server
	evidence: "gamedig's change 772",
	rules:    []field{{name: "NO_s", read: text(KeyVersion)}},
})
