package game

import (
	"bytes"

	"github.com/a2sscan/a2sscan/wire"
)

// Our limits, whatever a reply says. A reply is at most 512 KiB.
const (
	maxCount      = 1 << 20 // players; the largest server known has 5000 places
	maxNumber     = 1 << 40 // other numbers, Unix times among them
	maxText       = 1 << 10 // bytes of a value
	maxLongText   = 8 << 10 // bytes of a description or a joined value
	maxMods       = 512     // mods; the binary pages of Arma 3 hold 255 at most
	maxParts      = 64      // rules that make up one text
	maxSeries     = 4       // texts in parts of one game
	keywordsField = 127     // bytes that Steam keeps of the keywords (EC-40)
)

// decoder holds what Decode works with. It belongs to a Game, which lends it
// its memory from one reply to the next.
type decoder struct {
	g   *Game
	in  Reply
	buf []byte // texts that are not in the reply as they are

	parts [maxSeries]parts
	pages pages
}

// parts are the pieces of a text that came in several rules.
type parts struct {
	seen uint64 // a bit for each piece that is there
	text [maxParts][]byte
}

// Decode reads what in means for its game into dst, which it resets first. A
// game that has no table leaves dst empty. There are no errors: what cannot be
// understood becomes one of dst.Notes.
func Decode(dst *Game, in Reply) {
	dst.reset()
	t := find(in.Info)
	if t == nil {
		return
	}
	dec := dst.dec
	if dec == nil {
		dec = new(decoder)
		dst.dec = dec
	}
	dst.ID, dst.Name = t.id, t.name
	dec.g, dec.in, dec.buf = dst, in, dec.buf[:0]
	dec.run(t)
	dec.in = Reply{}
}

// run reads the reply by table t. What is read first stays: an INFO field, then
// the keywords, then the rules in the server's order.
func (d *decoder) run(t *table) {
	if t.info != nil {
		t.info(d)
	}
	if t.tags.split != 0 {
		d.readTags(&t.tags)
	}
	d.readRules(t)
	for i := range t.series {
		d.join(&t.series[i], &d.parts[i])
	}
	if t.finish != nil {
		t.finish(d)
	}
	d.g.dropRepeated(d.in.Info)
}

// dropRepeated removes the password flag if it only repeats INFO's.
func (g *Game) dropRepeated(in *wire.Info) {
	if in.Has&wire.HasPassword != 0 && g.Has.Has(KeyPassword) && g.Password == (in.Password != 0) {
		g.Has &^= 1 << KeyPassword
		g.Password = false
		g.SetSource(KeyPassword, "")
	}
}

// readTags reads the keywords of INFO.
func (d *decoder) readTags(tg *tags) {
	for list := d.keywords(tg.split); list.next(); {
		tag := list.piece
		if f := tg.byName.find(tag); f != nil {
			f.read(d, nil, f.source)
			continue
		}
		if !tg.begins.mayBegin(tag) {
			continue
		}
		for i := range tg.prefixes {
			f := &tg.prefixes[i]
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

// keywords returns the keywords of INFO as a list. A last tag that the length
// of the field may have cut is left out (EC-40).
func (d *decoder) keywords(separator byte) list {
	all := d.in.Info.Keywords
	if len(all) >= keywordsField && all[len(all)-1] != separator {
		d.g.Notes |= NoteKeywordsCut
		all = all[:bytes.LastIndexByte(all, separator)+1]
	}
	return list{rest: all, separator: separator}
}

// readRules reads the rules that t knows, and keeps the parts of its series.
func (d *decoder) readRules(t *table) {
	for i := range t.series {
		d.parts[i].seen = 0
	}
	if len(t.rules) == 0 && len(t.series) == 0 {
		return
	}
	for i := range d.in.Rules {
		r := &d.in.Rules[i]
		if t.byName.rejects(r.Name) && !t.parts.mayBegin(r.Name) {
			continue
		}
		if f := t.byName.find(r.Name); f != nil {
			f.read(d, r.Value, f.source)
		} else {
			d.keepPart(t, r)
		}
	}
}

// keepPart keeps a rule that is a part of a series. If two have the same number, the
// first stays.
func (d *decoder) keepPart(t *table, r *wire.Rule) {
	for i := range t.series {
		s := &t.series[i]
		n, ok := s.number(r.Name)
		if !ok {
			continue
		}
		p := &d.parts[i]
		if p.seen&(1<<n) == 0 {
			p.seen |= 1 << n
			p.text[n] = r.Value
		}
		return
	}
}

// number returns which part of s a rule is, counted from 0.
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

// join joins the parts of a series up to the first that is missing, and passes the
// text on. A text of a single part is not copied.
func (d *decoder) join(s *series, p *parts) {
	if p.seen == 0 {
		return
	}
	n := 0
	for n < maxParts && p.seen&(1<<n) != 0 {
		n++
	}
	if n < maxParts && p.seen>>n != 0 {
		d.g.Notes |= NotePartsMissing
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

// since returns what was appended to the buffer since it was start bytes long.
func (d *decoder) since(start int) []byte {
	return d.buf[start:len(d.buf):len(d.buf)]
}
