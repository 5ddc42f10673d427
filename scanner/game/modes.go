package game

import "slices"

// modes are the tags that name the modes of a game.
type modes []string

// read sets the mode from the keywords. A server that allows several modes has a
// tag for each of them, and the tags do not show which mode is played. In this case
// read sets the attribute "modes" instead.
func (m modes) read(d *decoder) {
	start, n := len(d.buf), 0
	seen := uint64(0)
	for tags := d.keywords(','); tags.next(); {
		i := slices.IndexFunc(m, func(mode string) bool { return mode == string(tags.piece) })
		if i < 0 || seen&(1<<i) != 0 {
			continue
		}
		seen |= 1 << i
		if n++; n > 1 {
			d.buf = append(d.buf, ',')
		}
		d.buf = append(d.buf, tags.piece...)
	}
	if n > 1 {
		d.setAttribute("modes", d.since(start), "keywords")
	} else {
		d.setText(KeyMode, d.since(start), "keywords")
	}
}
