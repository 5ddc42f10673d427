package game

import "bytes"

// Just Cause 2: Multiplayer allows up to 5000 players, too many for INFO's one-byte
// fields. INFO's map holds the numbers instead: "Players: 11/5000".
var _ = register("jc2mp", "Just Cause 2: Multiplayer", []uint32{259080}, &table{
	evidence: "a recorded reply from 2013",
	info: func(d *decoder) {
		v := d.in.Info.Map
		const prefix = "Players: "
		at := bytes.IndexByte(v, '/')
		if !hasPrefix(v, prefix) || at < 0 {
			return
		}
		count(KeyPlayers)(d, v[len(prefix):at], "info.map")
		count(KeyMaxPlayers)(d, v[at+1:], "info.map")
	},
})
