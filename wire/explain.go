package wire

import (
	"iter"
	"math/bits"
	"sort"
)

// Part is one field of a message or fragment, for showing the bytes to a person.
type Part struct {
	Name string // of the field: one or two words for a person to read
	Text bool   // the bytes are a string, with its NUL if there is one
	At   int    // offset of its first byte
	End  int    // offset after its last byte
	Item int    // in a list: index of the player or rule, from 0; else -1
	Cut  bool   // the message ends inside the field, or before it: this is the last part
}

// The fields that have no presence bit in Info.Has. Readers take these bits as they
// take the presence bits, so that Explain can name what they read.
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
	fieldHeader
	fieldKind
	fieldQuery
	fieldChallenge
	fieldText
	fieldCount
	fieldIndex
	fieldPlayer
	fieldScore
	fieldDuration
	fieldDeaths
	fieldMoney
	fieldRule
	fieldValue
	fieldSplitHeader
	fieldSplitID
	fieldNibbles
	fieldTotal
	fieldNumber
	fieldSize
	fieldUnpacked
	fieldCRC
	fieldPayload
	fieldRest
	fieldLeftOver
)

// fieldNames has the name of each field, in the order of their bits.
var fieldNames = [...]string{
	"protocol", "name", "map", "folder", "game", "app ID", "players", "max players", "bots",
	"server type", "environment", "password", "VAC", "ship: duration", "version", "extra data flag",
	"game port", "Steam ID", "SourceTV name", "keywords", "game ID", "address", "mod: DLL",

	"ship: mode", "ship: witnesses", "SourceTV port", "is mod",
	"mod: URL", "mod: download URL", "mod: NUL", "mod: version", "mod: size", "mod: type",
	"mod block", "no mod block", "spectators", "slots",
	"header", "kind", "query", "challenge", "text", "count",
	"index", "name", "score", "duration", "deaths", "money", "name", "value",
	"split header", "split ID", "number and total", "total", "number", "payload size",
	"size unpacked", "CRC-32", "payload", "number, total and payload", "left over",
}

// texts are the fields that are strings.
const texts = HasName | HasMap | HasFolder | HasGame | HasVersion | HasSourceTV | HasKeywords | HasAddress |
	fieldModURL | fieldModDownload | fieldModNUL | fieldQuery | fieldText | fieldPlayer | fieldRule | fieldValue

// explanation steps through b and yields its parts.
type explanation struct {
	b     []byte
	at    int
	item  int
	yield func(Part) bool
	ended bool // b ends inside a field, or yield returned false
}

// explain returns the parts that read yields and, if bytes are left over, one last
// part that holds them.
func explain(b []byte, read func(*explanation)) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		e := &explanation{b: b, item: -1, yield: yield}
		read(e)
		e.item = -1
		e.rest(fieldLeftOver)
	}
}

// fields yields the fields that read takes off the front of the bytes up to end. The
// field inside which a reader of the first n bytes ends is the field of byte n.
func (e *explanation) fields(end int, read func(*reader)) {
	b := e.b[e.at:end]
	cut := func(n int) (Fields, int) {
		r := reader{b: b[:n], hidden: len(b) - n}
		read(&r)
		return r.cut, n - r.tail
	}
	base := e.at
	for n := 0; !e.ended; n = e.at - base {
		f, start := cut(n)
		if f == 0 {
			return
		}
		more := sort.Search(len(b)-n, func(i int) bool {
			next, at := cut(n + 1 + i)
			return next != f || at != start
		})
		e.part(f, min(n+1+more, len(b))-n, n+more == len(b))
	}
}

// part yields the next n bytes as the field f.
func (e *explanation) part(f Fields, n int, cut bool) {
	p := Part{fieldNames[bits.TrailingZeros64(uint64(f))], f&texts != 0, e.at, e.at + n, e.item, cut}
	e.at = p.End
	e.ended = !e.yield(p) || cut
}

// rest yields the bytes that are left as one part, if there are any.
func (e *explanation) rest(f Fields) {
	if n := len(e.b) - e.at; n > 0 && !e.ended {
		e.part(f, n, false)
	}
}

// Explain returns the fields of a request or a reply, including the header FF FF FF
// FF, as the decoder of the message's kind reads them. For a PLAYER reply, ship says
// whether the server runs The Ship. The parts follow each other without gaps and
// cover all of msg, whatever it contains. The last is Cut exactly if that decoder
// returns ErrTruncated or ErrEmpty.
func Explain(msg []byte, ship ShipHint) iter.Seq[Part] {
	return explain(msg, func(e *explanation) {
		for len(msg)-e.at > len(Body(msg)) && !e.ended {
			e.part(fieldHeader, headerLen, false)
		}
		kind := KindOf(msg)
		e.fields(len(msg), func(r *reader) {
			var in Info
			r.skip(1, fieldKind)
			switch kind {
			case KindInfo:
				in.readSource(r)
			case KindGoldSource:
				in.readGoldSource(r)
			case KindPlayers:
				r.skip(1, fieldCount)
			case KindRules:
				r.skip(2, fieldCount)
			case KindChallenge:
				if len(r.left()) <= 4 { // EC-19
					r.skip(4, fieldChallenge)
				}
			case KindPing, KindBanned, KindLimited: // the text need not end with a NUL
				if b := r.left(); len(b) > 0 {
					r.skip(min(len(untilNUL(b))+1, len(b)), fieldText)
				}
			case KindInfoRequest:
				r.text(new([]byte), fieldQuery)
				if len(r.left()) > 0 {
					r.skip(4, fieldChallenge)
				}
			case KindPlayersRequest, KindRulesRequest:
				r.skip(4, fieldChallenge)
			}
		})
		switch kind {
		case KindPlayers:
			e.players(ship)
		case KindRules:
			e.rules()
		}
	})
}

// players yields the fields of a PLAYER reply after its count: the records that
// Players reads, an incomplete record, and deaths and money.
func (e *explanation) players(ship ShipHint) {
	var ps Players
	_ = ps.Reset(e.b, ship) // without a count, e has ended
	extra := ps.extra
	end := len(e.b) - len(extra)
	read := func(r *reader) {
		r.skip(1, fieldIndex)
		r.text(new([]byte), fieldPlayer)
		r.skip(4, fieldScore)
		r.skip(4, fieldDuration)
	}
	for e.item = 0; ps.Next(); e.item++ {
		e.fields(end-len(ps.rest), read)
	}
	if len(ps.rest) > 0 && ps.err != 0 {
		e.fields(end, read)
	}
	for e.item = 0; len(extra) > 0 && e.item < ps.count; e.item++ {
		e.fields(min(e.at+shipExtra, len(e.b)), func(r *reader) {
			r.skip(4, fieldDeaths)
			r.skip(4, fieldMoney)
		})
	}
}

// rules yields the fields of a RULES reply after its count: the rules, and an
// incomplete rule at the end.
func (e *explanation) rules() {
	for e.item = 0; e.at < len(e.b) && !e.ended; e.item++ {
		end := len(e.b)
		if _, second := indexTwoNULs(e.b[e.at:]); second >= 0 {
			end = e.at + second + 1
		}
		e.fields(end, func(r *reader) {
			r.text(new([]byte), fieldRule)
			r.text(new([]byte), fieldValue)
		})
	}
}

// ExplainFragment returns the fields of a fragment whose reply has the layout l, as
// Fragment.Decode reads them; compressed says whether the reply is compressed. With
// LayoutUnknown, the bytes after the ID are a single part. The parts cover all of
// the datagram.
func ExplainFragment(datagram []byte, l Layout, compressed bool) iter.Seq[Part] {
	return explain(datagram, func(e *explanation) {
		e.fields(len(datagram), func(r *reader) {
			r.skip(headerLen, fieldSplitHeader)
			r.skip(4, fieldSplitID)
			number := uint8(1)
			switch l {
			case LayoutUnknown:
				return
			case LayoutGoldSource:
				r.skip(1, fieldNibbles)
			default:
				r.skip(1, fieldTotal)
				r.u8(&number, fieldNumber)
			}
			if l == LayoutSource {
				r.skip(2, fieldSize)
			}
			if compressed && number == 0 {
				r.skip(4, fieldUnpacked)
				r.skip(4, fieldCRC)
			}
		})
		if l == LayoutUnknown {
			e.rest(fieldRest)
		} else {
			e.rest(fieldPayload)
		}
	})
}
