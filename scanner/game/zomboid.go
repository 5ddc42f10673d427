package game

import "bytes"

// Project Zomboid: INFO's version is always 1.0.0.0. The keywords and the rules
// have the real version, and the rules also have the mods. A value that is too long
// for one rule is split over several rules with names such as "description:1/2".
var _ = register("zomboid", "Project Zomboid", []uint32{108600}, &table{
	evidence: "a recorded INFO reply of version 42.20; UncoreMetrics and queryhost for the rules",
	split:    ';',
	words: []field{
		{name: "modded", read: means(KeyModded, true)},
		{name: "pvp", read: means(KeyPVP, true)},
	},
	prefixes: []field{{name: "VERSION:", read: text(KeyVersion)}},
	rules: []field{
		{name: "version", read: text(KeyVersion)},
		{name: "pvp", read: truth(KeyPVP)},
		{name: "mods", read: zomboidMods},
		{name: "description", read: text(KeyDescription)},
	},
	series: []series{
		{prefix: "description:", after: '/', first: 1, join: text(KeyDescription)},
		{prefix: "mods:", after: '/', first: 1, join: zomboidMods},
	},
})

// zomboidMods reads a list of mods. An empty list means that the server has no mods. In
// Build 42, a mod is \ModID or WorkshopID\ModID.
func zomboidMods(d *decoder, v []byte, source string) {
	if len(v) == 0 {
		d.mark(KeyMods, source)
		return
	}
	if d.g.Has.Has(KeyMods) {
		return
	}
	for mods := (list{rest: v, separator: ';'}); mods.next(); {
		m := Mod{ID: mods.piece}
		if workshop, name, ok := bytes.Cut(mods.piece, []byte(`\`)); ok {
			m = Mod{ID: workshop, Name: name}
			if len(workshop) == 0 {
				m = Mod{ID: name}
			}
		}
		if !d.addMod(m, source) {
			return
		}
	}
}
