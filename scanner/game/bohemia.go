package game

import (
	"encoding/binary"
	"math/bits"
)

// The server browser protocol of Bohemia Interactive ("A3SBP") hides binary
// data in RULES. A rule whose name is two bytes, the number of a page and how
// many there are, holds a page. All pages by number, one after the other, with
// the escapes taken out in one pass, are:
//
//	+---------+----------+----------+------------+-----------+
//	| version | overflow | DLC bits | difficulty | crosshair |
//	+---------+----------+----------+------------+-----------+
//	     1         1          2           1            1        the last two in Arma 3 only
//	+-------------+-------+------+---+----+-------+------+
//	| DLC hash …  | count | hash | n | ID | length| name |
//	+-------------+-------+------+---+----+-------+------+
//	  4 each bit      1      4     1  n&15    1            for each mod
//	+-------+--------+-----------+--------+-------------+
//	| count | length | signature | length | description |
//	+-------+--------+-----------+--------+-------------+
//	    1       1                     1                    the last two in DayZ only
//
// A Creator DLC has bit 10 in n, and its application ID in place of a Workshop
// item. Escapes: 01 01 is 01, 01 02 is 00, 01 03 is FF. A page may end inside
// an escape, so the pages must be joined first (EC-101 to EC-103). Sources:
// Bohemia's page "Arma 3: ServerBrowserProtocol3", and the recorded replies of
// versions 2 and 3.

// Bounds of the pages: both are bytes on the wire.
const (
	maxPages     = 255
	maxPageBytes = 64 << 10 // of all pages together; real ones hold 127 each
)

// pages are the binary pages of a reply.
type pages struct {
	total int // how many there are, by the first page that was seen
	have  int
	text  [maxPages][]byte
}

// overflow bits of the second byte.
const overflowKnown = 0x03 // mods and signatures

// takePages collects the pages among the rules and returns their bytes without
// escapes. It reports false where there are no pages.
func (d *decoder) takePages() ([]byte, bool) {
	p := &d.pages
	p.total, p.have = 0, 0
	for i := range d.in.Rules {
		r := &d.in.Rules[i]
		if len(r.Name) != 2 || r.Name[0] == 0 || r.Name[0] > r.Name[1] {
			continue
		}
		p.put(int(r.Name[0]), int(r.Name[1]), r.Value)
	}
	if p.total == 0 {
		return nil, false
	}
	if p.have < p.total {
		d.g.Notes |= NotePagesMissing
	}
	return d.unescape(), true
}

// put keeps a page. If two have the same number, the first stays. A page that gives
// another total belongs to something else.
func (p *pages) put(number, total int, text []byte) {
	if p.total == 0 {
		p.total = total
		clear(p.text[:total])
	}
	if total == p.total && p.text[number-1] == nil {
		p.text[number-1] = text
		p.have++
	}
}

// unescape joins the pages up to the first that is missing and takes the
// escapes out.
func (d *decoder) unescape() []byte {
	p := &d.pages
	start := len(d.buf)
	escape := false // the byte before was 01
	for _, text := range p.text[:p.total] {
		if text == nil {
			break
		}
		if len(d.buf)-start+len(text) > maxPageBytes {
			d.g.Notes |= NotePagesTruncated
			break
		}
		for _, c := range text {
			if !escape && c != 1 {
				d.buf = append(d.buf, c)
				continue
			}
			if escape {
				d.buf = append(d.buf, d.escaped(c))
			}
			escape = !escape
		}
	}
	return d.since(start)
}

// escaped returns what 01 and c stand for.
func (d *decoder) escaped(c byte) byte {
	switch c {
	case 1:
		return 1
	case 2:
		return 0
	case 3:
		return 0xFF
	}
	d.g.Notes |= NotePagesEscape
	return c
}

// cursor takes fields off the front of the joined pages. After a field that is
// not there whole, every later one is missing too.
type cursor struct {
	b     []byte
	short bool
}

func (c *cursor) take(n int) []byte {
	if len(c.b) < n {
		c.b, c.short = nil, true
		return nil
	}
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) u8() uint8 {
	if v := c.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if v := c.take(2); v != nil {
		return binary.LittleEndian.Uint16(v)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if v := c.take(4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

// text reads a byte and as many bytes of text.
func (c *cursor) text() []byte { return c.take(int(c.u8())) }

// number reads a little-endian number of n bytes, 8 at most.
func (c *cursor) number(n int) uint64 {
	if n > 8 {
		c.b, c.short = nil, true
		return 0
	}
	v := uint64(0)
	for i, b := range c.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// dlcBit is what a bit of the DLC mask means.
type dlcBit struct {
	bit  uint16
	name string
}

// readHead reads version and overflow flags, and reports whether the version is
// one that we know.
func (d *decoder) readHead(c *cursor, versions ...uint8) bool {
	version := c.u8()
	overflow := c.u8()
	if overflow&overflowKnown != 0 {
		d.g.Notes |= NotePagesOverflow
	}
	for _, v := range versions {
		if v == version {
			return true
		}
	}
	if c.short {
		d.g.Notes |= NotePagesTruncated
	} else {
		d.g.Notes |= NotePagesVersion
	}
	return false
}

// readDLCs passes over the hash of each DLC whose bit is set, and names the DLCs.
func (d *decoder) readDLCs(c *cursor, mask uint16, known []dlcBit) {
	for range bits.OnesCount16(mask) {
		c.u32()
	}
	if c.short {
		return
	}
	start := len(d.buf)
	for _, dlc := range known {
		if mask&dlc.bit == 0 {
			continue
		}
		if len(d.buf) > start {
			d.buf = append(d.buf, ';')
		}
		d.buf = append(d.buf, dlc.name...)
	}
	d.setAttribute("dlc", d.since(start), "rules.pages")
}

// The info byte of a mod.
const (
	modIDLength   = 0x0F
	modCreatorDLC = 0x10
)

// readMods reads the mods. A list that was read to its end is known even if it
// is empty.
func (d *decoder) readMods(c *cursor) {
	n := int(c.u8())
	if !c.short {
		d.mark(KeyMods, "rules.pages")
	}
	for range n {
		hash := c.u32()
		info := c.u8()
		id := c.number(int(info & modIDLength))
		name := c.text()
		if c.short {
			return
		}
		m := Mod{Name: name, CreatorDLC: info&modCreatorDLC != 0}
		if id != 0 {
			m.ID = d.decimal(id)
		}
		m.Hash = d.hex(hash)
		if !d.addMod(m, "rules.pages") {
			return
		}
	}
}

// readSignatures reads the names of the keys that a server accepts.
func (d *decoder) readSignatures(c *cursor) {
	n := int(c.u8())
	start := len(d.buf)
	for i := range n {
		s := c.text()
		if c.short {
			break
		}
		if i > 0 {
			d.buf = append(d.buf, ';')
		}
		d.buf = append(d.buf, s...)
	}
	d.setLongAttribute("signatures", d.since(start), "rules.pages")
}

// endPages notes how the pages ended.
func (d *decoder) endPages(c *cursor) {
	if c.short {
		d.g.Notes |= NotePagesTruncated
	} else if len(c.b) > 0 {
		d.g.Notes |= NotePagesTrailing
	}
}
