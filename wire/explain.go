package wire

import (
	"bytes"
	"iter"
	"math/bits"
	"sort"
)

// Part is one field of a message or fragment, for showing the bytes to a person.
type Part struct {
	Name string // name of the field: one or two words
	Text bool   // whether the field is a string; its NUL belongs to the field
	At   int    // offset of the first byte of the field
	End  int    // offset of the first byte after the field
	Item int    // index of the player or rule, from 0, or -1 for other fields
	// Cut says that the message ends inside this field or before it. No part follows.
	Cut bool
}

// Bits for the fields of an INFO reply that have no bit of their own in Info.Has.
// reader.has and reader.cut use them like the other bits, so that Explain can name every
// field.
const (
	fieldShipMode Fields = (hasAll + 1) << iota
	fieldShipWitnesses
	fieldTVPort
	fieldIsMod
	fieldModURL
	fieldModDownload
	fieldModNUL
	fieldModVersion
	fieldModSize
	fieldModType
	fieldModBlock
	fieldNoModBlock
	fieldSpectators
	fieldSlots
)

// fieldNames has the names of the fields of an INFO reply, in the order of the fields'
// bits.
var fieldNames = [...]string{
	"protocol", "name", "map", "folder", "game", "app ID", "players", "max players", "bots",
	"server type", "environment", "password", "VAC", "ship: duration", "version", "extra data flag",
	"game port", "Steam ID", "SourceTV name", "keywords", "game ID", "address", "mod: DLL",

	"ship: mode", "ship: witnesses", "SourceTV port", "is mod",
	"mod: URL", "mod: download URL", "mod: NUL", "mod: version", "mod: size", "mod: type",
	"mod block", "no mod block", "spectators", "slots",
}

const textFields = HasName | HasMap | HasFolder | HasGame | HasVersion | HasSourceTV | HasKeywords |
	HasAddress | fieldModURL | fieldModDownload | fieldModNUL

// Explain splits a request or a reply into its header FF FF FF FF and the fields that the
// decoder for its kind reads. For a PLAYER reply, the second argument, ship, says whether
// the server runs The Ship. The parts follow each other without gaps and cover all of msg,
// whatever it contains. For an INFO, PLAYER or RULES reply, the last part has Cut set
// exactly if the decoder returns ErrTruncated or ErrEmpty.
func Explain(msg []byte, ship ShipHint) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		e := &explanation{b: msg, item: -1, yield: yield}
		for len(e.left()) > len(Body(msg)) && !e.ended {
			e.number("header", headerLen)
		}
		e.number("kind", 1)
		switch KindOf(msg) {
		case KindInfo:
			e.info((*Info).readSource)
		case KindGoldSource:
			e.info((*Info).readGoldSource)
		case KindPlayers:
			e.number("count", 1)
			e.players(ship)
		case KindRules:
			e.number("count", 2)
			for e.item = 0; len(e.left()) > 0 && !e.ended; e.item++ {
				e.text("name")
				e.text("value")
			}
		case KindChallenge:
			if !bytes.HasPrefix(e.left(), []byte(textChallenge)) {
				e.number("challenge", 4)
			}
		case KindPing, KindBanned, KindLimited, KindRedirect:
			_, err := DecodeText(msg)
			if b := e.left(); len(b) > 0 && (KindOf(msg) != KindRedirect || err == nil) {
				e.part("text", true, min(len(untilNUL(b))+1, len(b)), false) // this text need not end with a NUL
			}
		case KindInfoRequest:
			e.text("query")
			if len(e.left()) > 0 {
				e.number("challenge", 4)
			}
		case KindPlayersRequest, KindRulesRequest:
			e.number("challenge", 4)
		}
		e.item = -1
		e.rest("left over")
	}
}

// ExplainFragment returns the fields of a fragment whose reply has the layout l, as
// Fragment.Decode reads them. Its third argument, compressed, says whether the reply is
// compressed. With LayoutUnknown, the bytes after the ID are a single part. The parts
// cover all of the datagram.
func ExplainFragment(datagram []byte, l Layout, compressed bool) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		e := &explanation{b: datagram, item: -1, yield: yield}
		e.number("split header", headerLen)
		e.number("split ID", 4)
		switch l {
		case LayoutUnknown:
			e.rest("number, total and payload")
			return
		case LayoutGoldSource:
			e.number("number and total", 1)
		default:
			e.number("total", 1)
			e.number("number", 1)
		}
		if l == LayoutSource {
			e.number("payload size", 2)
		}
		if compressed && l != LayoutGoldSource && len(datagram) > splitNumberAt && datagram[splitNumberAt] == 0 {
			e.number("size unpacked", 4)
			e.number("CRC-32", 4)
		}
		e.rest("payload")
	}
}

// explanation steps through b and yields its parts.
type explanation struct {
	b     []byte
	at    int
	item  int
	yield func(Part) bool
	ended bool // b ends inside a field, or yield returned false
}

func (e *explanation) left() []byte { return e.b[e.at:] }

func (e *explanation) part(name string, text bool, n int, cut bool) {
	if !e.ended {
		p := Part{name, text, e.at, e.at + n, e.item, cut}
		e.at = p.End
		e.ended = !e.yield(p) || cut
	}
}

func (e *explanation) number(name string, n int) {
	left := len(e.left())
	e.part(name, false, min(n, left), left < n)
}

func (e *explanation) text(name string) {
	n := indexNUL(e.left()) + 1
	cut := n == 0
	if cut {
		n = len(e.left())
	}
	e.part(name, true, n, cut)
}

func (e *explanation) rest(name string) {
	if n := len(e.left()); n > 0 {
		e.part(name, false, n, false)
	}
}

// info yields the fields of an INFO reply after its type byte. Its argument, read, is the
// function that decodes them. To find where a field ends, info calls read with prefixes of
// the message. If a prefix ends inside a field, the byte after the prefix belongs to this
// field.
func (e *explanation) info(read func(*Info, *reader)) {
	b := e.left()
	cut := func(n int) (Fields, int) {
		r := reader{b: b[:n], hidden: len(b) - n}
		read(new(Info), &r)
		return r.cut, n - r.tail
	}
	for base := e.at; !e.ended; {
		n := e.at - base
		f, start := cut(n)
		if f == 0 {
			return
		}
		more := sort.Search(len(b)-n, func(i int) bool {
			next, at := cut(n + 1 + i)
			return next != f || at != start
		})
		name := fieldNames[bits.TrailingZeros64(uint64(f))]
		e.part(name, f&textFields != 0, min(n+1+more, len(b))-n, n+more == len(b))
	}
}

// players yields the fields of a PLAYER reply after its count: those of the complete
// players, those of an incomplete player at the end, and deaths and money.
func (e *explanation) players(ship ShipHint) {
	var ps Players
	_ = ps.Reset(e.b, ship) // Reset fails only if there is no count; then no players follow
	record := func() {
		e.number("index", 1)
		e.text("name")
		e.number("score", 4)
		e.number("duration", 4)
	}
	for e.item = 0; ps.Next(); e.item++ {
		record()
	}
	if len(ps.rest) > 0 && ps.err != 0 {
		record()
	}
	for e.item = 0; len(ps.extra) > 0 && e.item < ps.count; e.item++ {
		e.number("deaths", 4)
		e.number("money", 4)
	}
}
