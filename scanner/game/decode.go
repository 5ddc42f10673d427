package game

import (
	"bytes"

	"github.com/a2sscan/a2sscan/wire"
)

// Our limits, which hold whatever a reply contains. A reply has at most 512 KiB.
const (
	// The maximum number of players or days; the largest known server has 5000 slots.
	maxCount      = 1 << 20
	maxNumber     = 1 << 40 // maximum of all other numbers, including Unix times
	maxText       = 1 << 10 // maximum number of bytes of a value
	maxLongText   = 8 << 10 // maximum number of bytes of a description or a long attribute
	maxMods       = 512     // maximum number of mods; the binary pages of Arma 3 hold at most 255
	maxParts      = 64      // maximum number of rules per series
	maxSeries     = 4       // maximum number of series per game
	keywordsField = 127     // length in bytes at which Steam cuts the keywords (EC-40)
)

// decoder is the working state of Decode. Each Game has its own decoder and reuses
// its memory for the next reply.
type decoder struct {
	g   *Game
	in  Reply
	buf []byte // values that are joined, decoded or formatted

	parts [maxSeries]parts
	pages pages
}

// parts holds the parts of one series in a reply.
type parts struct {
	seen uint64 // bit n is set if text[n] holds a part
	text [maxParts][]byte
}

// Decode replaces the contents of dst with the game-specific values of a reply. If the
// reply has no INFO, dst is empty. If no table matches the game, dst contains at most the
// number of people. There are no errors: if Decode cannot understand a value, it adds a
// note to dst.Notes.
func Decode(dst *Game, in Reply) {
	mods, attributes, dec := dst.Mods[:0], dst.Attributes[:0], dst.dec
	*dst = Game{} // Go would build a literal with these fields elsewhere and copy it
	dst.Mods, dst.Attributes, dst.dec = mods, attributes, dec
	if in.Info == nil {
		return
	}
	t := find(in.Info)
	if t != nil {
		if dec == nil {
			dec = new(decoder)
			dst.dec = dec
		}
		dec.g, dec.in, dec.buf = dst, in, dec.buf[:0]
		dec.run(t)
		dec.in = Reply{}
	}
	dst.countPeople(t, &in)
}

// run decodes the reply by table t: first t.info, then the keywords, the rules in
// the server's order, the series, and t.finish. If a key or attribute gets several
// values, the first one is used.
func (d *decoder) run(t *table) {
	d.g.ID, d.g.Name = t.id, t.name
	if t.info != nil {
		t.info(d)
	}
	if t.split != 0 {
		d.readTags(t)
	}
	d.readRules(t)
	for i := range t.series {
		d.join(&t.series[i], &d.parts[i])
	}
	if t.finish != nil {
		t.finish(d)
	}
	in := d.in.Info
	if in.Has&wire.HasPassword != 0 && d.g.Has.Has(KeyPassword) && d.g.Password == (in.Password != 0) {
		d.drop(KeyPassword) // INFO has the same value
	}
}

func (d *decoder) readTags(t *table) {
	for list := d.keywords(t.split); list.next(); {
		tag := list.piece
		if f := t.byWord.find(tag); f != nil {
			f.read(d, nil, f.source)
			continue
		}
		for i := range t.prefixes {
			f := &t.prefixes[i]
			if f.name != "" && f.name[0] != tag[0] {
				continue
			}
			if hasPrefix(tag, f.name) {
				f.read(d, tag[len(f.name):], f.source)
				break
			}
		}
	}
}

// keywords returns INFO's keywords as a list. If the keywords fill their field and do not
// end with a separator, the last tag may be truncated (EC-40). The list then omits the last
// tag, and keywords adds a note.
func (d *decoder) keywords(separator byte) list {
	all := d.in.Info.Keywords
	if len(all) >= keywordsField && all[len(all)-1] != separator {
		d.g.Notes |= noteKeywordsCut
		all = all[:bytes.LastIndexByte(all, separator)+1]
	}
	return list{rest: all, separator: separator}
}

func (d *decoder) readRules(t *table) {
	for i := range t.series {
		d.parts[i].seen = 0
	}
	if len(t.rules) == 0 && len(t.series) == 0 {
		return
	}
	for i := range d.in.Rules {
		r := &d.in.Rules[i]
		if f := t.byRule.find(r.Name); f != nil {
			f.read(d, r.Value, f.source)
			continue
		}
		for i := range t.series {
			n, ok := t.series[i].number(r.Name)
			if !ok {
				continue
			}
			// If two parts have the same number, the first one is used.
			if p := &d.parts[i]; p.seen&(1<<n) == 0 {
				p.seen |= 1 << n
				p.text[n] = r.Value
			}
			break
		}
	}
}

// number returns the index, from 0, of the part of s whose rule has this name. It
// returns false if the rule is not part of s, or if the index is not below
// maxParts.
func (s *series) number(name []byte) (int, bool) {
	if !hasPrefix(name, s.prefix) || !hasSuffix(name[len(s.prefix):], s.suffix) {
		return 0, false
	}
	b := name[len(s.prefix) : len(name)-len(s.suffix)]
	if s.after != 0 {
		i := bytes.IndexByte(b, s.after)
		if i < 0 {
			return 0, false
		}
		b = b[:i]
	}
	n, ok := parseInt(b, int64(maxParts+s.first))
	if !ok || s.digits != 0 && len(b) != s.digits {
		return 0, false
	}
	at := int(n) - s.first
	return at, at >= 0 && at < maxParts
}

// join joins the parts of a series up to the first missing part, without empty
// parts at the end, and calls s.join with the result. If there is only one part, it is
// not copied.
func (d *decoder) join(s *series, p *parts) {
	if p.seen == 0 {
		return
	}
	n := 0
	for n < maxParts && p.seen&(1<<n) != 0 {
		n++
	}
	if n < maxParts && p.seen>>n != 0 {
		d.g.Notes |= notePartsMissing
	}
	for n > 1 && len(p.text[n-1]) == 0 {
		n--
	}
	switch n {
	case 0:
		return
	case 1:
		s.join(d, p.text[0], s.source)
	default:
		start := len(d.buf)
		for _, part := range p.text[:n] {
			d.buf = append(d.buf, part...)
		}
		s.join(d, d.since(start), s.source)
	}
}

// since returns the bytes of d.buf from the offset start to the end.
func (d *decoder) since(start int) []byte {
	return d.buf[start:len(d.buf):len(d.buf)]
}
