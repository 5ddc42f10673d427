package game

import "bytes"

// Arma 3: INFO's counts are right. Mods, DLCs and difficulty are in the binary
// pages of RULES (see bohemia.go). Each keyword is a letter followed by a value.
// Servers of 2015 (1.38) still sent the names and hashes of their mods as text,
// split over several rules.
var _ = register(&table{
	id:   "arma3",
	name: "Arma 3",
	apps: []uint32{107410},
	evidence: "Bohemia's wiki, ServerBrowserProtocol3 and STEAMWORKSquery; recorded replies of " +
		"1.38 (lists), 1.66 to 1.84 (pages, version 2) and 1.94 to 2.06 (pages, version 3)",
	tags: tags{
		split: ',',
		prefixes: []field{
			{name: "b", read: truth(KeyAnticheat)},
			{name: "r", read: attribute("required_version")},
			{name: "n", read: attribute("required_build")},
			{name: "s", read: attribute("state")},
			{name: "m", read: attribute("equal_mods")},
			{name: "l", read: attribute("locked")},
			{name: "v", read: attribute("verify_signatures")},
			{name: "t", read: text(KeyMode)},
			{name: "g", read: attribute("language")},
			{name: "p", read: attribute("platform")},
			{name: "o", read: text(KeyRegion)},
			{name: "e", read: attribute("minutes_left")},
			{name: "f", read: attribute("file_patching")},
			{name: "y", read: attribute("island")},
			{name: "h", read: attribute("hash")},
			{name: "c", read: armaPlace},
		},
	},
	rules: []field{},
	series: []series{
		{prefix: "modNames:", join: armaModNames, after: '-'},
		{prefix: "modHashes:", join: armaModHashes, after: '-'},
		{prefix: "sigNames:", join: armaSignatures, after: '-'},
	},
	finish: readArma3Pages,
	vectors: []vector{
		{
			keywords: "bt,r218,n152405,s7,i1,mf,lf,vt,dt,tcoop,g65545,h1234abcd,f0,c12--34,pw,e15,y0,oDE,",
			rules: []string{
				"\x02\x02", "\x05local\x02\x02a3\x03key",
				"\x01\x02", "\x03\x01\x02\x05\x01\x02\x5b\x01\x01" + // version 3, DLC 1 and 4
					"\x0a\x0b\x0c\x0d\x1a\x1b\x1c\x1d" + // their hashes
					"\x03" + "\xaa\xbb\xcc\xdd\x04\x15\xe4\xde\x1a\x06CBA_A3" +
					"\x78\x56\x34\x12\x13\x93\x2f\x11\x01\x02" + // Creator DLC 1126291
					"\x01\x01\x01\x02\x01\x02\x01\x02\x01\x01\x01\x02", // a local mod; its name follows
			},
			want: `
				mode coop < keywords.t
				region DE < keywords.o
				anticheat true < keywords.b
				mods 3 < rules.pages
				mod 450814997 "CBA_A3" ddccbbaa
				mod 1126291 "" 12345678 creator
				mod  "local" 00000001
				attribute advanced_flight true < rules.pages
				attribute ai_level 3 < rules.pages
				attribute crosshair true < rules.pages
				attribute difficulty 3 < rules.pages
				attribute dlc karts;heli < rules.pages
				attribute equal_mods f < keywords.m
				attribute file_patching 0 < keywords.f
				attribute hash 1234abcd < keywords.h
				attribute island 0 < keywords.y
				attribute language 65545 < keywords.g
				attribute latitude -34 < keywords.c
				attribute locked f < keywords.l
				attribute longitude 12 < keywords.c
				attribute minutes_left 15 < keywords.e
				attribute platform w < keywords.p
				attribute required_build 152405 < keywords.n
				attribute required_version 218 < keywords.r
				attribute signatures a3;key < rules.pages
				attribute state 7 < keywords.s
				attribute third_person false < rules.pages
				attribute verify_signatures t < keywords.v`,
		},
		{
			keywords: "bf,c4194303-4194303,s,",
			rules: []string{
				"modNames:0-1", "Arma 3;@own;",
				"modHashes:0-2", ";01", "modHashes:1-2", "ab;",
				"sigNames:0-1", "a3;mine;",
			},
			want: `
				anticheat false < keywords.b
				mods 2 < rules.modNames:N
				mod  "Arma 3" 
				mod  "@own" 01ab
				attribute signatures a3;mine < rules.sigNames:N`,
		},
		{
			rules: []string{"\x01\x02", "\x03\x01\x02\x01\x02\x01\x02", "\x02\x02", "\x01\x02\x01\x02\x02\xaa\xaa\xaa\xaa\x04"},
			want: `
				mods 0 < rules.pages
				attribute advanced_flight false < rules.pages
				attribute ai_level 0 < rules.pages
				attribute crosshair false < rules.pages
				attribute difficulty 0 < rules.pages
				attribute third_person false < rules.pages
				note pages.truncated`,
		},
		{
			rules: []string{"\x01\x01", "\x09\x03\x01\x02"},
			want: `
				note pages.version
				note pages.overflow`,
		},
	},
})

// armaDLCs names the bits of the DLC mask. Sources disagree on whether Contact is
// 0x400 or 0x800. Recorded servers with every other DLC lack 0x400, and Contact is
// the DLC that a server must enable explicitly.
var armaDLCs = []dlcBit{
	{0x0001, "karts"}, {0x0002, "marksmen"}, {0x0004, "heli"}, {0x0008, "zeus"},
	{0x0010, "apex"}, {0x0020, "jets"}, {0x0040, "laws_of_war"}, {0x0080, "malden"},
	{0x0100, "tac_ops"}, {0x0200, "tanks"}, {0x0400, "contact"}, {0x0800, "enoch"},
	{0x1000, "art_of_war"},
}

// readArma3Pages reads the binary pages.
func readArma3Pages(d *decoder) {
	b, ok := d.takePages()
	if !ok {
		return
	}
	c := cursor{b: b}
	if !d.readHead(&c, 2, 3) {
		return
	}
	mask := c.u16()
	difficulty, crosshair := c.u8(), c.u8()
	if !c.short {
		d.setDifficulty(difficulty, crosshair)
	}
	d.readDLCs(&c, mask, armaDLCs)
	d.readMods(&c)
	d.readSignatures(&c)
	d.endPages(&c)
}

// setDifficulty sets the attributes that the two difficulty bytes encode.
func (d *decoder) setDifficulty(difficulty, crosshair uint8) {
	const source = "rules.pages"
	d.setAttribute("difficulty", d.decimal(uint64(difficulty&7)), source)
	d.setAttribute("ai_level", d.decimal(uint64(difficulty>>3&7)), source)
	d.setAttribute("advanced_flight", truthText(difficulty&0x40 != 0), source)
	d.setAttribute("third_person", truthText(difficulty&0x80 != 0), source)
	d.setAttribute("crosshair", truthText(crosshair&1 != 0), source)
}

// armaPlace reads the server's coordinates, "longitude-latitude", of which either
// may be negative. It ignores values that are out of range: the server sends them
// if it does not know its location.
func armaPlace(d *decoder, v []byte, source string) {
	if len(v) == 0 {
		return
	}
	i := bytes.IndexByte(v[1:], '-') + 1
	if i == 0 {
		d.g.Notes |= NoteValue
		return
	}
	longitude, ok1 := parseSigned(v[:i], maxNumber)
	latitude, ok2 := parseSigned(v[i+1:], maxNumber)
	switch {
	case !ok1 || !ok2:
		d.g.Notes |= NoteValue
	case longitude >= -180 && longitude <= 180 && latitude >= -90 && latitude <= 90:
		d.setAttribute("longitude", v[:i:i], source)
		d.setAttribute("latitude", v[i+1:], source)
	}
}

// armaModNames reads the mod names that old servers send, separated by semicolons.
func armaModNames(d *decoder, v []byte, source string) {
	for names := (list{rest: v, separator: ';'}); names.next(); {
		if !d.addMod(Mod{Name: names.piece}, source) {
			return
		}
	}
}

// armaModHashes reads the hashes of the mods that armaModNames added, in the same
// order. A semicolon ends each hash; the hash of a mod may be empty.
func armaModHashes(d *decoder, v []byte, _ string) {
	for i := range d.g.Mods {
		at := bytes.IndexByte(v, ';')
		if at < 0 {
			return
		}
		d.g.Mods[i].Hash = d.limit(v[:at:at], maxText)
		v = v[at+1:]
	}
}

// armaSignatures stores the signatures of old servers without the last semicolon.
func armaSignatures(d *decoder, v []byte, source string) {
	d.setLongAttribute("signatures", bytes.TrimSuffix(v, []byte(";")), source)
}
