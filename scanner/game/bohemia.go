package game

import (
	"bytes"
	"math/bits"
	"slices"
	"strconv"
)

// Bohemia Interactive's server browser protocol ("A3SBP") hides binary data in
// RULES. A rule holds a page if its name is two bytes: the number of the page, counted
// from 1, and the number of pages. The pages, without escapes and joined in order,
// contain:
//
//	+---------+----------+----------+------------+-----------+
//	| version | overflow | DLC bits | difficulty | crosshair |
//	+---------+----------+----------+------------+-----------+
//	     1         1          2           1            1        the last two in Arma 3 only
//	+-------------+-------+------+---+----+-------+------+
//	| DLC hash …  | count | hash | n | ID | length| name |
//	+-------------+-------+------+---+----+-------+------+
//	  4 per bit       1      4     1  n&15    1            for each mod
//	+-------+--------+-----------+--------+-------------+
//	| count | length | signature | length | description |
//	+-------+--------+-----------+--------+-------------+
//	    1       1                     1                    the last two in DayZ only
//
// If bit 0x10 of n is set, the mod is a Creator DLC, and the ID is its application ID
// instead of the ID of a Workshop item. The escape 01 01 means the byte 01, 01 02 means 00,
// and 01 03 means FF. A page may end inside an escape, so the escapes must be decoded in one
// pass over all pages (EC-101 to EC-103). Sources: Bohemia's page "Arma 3:
// ServerBrowserProtocol3", and recorded replies of versions 2 and 3.

// Limits of the pages. On the wire, the number of pages is one byte.
const (
	maxPages     = 255
	maxPageBytes = 64 << 10 // for all pages together; a real page has up to 127 bytes
)

type pages struct {
	total int // number of pages, according to the first page in the rules
	have  int // number of pages in pages.text
	text  [maxPages][]byte
}

var pageEscape = []byte{1} // begins an escape

const overflowKnown = 0x03 // the overflow bits of mods and signatures

// openPages collects the pages from the rules, and reads their version and overflow flags.
// The cursor that it returns is behind these. openPages returns false if no rule is a page,
// and if versions does not contain the version. If two pages have the same number, the
// first one is used. A page with another total than the first page is ignored.
func (d *decoder) openPages(versions ...uint8) (c cursor, ok bool) {
	p := &d.pages
	p.total, p.have = 0, 0
	for i := range d.in.Rules {
		r := &d.in.Rules[i]
		if len(r.Name) != 2 || r.Name[0] == 0 || r.Name[0] > r.Name[1] {
			continue
		}
		number, total := int(r.Name[0]), int(r.Name[1])
		if p.total == 0 {
			p.total = total
			clear(p.text[:total])
		}
		if total == p.total && p.text[number-1] == nil {
			p.text[number-1] = r.Value
			p.have++
		}
	}
	if p.total == 0 {
		return c, false
	}
	if p.have < p.total {
		d.g.Notes |= notePagesMissing
	}
	c.b = d.unescape()
	version, overflow := c.u8(), c.u8()
	if overflow&overflowKnown != 0 {
		d.g.Notes |= notePagesOverflow
	}
	switch {
	case slices.Contains(versions, version):
		return c, true
	case c.short:
		d.g.Notes |= notePagesTruncated
	default:
		d.g.Notes |= notePagesVersion
	}
	return c, false
}

// unescape decodes the escapes of the pages and joins the pages. It stops at the
// first missing page, and before a page that could exceed maxPageBytes.
func (d *decoder) unescape() []byte {
	p := &d.pages
	start := len(d.buf)
	escape := false // the previous byte was the 01 of an escape
	for _, text := range p.text[:p.total] {
		if text == nil {
			break
		}
		if len(d.buf)-start+len(text) > maxPageBytes {
			d.g.Notes |= notePagesTruncated
			break
		}
		for len(text) > 0 {
			if !escape {
				var plain []byte
				plain, text, escape = bytes.Cut(text, pageEscape)
				d.buf = append(d.buf, plain...)
				continue
			}
			c := text[0]
			switch c {
			case 1:
			case 2:
				c = 0
			case 3:
				c = 0xFF
			default:
				d.g.Notes |= notePagesEscape // keep only the second byte of an undefined escape
			}
			d.buf = append(d.buf, c)
			text, escape = text[1:], false
		}
	}
	return d.since(start)
}

// cursor reads fields from the front of the joined pages. If a field is incomplete,
// the cursor sets short and drops the rest, so that all later fields are empty.
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

func (c *cursor) u8() uint8   { return uint8(c.number(1)) }
func (c *cursor) u16() uint16 { return uint16(c.number(2)) }
func (c *cursor) u32() uint32 { return uint32(c.number(4)) }

func (c *cursor) text() []byte { return c.take(int(c.u8())) }

// number reads a little-endian number of n bytes. A number of more than 8 bytes
// counts as incomplete.
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

type dlcBit struct {
	bit  uint16
	name string
}

// readDLCs skips the hashes, one for each bit in mask, and sets the attribute "dlc"
// to the names of the DLCs. For an unknown DLC, it writes the bit in hexadecimal.
func (d *decoder) readDLCs(c *cursor, mask uint16, known []dlcBit) {
	for range bits.OnesCount16(mask) {
		c.u32()
	}
	if c.short {
		return
	}
	start := len(d.buf)
	separate := func() {
		if len(d.buf) > start {
			d.buf = append(d.buf, ';')
		}
	}
	for _, dlc := range known {
		if mask&dlc.bit != 0 {
			separate()
			d.buf = append(d.buf, dlc.name...)
			mask &^= dlc.bit
		}
	}
	for ; mask != 0; mask &= mask - 1 {
		separate()
		d.buf = strconv.AppendUint(append(d.buf, "0x"...), uint64(mask&-mask), 16)
	}
	d.setAttribute("dlc", d.since(start), "rules.pages")
}

// Masks of a mod's info byte, which is n in the layout at the top of this file.
const (
	modIDLength   = 0x0F
	modCreatorDLC = 0x10
)

// readMods reads the mods. It marks KeyMods as known once it has read the number of mods,
// even if the number is 0 or a mod is incomplete.
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

// readSignatures sets the attribute "signatures" to the names of the keys that the
// server accepts, separated by semicolons.
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
	d.addAttribute("signatures", d.limit(d.since(start), maxLongText), "rules.pages")
}

// endPages adds a note if the pages end inside a field or have trailing bytes.
func (d *decoder) endPages(c *cursor) {
	if c.short {
		d.g.Notes |= notePagesTruncated
	} else if len(c.b) > 0 {
		d.g.Notes |= notePagesTrailing
	}
}
