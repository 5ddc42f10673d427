package game

import "strconv"

// mark notes that key k now has a value.
func (d *decoder) mark(k Key, source string) {
	d.g.Has |= 1 << k
	d.g.sourced |= 1 << k
	d.g.sources[k] = source
}

// setNumber sets the number of key k, unless it has one.
func (d *decoder) setNumber(k Key, n int, source string) {
	if !d.g.Has.Has(k) {
		*d.g.number(k) = n
		d.mark(k, source)
	}
}

// setText sets the text of key k, unless it has one. An empty text says nothing.
func (d *decoder) setText(k Key, v []byte, source string) {
	if len(v) == 0 || d.g.Has.Has(k) {
		return
	}
	limit := maxText
	if k == KeyDescription {
		limit = maxLongText
	}
	*d.g.text(k) = d.limit(v, limit)
	d.mark(k, source)
}

// setTruth sets the truth value of key k, unless it has one.
func (d *decoder) setTruth(k Key, v bool, source string) {
	if !d.g.Has.Has(k) {
		*d.g.truth(k) = v
		d.mark(k, source)
	}
}

// setAttribute adds an attribute, unless there is one of that name. An empty
// value says nothing.
func (d *decoder) setAttribute(name string, v []byte, source string) {
	d.addAttribute(name, d.limit(v, maxText), source)
}

// setLongAttribute adds an attribute that may be as long as a description.
func (d *decoder) setLongAttribute(name string, v []byte, source string) {
	d.addAttribute(name, d.limit(v, maxLongText), source)
}

// addAttribute inserts an attribute by its name. Servers mostly send their rules
// sorted, so its place is near the end.
func (d *decoder) addAttribute(name string, v []byte, source string) {
	if len(v) == 0 {
		return
	}
	all := d.g.Attributes
	at := len(all)
	for at > 0 && all[at-1].Name > name {
		at--
	}
	if at > 0 && all[at-1].Name == name {
		return
	}
	all = append(all, Attribute{})
	copy(all[at+1:], all[at:])
	all[at] = Attribute{Name: name, Value: v, Source: source}
	d.g.Attributes = all
}

// addMod adds a mod and reports whether there was room for it.
func (d *decoder) addMod(m Mod, source string) bool {
	if len(d.g.Mods) == maxMods {
		d.g.Notes |= NoteModsLimit
		return false
	}
	m.ID, m.Name, m.Hash = d.limit(m.ID, maxText), d.limit(m.Name, maxText), d.limit(m.Hash, maxText)
	d.g.Mods = append(d.g.Mods, m)
	d.mark(KeyMods, source)
	return true
}

// limit cuts a text to n bytes.
func (d *decoder) limit(v []byte, n int) []byte {
	if len(v) > n {
		d.g.Notes |= NoteValueCut
		v = v[:n:n]
	}
	return v
}

// count reads a number of people, days and the like.
func count(k Key) action {
	return func(d *decoder, v []byte, source string) {
		if n, ok := parseInt(v, maxCount); ok {
			d.setNumber(k, int(n), source)
		} else {
			d.g.Notes |= NoteValue
		}
	}
}

// text reads a text.
func text(k Key) action {
	return func(d *decoder, v []byte, source string) { d.setText(k, v, source) }
}

// says sets a text that a tag stands for.
func says(k Key, word string) action {
	v := []byte(word)
	return func(d *decoder, _ []byte, source string) { d.setText(k, v, source) }
}

// truth reads a truth value.
func truth(k Key) action {
	return func(d *decoder, v []byte, source string) {
		if b, ok := parseTruth(v); ok {
			d.setTruth(k, b, source)
		} else {
			d.g.Notes |= NoteValue
		}
	}
}

// opposite reads a truth value that says the opposite of key k.
func opposite(k Key) action {
	return func(d *decoder, v []byte, source string) {
		if b, ok := parseTruth(v); ok {
			d.setTruth(k, !b, source)
		} else {
			d.g.Notes |= NoteValue
		}
	}
}

// means sets a truth value that a tag stands for.
func means(k Key, v bool) action {
	return func(d *decoder, _ []byte, source string) { d.setTruth(k, v, source) }
}

// attribute keeps a value as the attribute name.
func attribute(name string) action {
	return func(d *decoder, v []byte, source string) { d.setAttribute(name, v, source) }
}

// tagged sets an attribute that a tag stands for.
func tagged(name, word string) action {
	v := []byte(word)
	return func(d *decoder, _ []byte, source string) { d.setAttribute(name, v, source) }
}

// began reads the Unix time at which a world began.
func began(d *decoder, v []byte, source string) {
	n, ok := parseInt(v, maxNumber)
	switch {
	case !ok:
		d.g.Notes |= NoteValue
	case n > 0 && !d.g.Has.Has(KeyStarted):
		d.g.Started = n
		d.mark(KeyStarted, source)
	}
}

// modsBy reads a list of mods, of which it knows only the ID.
func modsBy(separator byte) action {
	return func(d *decoder, v []byte, source string) {
		if d.g.Has.Has(KeyMods) {
			return
		}
		for ids := (list{rest: v, separator: separator}); ids.next(); {
			if !d.addMod(Mod{ID: ids.piece}, source) {
				return
			}
		}
	}
}

// decimal returns a number as text.
func (d *decoder) decimal(v uint64) []byte {
	start := len(d.buf)
	d.buf = strconv.AppendUint(d.buf, v, 10)
	return d.since(start)
}

// hex returns a number as eight hexadecimal digits.
func (d *decoder) hex(v uint32) []byte {
	start := len(d.buf)
	d.buf = appendHex(d.buf, v)
	return d.since(start)
}

// truthText returns a truth value as text.
func truthText(v bool) []byte {
	if v {
		return wordTrue
	}
	return wordFalse
}

var (
	wordTrue  = []byte("true")
	wordFalse = []byte("false")
)
