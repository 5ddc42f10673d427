package game

import "bytes"

// This file has the games whose rules hold everything, and games that need no more
// than a name. Exfil (rules Players_s, SteamServerName_s) and The Front (rule
// ServerName_s) are missing: their applications are not known for sure.

// Call of Duty 4 with CoD4X: INFO's players are people, and the list has the bots too
// (people.go). INFO has no game ID, so the application is the short one.
var _ = register(&table{
	id:       "cod4",
	name:     "Call of Duty 4",
	apps:     []uint32{7940},
	evidence: "the source of CoD4X, sv_main.c",
})

// Barotrauma: INFO's version is always 1.0.0.0.
var _ = register(&table{
	id:       "barotrauma",
	name:     "Barotrauma",
	apps:     []uint32{602960},
	evidence: "a recorded reply of 0.18, with one package",
	rules: []field{
		{name: "version", read: text(KeyVersion)},
		{name: "gamemode", read: text(KeyMode)},
		{name: "haspassword", read: truth(KeyPassword)},
		{name: "playercount", read: count(KeyPlayers)},
		{name: "message", read: text(KeyDescription)},
	},
	finish: barotraumaMods,
})

// barotraumaMods reads three lists in the same order: names, hashes and Workshop IDs
// of packages; ID 0 is the game's own. Only replies with one package were recorded, so
// that a comma separates them is a guess: if the lists differ in length, they stay
// attributes.
func barotraumaMods(d *decoder) {
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
		d.setLongAttribute("content_packages", names, source)
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
}

// cutComma splits b at its first comma.
func cutComma(b []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(b, []byte(","))
	return trim(first), rest
}

// Days of War: INFO's name is a Steam ID, its map is empty, its version 1.0.0.0 and
// its number of players 0, and nobody is listed.
var _ = register(&table{
	id:       "daysofwar",
	name:     "Days of War",
	apps:     []uint32{454350},
	evidence: "two recorded replies of 1.0.3.3",
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
var _ = register(&table{
	id:       "empyrion",
	name:     "Empyrion - Galactic Survival",
	apps:     []uint32{383120},
	evidence: "two recorded replies of Alpha 7.6 and before",
	rules: []field{
		{name: "Host", read: attribute("name")},
		{name: "MaxPlayers", read: count(KeyMaxPlayers)},
		{name: "PasswordNeeded", read: truth(KeyPassword)},
		{name: "Version", read: text(KeyVersion)},
		{name: "EACActive", read: truth(KeyAnticheat)},
		{name: "ServerInfo", read: text(KeyDescription)},
	},
})
