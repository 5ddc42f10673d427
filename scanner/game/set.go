package game

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

func (d *decoder) mark(k Key, source string) {
	d.g.Has |= 1 << k
	d.g.Sources[k] = source
}

func (d *decoder) drop(k Key) {
	switch v := fields[k](d.g).(type) {
	case *int:
		*v = 0
	case *[]byte:
		*v = nil
	case *bool:
		*v = false
	}
	d.g.Has &^= 1 << k
	d.g.Sources[k] = ""
}

// set sets the field of k if k has no value yet.
func set[T int | bool](d *decoder, k Key, v T, source string) {
	if !d.g.Has.Has(k) {
		*fields[k](d.g).(*T) = v
		d.mark(k, source)
	}
}

// setText sets the field of k if k has no value yet and v is not empty. It cuts v to
// maxText bytes, and a description to maxLongText.
func (d *decoder) setText(k Key, v []byte, source string) {
	if len(v) == 0 || d.g.Has.Has(k) {
		return
	}
	limit := maxText
	if k == KeyDescription {
		limit = maxLongText
	}
	*fields[k](d.g).(*[]byte) = d.limit(v, limit)
	d.mark(k, source)
}

// setAttribute cuts v to maxText bytes and calls addAttribute.
func (d *decoder) setAttribute(name string, v []byte, source string) {
	d.addAttribute(name, d.limit(v, maxText), source)
}

// addAttribute inserts an attribute in the order of names. It does nothing if v is empty or
// the name exists. It searches from the end, because most servers send sorted rules.
func (d *decoder) addAttribute(name string, v []byte, source string) {
	if len(v) == 0 {
		return
	}
	all := d.g.Attributes
	at := len(all)
	for at > 0 && all[at-1].Name > name {
		at--
	}
	if at == 0 || all[at-1].Name != name {
		all = append(all, Attribute{})
		copy(all[at+1:], all[at:])
		all[at] = Attribute{Name: name, Value: v, Source: source}
		d.g.Attributes = all
	}
}

// addMod adds a mod. It returns false if there are already maxMods mods.
func (d *decoder) addMod(m Mod, source string) bool {
	if len(d.g.Mods) == maxMods {
		d.g.Notes |= noteModsLimit
		return false
	}
	m.ID, m.Name, m.Hash = d.limit(m.ID, maxText), d.limit(m.Name, maxText), d.limit(m.Hash, maxText)
	d.g.Mods = append(d.g.Mods, m)
	d.mark(KeyMods, source)
	return true
}

// limit returns the first n bytes of v, and adds a note if it cuts v.
func (d *decoder) limit(v []byte, n int) []byte {
	if len(v) > n {
		d.g.Notes |= noteValueCut
		v = v[:n:n]
	}
	return v
}

// number parses a decimal number from 0 to limit. If v is not such a number, it adds a note
// and returns -1.
func (d *decoder) number(v []byte, limit int64) int64 {
	n, ok := parseInt(v, limit)
	if !ok {
		d.g.Notes |= noteValue
		return -1
	}
	return n
}

// count returns an action that sets k to a number from 0 to maxCount.
func count(k Key) action {
	return func(d *decoder, v []byte, source string) {
		if n := d.number(v, maxCount); n >= 0 {
			set(d, k, int(n), source)
		}
	}
}

func text(k Key) action {
	return func(d *decoder, v []byte, source string) { d.setText(k, v, source) }
}

// mapFor returns an action that sets the map if INFO's map is empty, or is the argument,
// which stands for no map. Other maps in INFO are right.
func mapFor(none string) action {
	return func(d *decoder, v []byte, source string) {
		if m := d.in.Info.Map; len(m) == 0 || string(m) == none {
			d.setText(KeyMap, v, source)
		}
	}
}

// says returns an action that sets k to word, which is the meaning of a tag.
func says(k Key, word string) action {
	v := []byte(word)
	return func(d *decoder, _ []byte, source string) { d.setText(k, v, source) }
}

func truth(k Key) action { return equals(k, true) }

func opposite(k Key) action { return equals(k, false) }

// equals returns an action that reads a boolean. It sets k to true if the boolean equals
// the second argument, want, else to false.
func equals(k Key, want bool) action {
	return func(d *decoder, v []byte, source string) {
		if b, ok := parseTruth(v); ok {
			set(d, k, b == want, source)
		} else {
			d.g.Notes |= noteValue
		}
	}
}

// means returns an action that sets k to v, which is the meaning of a tag.
func means(k Key, v bool) action {
	return func(d *decoder, _ []byte, source string) { set(d, k, v, source) }
}

func attribute(name string) action {
	return func(d *decoder, v []byte, source string) { d.setAttribute(name, v, source) }
}

// tagged returns an action that sets an attribute to word, which is the meaning of
// a tag.
func tagged(name, word string) action {
	v := []byte(word)
	return func(d *decoder, _ []byte, source string) { d.setAttribute(name, v, source) }
}

// words returns an action that sets an attribute to the word for a number, or to the
// number itself if there is no word for it.
func words(name string, of map[string]string) action {
	texts := map[string][]byte{}
	for number, word := range of {
		texts[number] = []byte(word)
	}
	return func(d *decoder, v []byte, source string) {
		if word := texts[string(v)]; word != nil {
			v = word
		}
		d.setAttribute(name, v, source)
	}
}

// began reads the Unix time at which a world began. It ignores 0.
func began(d *decoder, v []byte, source string) {
	if n := d.number(v, maxNumber); n > 0 && !d.g.Has.Has(KeyStarted) {
		d.g.Started = n
		d.mark(KeyStarted, source)
	}
}

// modsBy returns an action that reads a list of mod IDs. If the mods are already known, the
// action does nothing.
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

// numberedMods adds a mod for each rule whose name consists of prefix, a number and
// suffix. The mods have the order of the rules, not of their numbers.
func (d *decoder) numberedMods(prefix, suffix, source string, read func([]byte) Mod) {
	for i := range d.in.Rules {
		r := &d.in.Rules[i]
		if !hasPrefix(r.Name, prefix) || !hasSuffix(r.Name[len(prefix):], suffix) {
			continue
		}
		if _, ok := parseInt(r.Name[len(prefix):len(r.Name)-len(suffix)], maxNumber); ok && !d.addMod(read(r.Value), source) {
			return
		}
	}
}

func (d *decoder) decimal(v uint64) []byte {
	start := len(d.buf)
	d.buf = strconv.AppendUint(d.buf, v, 10)
	return d.since(start)
}

func (d *decoder) hex(v uint32) []byte {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], v)
	start := len(d.buf)
	d.buf = hex.AppendEncode(d.buf, b[:])
	return d.since(start)
}

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
