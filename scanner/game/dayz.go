package game

// DayZ: INFO's counts are right. Mods and description are in binary pages of
// version 2, which are like Arma 3's but without the two difficulty bytes. The
// queue and the time of day are in the keywords.
var _ = register(&table{
	id:   "dayz",
	name: "DayZ",
	apps: []uint32{221100},
	evidence: "recorded replies of 0.45, 0.54 and 1.29; the pages from what Bohemia and the readers " +
		"of WoozyMasta and dayzquery agree on",
	tags: tags{
		split: ',',
		words: []field{
			{name: "battleye", read: means(KeyAnticheat, true)},
			{name: "no3rd", read: tagged("third_person", "false")},
			{name: "external", read: tagged("external", "true")},
			{name: "privHive", read: tagged("private_hive", "true")},
			{name: "mod", read: means(KeyModded, true)},
			{name: "isDLC", read: tagged("needs_dlc", "true")},
		},
		prefixes: []field{
			{name: "lqs", read: count(KeyQueue)},
			{name: "etm", read: attribute("day_factor")},
			{name: "entm", read: attribute("night_factor")},
			{name: "shard", read: attribute("shard")},
			{name: "port", read: attribute("port")},
			{name: "", read: clock},
		},
	},
	rules: []field{
		{name: "island", read: text(KeyMap)},
	},
	finish: readDayZPages,
	vectors: []vector{
		{
			keywords: "battleye,no3rd,external,privHive,shard001,lqs7,etm6.000000,entm3.500000,mod,port2302,09:07",
			rules: []string{
				"\x01\x01", "\x02\x01\x02\x03\x01\x02" + // version 2, DLC 1 and 2
					"\x01\x01\x02\x03\x04\x05\x06\x07\x08" + // their hashes; the first byte is escaped
					"\x02" + "\x11\x22\x33\x44\x04\x93\x61\x6d\x5d\x02CF" +
					"\x01\x02\x01\x02\x01\x02\x01\x02\x01\x01\x01\x02\x03own" +
					"\x01\x01\x04dayz" + "\x07welcome",
				"allowedBuild", "0", "clientPort", "2304", "dedicated", "1", "island", "enoch",
				"language", "65545", "platform", "win", "requiredBuild", "0", "requiredVersion", "129", "timeLeft", "15",
			},
			want: `
				queue 7 < keywords.lqs
				map enoch < rules.island
				modded true < keywords.mod
				anticheat true < keywords.battleye
				time_of_day 09:07 < keywords
				mods 2 < rules.pages
				mod 1567449491 "CF" 44332211
				mod  "own" 00000000
				description welcome < rules.pages
				attribute day_factor 6.000000 < keywords.etm
				attribute dlc livonia;frostline < rules.pages
				attribute external true < keywords.external
				attribute night_factor 3.500000 < keywords.entm
				attribute port 2302 < keywords.port
				attribute private_hive true < keywords.privHive
				attribute shard 001 < keywords.shard
				attribute signatures dayz < rules.pages
				attribute third_person false < keywords.no3rd`,
		},
		{ // an escape across two pages that come in the wrong order, and a page of another list
			rules: []string{
				"\x02\x02", "\x02\x01\x02\x01\x02\x01\x02\x01\x02", "\x01\x02", "\x02\x01", "\x01\x03", "junk",
			},
			want: `
				mods 0 < rules.pages`,
		},
		{
			keywords: "lqsx,25:00,entm",
			rules:    []string{"\x02\x02", "\x01\x02"},
			want: `
				note value.unreadable
				note pages.missing
				note pages.truncated`,
		},
	},
})

var dayzDLCs = []dlcBit{{1, "livonia"}, {2, "frostline"}, {4, "badlands"}}

// readDayZPages reads the binary pages.
func readDayZPages(d *decoder) {
	b, ok := d.takePages()
	if !ok {
		return
	}
	c := cursor{b: b}
	if !d.readHead(&c, 2) {
		return
	}
	d.readDLCs(&c, c.u16(), dayzDLCs)
	d.readMods(&c)
	d.readSignatures(&c)
	if len(c.b) > 0 {
		d.setText(KeyDescription, c.text(), "rules.pages")
	}
	d.endPages(&c)
}

// clock sets the time of day if the tag is nothing but a time, such as 09:07. It
// ignores other tags.
func clock(d *decoder, v []byte, _ string) {
	if isClock(v) {
		d.setText(KeyTimeOfDay, v, "keywords")
	}
}

// isClock reports whether b is a time from 00:00 to 23:59.
func isClock(b []byte) bool {
	if len(b) != 5 || b[2] != ':' {
		return false
	}
	_, hours := parseInt(b[:2], 23)
	_, minutes := parseInt(b[3:], 59)
	return hours && minutes
}
