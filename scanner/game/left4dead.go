package game

import "bytes"

// Left 4 Dead: the game field of INFO is "L4D - mode" or "L4D - mode - difficulty".
// The tags name the modes that the server allows.
var _ = register(&table{
	id:         "l4d",
	name:       "Left 4 Dead",
	apps:       []uint32{500},
	evidence:   "three recorded replies of 2008 to 2014",
	info:       l4dGame,
	countsBots: true,
	rules:      withCvars(),
	finish:     l4dModes.read,
})

// Left 4 Dead 2.
var _ = register(&table{
	id:         "l4d2",
	name:       "Left 4 Dead 2",
	apps:       []uint32{550},
	evidence:   "two recorded replies of 2013 to 2014",
	countsBots: true,
	rules:      withCvars(),
	finish:     l4dModes.read,
})

var l4dModes = newModes("coop", "realism", "scavenge", "survival", "versus")

// l4dGame reads the mode and the difficulty from the game field of INFO.
func l4dGame(d *decoder) {
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
}
