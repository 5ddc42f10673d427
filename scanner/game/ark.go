package game

import "bytes"

// ARK: Survival Evolved: INFO's version is always 1.0.0.0. The real version is at
// the end of the server's name, such as "(v358.7)". All other values are in the
// rules.
var _ = register(&table{
	id:       "ark",
	name:     "ARK: Survival Evolved",
	apps:     []uint32{346110},
	evidence: "recorded replies of v192 and v259; queryhost and UncoreMetrics for later ones",
	info: func(d *decoder) {
		v, ok := between(d.in.Info.Name, "(v", ")")
		if ok && len(v) > 0 && v[0] >= '0' && v[0] <= '9' {
			d.setText(KeyVersion, v, "info.name")
		}
	},
	rules: []field{
		{name: "SESSIONISPVE_i", read: opposite(KeyPVP)},
		{name: "SERVERUSESBATTLEYE_b", read: truth(KeyAnticheat)},
		{name: "SERVERPASSWORD_b", read: truth(KeyPassword)},
		{name: "ServerPassword_b", read: truth(KeyPassword)},
		{name: "DayTime_s", read: arkDayTime},
		{name: "DAYTIME_s", read: arkDayTime},
		{name: "HASACTIVEMODS_i", read: arkHasMods},
	},
	finish: arkMods,
	vectors: []vector{
		{
			info: wireNamed("Our Island - (v358.7)"),
			rules: []string{
				"ALLOWDOWNLOADCHARS_i", "1", "ALLOWDOWNLOADITEMS_i", "0", "ClusterId_s", "abc",
				"CUSTOMSERVERNAME_s", "our island", "DayTime_s", "316", "GameMode_s", "TestGameMode_C",
				"HASACTIVEMODS_i", "1", "MOD10_s", "5:ee", "MOD0_s", "731604991:8E24D606", "MOD1_s", "12", "MODx_s", "9:9",
				"OFFICIALSERVER_i", "0", "SERVERUSESBATTLEYE_b", "true", "SERVERPASSWORD_b", "false",
				"SESSIONISPVE_i", "1",
			},
			want: `
				version 358.7 < info.name
				pvp false < rules.SESSIONISPVE_i
				password false < rules.SERVERPASSWORD_b
				modded true < rules.HASACTIVEMODS_i
				anticheat true < rules.SERVERUSESBATTLEYE_b
				day 316 < rules.DayTime_s
				mods 3 < rules.MODN_s
				mod 5 "" ee
				mod 731604991 "" 8E24D606
				mod 12 "" `,
		},
		{info: wireNamed("Our Island (very good)"), want: ``},
		{
			info:  wireNamed("Cut off - (v35"),
			rules: []string{"HASACTIVEMODS_i", "0", "DAYTIME_s", "14:43", "SESSIONISPVE_i", "maybe"},
			want: `
				modded false < rules.HASACTIVEMODS_i
				time_of_day 14:43 < rules.DAYTIME_s
				mods 0 < rules.HASACTIVEMODS_i
				note value.unreadable`,
		},
	},
})

// arkDayTime reads a rule that holds the time of day on old servers and the day on
// later ones.
func arkDayTime(d *decoder, v []byte, source string) {
	if isClock(v) {
		d.setText(KeyTimeOfDay, v, source)
		return
	}
	count(KeyDay)(d, v, source)
}

// arkHasMods reads HASACTIVEMODS_i. If it is false, the server has no mods; no
// other rule can show that.
func arkHasMods(d *decoder, v []byte, source string) {
	b, ok := parseTruth(v)
	if !ok {
		d.g.Notes |= NoteValue
		return
	}
	d.setTruth(KeyModded, b, source)
	if !b {
		d.mark(KeyMods, source)
	}
}

// arkMods reads the rules MOD0_s, MOD1_s and so on, whose values are "ID:hash" or
// just an ID. It adds the mods in the order of the rules, not of their numbers.
func arkMods(d *decoder) {
	for i := range d.in.Rules {
		r := &d.in.Rules[i]
		if !hasPrefix(r.Name, "MOD") || !hasSuffix(r.Name, "_s") {
			continue
		}
		if _, ok := parseInt(r.Name[3:len(r.Name)-2], maxNumber); !ok {
			continue
		}
		m := Mod{ID: r.Value}
		if at := bytes.IndexByte(r.Value, ':'); at >= 0 {
			m.ID, m.Hash = r.Value[:at:at], r.Value[at+1:]
		}
		if !d.addMod(m, "rules.MODN_s") {
			return
		}
	}
}
