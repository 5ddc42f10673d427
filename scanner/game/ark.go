package game

import "bytes"

// ARK: Survival Evolved, and the games made from it. INFO's version is always 1.0.0.0.
// The real version is at the end of the server's name, such as "(v358.7)". The other games
// also send it in two rules, which help if INFO cuts the name. All other values are in the
// rules.
var (
	_ = register("ark", "ARK: Survival Evolved", []uint32{346110},
		arkTable("recorded replies of v192 and v259; queryhost and UncoreMetrics for later versions"))
	_ = register("atlas", "ATLAS", []uint32{834910}, arkTable("two recorded replies of version 400.21"))
	_ = register("pixark", "PixARK", []uint32{593600}, arkTable("three recorded replies of versions 1.66 to 1.177"))
	_ = register("darkandlight", "Dark and Light", []uint32{529180}, arkTable("two recorded replies of version 100.54345"))
)

func arkTable(evidence string) *table {
	return &table{
		evidence: evidence,
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
			// If this rule is false, the server has no mods; no other rule can show
			// that.
			{name: "HASACTIVEMODS_i", read: func(d *decoder, v []byte, source string) {
				truth(KeyModded)(d, v, source)
				if modded, ok := parseTruth(v); ok && !modded {
					d.mark(KeyMods, source)
				}
			}},
			{name: "ATLASFRIENDLYNAME_s", read: attribute("cluster")},
			{name: "SessionName_s", read: attribute("name")}, // the complete name; INFO cuts the name at 63 bytes
			{name: "BuildId_s", read: arkBuild},
		},
		finish: func(d *decoder) {
			// A mod is "ID:hash", or just an ID.
			d.numberedMods("MOD", "_s", "rules.MODN_s", func(v []byte) Mod {
				if at := bytes.IndexByte(v, ':'); at >= 0 {
					return Mod{ID: v[:at:at], Hash: v[at+1:]}
				}
				return Mod{ID: v}
			})
			if string(d.in.Info.Map) == "ShooterEntry" { // the world is not loaded yet: these values are defaults
				d.drop(KeyPVP)
				d.drop(KeyTimeOfDay)
			}
		},
	}
}

// arkDayTime reads a rule that holds the time of day on old servers and the day on
// newer servers.
func arkDayTime(d *decoder, v []byte, source string) {
	if isClock(v) {
		d.setText(KeyTimeOfDay, v, source)
		return
	}
	count(KeyDay)(d, v, source)
}

// arkBuild sets the version to BuildId_s, a full stop and MINORBUILDID_s. ARK: Survival
// Evolved sends neither rule.
func arkBuild(d *decoder, v []byte, source string) {
	for i := range d.in.Rules {
		if r := &d.in.Rules[i]; string(r.Name) == "MINORBUILDID_s" && len(v) > 0 && len(r.Value) > 0 {
			start := len(d.buf)
			d.buf = append(append(append(d.buf, d.limit(v, maxText/2)...), '.'), d.limit(r.Value, maxText/2-1)...)
			d.setText(KeyVersion, d.since(start), source)
		}
	}
}
