package game

import "bytes"

// 7 Days to Die: about 40 rules. In early versions, the keywords hold the same names and
// values; in Alpha 15 they are a list of numbers, and in Alpha 20 base64 of unknown
// meaning. Decode ignores LevelName, which is INFO's map. It also ignores CurrentPlayers,
// which lags behind INFO: it was 10 when INFO and the list had 11, and 0 in the keywords
// when INFO had 8.
var _ = register("7dtd", "7 Days to Die", []uint32{251570}, &table{
	evidence: "recorded replies of Alpha 8.6, 15 and 20; UncoreMetrics; for PlayerKillingMode, " +
		"the comments in the server's configuration file",
	rules: []field{
		{name: "Version", read: text(KeyVersion)},
		{name: "GameMode", read: text(KeyMode)},
		{name: "Region", read: text(KeyRegion)},
		{name: "EACEnabled", read: truth(KeyAnticheat)},
		{name: "IsPasswordProtected", read: truth(KeyPassword)},
		{name: "ServerDescription", read: text(KeyDescription)},
		// The world's clock. A day has 24000 units, and the first day is day 1.
		{name: "CurrentServerTime", read: func(d *decoder, v []byte, source string) {
			const hour, day = 1000, 24000
			n := d.number(v, maxCount*day-1)
			if n < 0 {
				return
			}
			set(d, KeyDay, int(n/day)+1, source)
			minute := n % hour * 60 / hour
			start := len(d.buf)
			d.buf = append2(append(append2(d.buf, n%day/hour), ':'), minute)
			d.setText(KeyTimeOfDay, d.since(start), source)
		}},
		// Whom players may kill. 0: nobody (PVE); 1: only allies (neither PVE nor PVP);
		// 2: only strangers (PVP); 3: everybody (PVP).
		{name: "PlayerKillingMode", read: func(d *decoder, v []byte, source string) {
			switch string(v) {
			case "0":
				set(d, KeyPVP, false, source)
			case "2", "3":
				set(d, KeyPVP, true, source)
			}
		}},
	},
	// The keywords of early versions are the rules in the form "name:value;".
	finish: func(d *decoder) {
		if bytes.IndexByte(d.in.Info.Keywords, ':') < 0 {
			return
		}
		for pairs := d.keywords(';'); pairs.next(); {
			at := bytes.IndexByte(pairs.piece, ':')
			if at < 0 {
				continue
			}
			if f := find(d.in.Info).byRule.find(pairs.piece[:at]); f != nil {
				f.read(d, pairs.piece[at+1:], f.tag)
			}
		}
	},
})

func append2(dst []byte, n int64) []byte {
	return append(dst, byte('0'+n/10), byte('0'+n%10))
}
