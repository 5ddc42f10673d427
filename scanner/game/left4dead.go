package game

import "bytes"

// Left 4 Dead: the game field of INFO is "L4D - mode" or "L4D - mode - difficulty".
// The tags name the modes that the server allows.
var _ = register("l4d", "Left 4 Dead", []uint32{500}, &table{
	evidence: "three recorded replies from 2008 to 2014",
	info: func(d *decoder) {
		v := d.in.Info.Game
		const prefix, separator = "L4D - ", " - "
		if !hasPrefix(v, prefix) {
			return
		}
		v = v[len(prefix):]
		if i := bytes.Index(v, []byte(separator)); i >= 0 {
			d.setAttribute("difficulty", v[i+len(separator):], "info.game")
			v = v[:i:i]
		}
		d.setText(KeyMode, v, "info.game")
	},
	rules:  withCvars(),
	finish: l4dModes.read,
})

var _ = register("l4d2", "Left 4 Dead 2", []uint32{550}, &table{
	evidence: "two recorded replies from 2013 to 2014",
	rules:    withCvars(),
	finish:   l4dModes.read,
})

var l4dModes = modes{"coop", "realism", "scavenge", "survival", "versus"}
