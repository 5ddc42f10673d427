package game

// DayZ: INFO's counts are right. Mods and description are in binary pages of
// version 2. They are like Arma 3's, but without the bytes for difficulty and crosshair.
// The queue and the time of day are in the keywords.
var _ = register("dayz", "DayZ", []uint32{221100, 1024020}, &table{ // the second application is DayZ Experimental
	evidence: "recorded replies of versions 0.45, 0.54 and 1.29; for the binary pages, the facts on which " +
		"Bohemia's page and the readers of WoozyMasta and dayzquery agree",
	split: ',',
	words: []field{
		{name: "battleye", read: means(KeyAnticheat, true)},
		{name: "no3rd", read: tagged("third_person", "false")},
		{name: "external", read: tagged("external", "true")},
		{name: "privHive", read: tagged("private_hive", "true")},
		{name: "mod", read: means(KeyModded, true)},
		{name: "isDLC", read: tagged("needs_dlc", "true")},
		{name: "whitelisting", read: tagged("whitelist", "true")},
		{name: "allowedFilePatching", read: tagged("file_patching", "true")},
	},
	prefixes: []field{
		{name: "lqs", read: count(KeyQueue)},
		{name: "etm", read: attribute("day_factor")},
		{name: "entm", read: attribute("night_factor")},
		{name: "shard", read: attribute("shard")},
		{name: "port", read: attribute("port")},
		// The time of day is a tag of its own, such as 09:07.
		{name: "", read: func(d *decoder, v []byte, _ string) {
			if isClock(v) {
				d.setText(KeyTimeOfDay, v, "keywords")
			}
		}},
	},
	rules: []field{
		{name: "island", read: mapFor("DayZ_Auto")}, // ChernarusPlus on two recorded servers
		{name: "language", read: armaLanguage},
	},
	finish: func(d *decoder) {
		c, ok := d.openPages(2)
		if !ok {
			return
		}
		d.readDLCs(&c, c.u16(), dayzDLCs)
		d.readMods(&c)
		d.readSignatures(&c)
		if len(c.b) > 0 {
			d.setText(KeyDescription, c.text(), "rules.pages")
		}
		d.endPages(&c)
	},
})

var dayzDLCs = []dlcBit{{1, "livonia"}, {2, "frostline"}, {4, "badlands"}}

func isClock(b []byte) bool {
	if len(b) != 5 || b[2] != ':' {
		return false
	}
	_, hours := parseInt(b[:2], 23)
	_, minutes := parseInt(b[3:], 59)
	return hours && minutes
}
