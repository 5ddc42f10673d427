package game

import (
	"bytes"
	"slices"
)

// Arma 3: INFO's counts are right. Mods, DLCs and difficulty are in the binary
// pages of RULES (see bohemia.go). Each keyword is a letter followed by a value.
// In 2015, servers of version 1.38 still sent the names and hashes of their mods as
// text, split over several rules.
var _ = register("arma3", "Arma 3", []uint32{107410}, &table{
	evidence: "Bohemia's wiki, pages ServerBrowserProtocol3 and STEAMWORKSquery; recorded replies of " +
		"versions 1.38 (lists), 1.66 to 1.84 (pages, version 2) and 1.94 to 2.06 (pages, version 3)",
	split: ',',
	prefixes: slices.Concat(armaTags, []field{
		{name: "e", read: attribute("minutes_left")},
		{name: "f", read: attribute("file_patching")},
		{name: "y", read: attribute("island")},
		{name: "h", read: attribute("hash")},
	}),
	series: armaLists,
	finish: func(d *decoder) {
		c, ok := d.openPages(2, 3)
		if !ok {
			return
		}
		mask := c.u16()
		difficulty, crosshair := c.u8(), c.u8()
		if !c.short {
			const source = "rules.pages"
			d.setAttribute("difficulty", d.decimal(uint64(difficulty&7)), source)
			d.setAttribute("ai_level", d.decimal(uint64(difficulty>>3&7)), source)
			d.setAttribute("advanced_flight", truthText(difficulty&0x40 != 0), source)
			d.setAttribute("third_person", truthText(difficulty&0x80 != 0), source)
			d.setAttribute("crosshair", truthText(crosshair&1 != 0), source)
		}
		d.readDLCs(&c, mask, armaDLCs)
		d.readMods(&c)
		d.readSignatures(&c)
		d.endPages(&c)
	},
})

// Arma 2: Operation Arrowhead and its mod DayZ. A server of one game may report the
// application ID of the other game. The rules contain the same lists as those of Arma 3
// servers in 2015.
var (
	_ = register("arma2oa", "Arma 2: Operation Arrowhead", []uint32{33930}, arma2())
	_ = register("dayzmod", "DayZ Mod", []uint32{224580}, arma2())
)

func arma2() *table {
	return &table{
		evidence: "seven recorded replies of versions 1.62 to 1.63",
		split:    ',',
		prefixes: slices.Clone(armaTags),
		series:   slices.Clone(armaLists),
	}
}

// armaTags are the keywords of Arma 2 and 3: a letter and a value. The words for states
// and languages come from WoozyMasta's reader. A language is 65536 plus Windows' number
// for the language.
var armaTags = []field{
	{name: "b", read: truth(KeyAnticheat)},
	{name: "r", read: attribute("required_version")},
	{name: "n", read: attribute("required_build")},
	{name: "s", read: words("state", map[string]string{
		"0": "none", "1": "selecting mission", "2": "editing", "3": "assigning roles", "4": "sending mission",
		"5": "loading", "6": "briefing", "7": "playing", "8": "debriefing", "9": "aborted",
	})},
	{name: "m", read: attribute("equal_mods")},
	{name: "l", read: attribute("locked")},
	{name: "v", read: attribute("verify_signatures")},
	{name: "t", read: text(KeyMode)},
	{name: "g", read: armaLanguage},
	{name: "p", read: attribute("platform")},
	{name: "o", read: text(KeyRegion)},
	{name: "c", read: armaPlace},
}

var armaLanguage = words("language", map[string]string{
	"65540": "Chinese", "65541": "Czech", "65543": "German", "65545": "English", "65546": "Spanish", "65548": "French",
	"65550": "Hungarian", "65552": "Italian", "65553": "Japanese", "65557": "Polish", "65558": "Portuguese", "65561": "Russian",
})

// armaLists are lists of mods and signatures. Servers split them, even within a name, into
// rules of at most 127 bytes.
var armaLists = []series{
	{prefix: "modNames:", after: '-', join: func(d *decoder, v []byte, source string) {
		for names := (list{rest: v, separator: ';'}); names.next(); {
			if !d.addMod(Mod{Name: names.piece}, source) {
				return
			}
		}
	}},
	// The hashes of the mods above, in the same order. A semicolon ends each hash; the hash of
	// a mod may be empty.
	{prefix: "modHashes:", after: '-', join: func(d *decoder, v []byte, _ string) {
		for i := range d.g.Mods {
			at := bytes.IndexByte(v, ';')
			if at < 0 {
				return
			}
			d.g.Mods[i].Hash = d.limit(v[:at:at], maxText)
			v = v[at+1:]
		}
	}},
	{prefix: "sigNames:", after: '-', join: func(d *decoder, v []byte, source string) {
		d.addAttribute("signatures", d.limit(bytes.TrimSuffix(v, []byte(";")), maxLongText), source)
	}},
}

// armaDLCs names the bits of the DLC mask. Sources disagree on whether Contact is
// 0x400 or 0x800. Recorded servers with every other DLC lack 0x400, so 0x400 is probably
// Contact, which a server must enable explicitly.
var armaDLCs = []dlcBit{
	{0x0001, "karts"}, {0x0002, "marksmen"}, {0x0004, "heli"}, {0x0008, "zeus"},
	{0x0010, "apex"}, {0x0020, "jets"}, {0x0040, "laws_of_war"}, {0x0080, "malden"},
	{0x0100, "tac_ops"}, {0x0200, "tanks"}, {0x0400, "contact"}, {0x0800, "enoch"},
	{0x1000, "art_of_war"},
}

// armaPlace reads the server's coordinates, "longitude-latitude", of which either
// may be negative. It ignores values that are out of range: the server sends such
// values if it does not know its location.
func armaPlace(d *decoder, v []byte, source string) {
	if len(v) == 0 {
		return
	}
	i := bytes.IndexByte(v[1:], '-') + 1 // 0 if there is none, so that the longitude is empty
	longitude, ok1 := parseSigned(v[:i], maxNumber)
	latitude, ok2 := parseSigned(v[i+1:], maxNumber)
	switch {
	case !ok1 || !ok2:
		d.g.Notes |= noteValue
	case longitude >= -180 && longitude <= 180 && latitude >= -90 && latitude <= 90:
		d.setAttribute("longitude", v[:i:i], source)
		d.setAttribute("latitude", v[i+1:], source)
	}
}
