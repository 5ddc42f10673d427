package wire

import (
	"encoding/binary"
	"iter"
)

// Part is one field of a message or fragment: the position and form of its bytes.
// Parts are for showing bytes to a person; programs should decode the values
// instead.
type Part struct {
	Name string // of the field: one or two words for a person to read
	Form Form   // of its bytes
	At   int    // offset of its first byte
	End  int    // offset after its last byte
	Item int    // in a list: index of the player or rule, from 0; else -1
	Cut  bool   // the message ends inside the field, or before it: this is the last part
}

// Form is the form of the bytes of a Part.
type Form uint8

// The forms. Numbers are little-endian; the length of the part is their size.
const (
	FormBytes     Form = iota // bytes without a known meaning
	FormHeader                // FF FF FF FF or FE FF FF FF
	FormKind                  // a type byte
	FormText                  // a string, with its NUL if there is one
	FormUint                  // unsigned number
	FormInt                   // signed number
	FormHex                   // number to be shown in hexadecimal: an ID, a checksum
	FormFloat                 // float32: seconds
	FormLetter                // a letter that abbreviates a word
	FormBool                  // 0 or 1
	FormFlags                 // the extra data flag
	FormNibbles               // number in the high four bits, total in the low four
	FormChallenge             // a challenge
)

// field is the name, the form and the size of a Part whose offset is not known yet.
// size is in bytes; 0 means a string.
type field struct {
	name string
	form Form
	size int
}

// The fields of the replies, in the order of the package documentation. The
// protocol defines them; they must not be changed.
var (
	sourceTexts = []field{
		{"protocol", FormUint, 1}, {"name", FormText, 0}, {"map", FormText, 0},
		{"folder", FormText, 0}, {"game", FormText, 0},
	}
	sourceNumbers = []field{
		{"players", FormUint, 1}, {"max players", FormUint, 1}, {"bots", FormUint, 1},
		{"server type", FormLetter, 1}, {"environment", FormLetter, 1},
		{"password", FormBool, 1}, {"VAC", FormBool, 1},
	}
	shipFields = []field{
		{"ship: mode", FormUint, 1}, {"ship: witnesses", FormUint, 1}, {"ship: duration", FormUint, 1},
	}
	extraFields = []struct {
		bit    uint8
		fields []field
	}{
		{edfGamePort, []field{{"game port", FormUint, 2}}},
		{edfSteamID, []field{{"Steam ID", FormUint, 8}}},
		{edfSourceTV, []field{{"SourceTV port", FormUint, 2}, {"SourceTV name", FormText, 0}}},
		{edfKeywords, []field{{"keywords", FormText, 0}}},
		{edfGameID, []field{{"game ID", FormUint, 8}}},
	}
	goldSourceFields = []field{
		{"address", FormText, 0}, {"name", FormText, 0}, {"map", FormText, 0},
		{"folder", FormText, 0}, {"game", FormText, 0},
		{"players", FormUint, 1}, {"max players", FormUint, 1}, {"protocol", FormUint, 1},
		{"server type", FormLetter, 1}, {"environment", FormLetter, 1}, {"password", FormBool, 1},
	}
	modFields = []field{
		{"mod: URL", FormText, 0}, {"mod: download URL", FormText, 0}, {"mod: NUL", FormText, 0},
		{"mod: version", FormUint, 4}, {"mod: size", FormUint, 4},
		{"mod: type", FormUint, 1}, {"mod: DLL", FormUint, 1},
	}
	playerFields = []field{
		{"index", FormUint, 1}, {"name", FormText, 0}, {"score", FormInt, 4}, {"duration", FormFloat, 4},
	}
	shipPlayerFields = []field{{"deaths", FormInt, 4}, {"money", FormInt, 4}}
	ruleFields       = []field{{"name", FormText, 0}, {"value", FormText, 0}}
)

// afterServerType is the distance in bytes from the server type to the end of
// goldSourceFields.
const afterServerType = 3

// MessageParts returns the fields of a request or a reply, including the header FF
// FF FF FF. For a PLAYER reply, ship says whether the server runs The Ship. The
// parts follow each other without gaps and cover all of msg, whatever it contains.
// They are the fields that the decoder for the message's kind reads; the last is
// Cut exactly if that decoder returns ErrTruncated or ErrEmpty.
func MessageParts(msg []byte, ship ShipHint) iter.Seq[Part] {
	return walk(msg, func(w *walker) {
		for range (len(msg) - len(Body(msg))) / headerLen {
			w.take("header", FormHeader, headerLen)
		}
		if k := w.take("kind", FormKind, 1); k != nil {
			w.message(Kind(k[0]), ship)
		}
	})
}

// FragmentParts returns the fields of a fragment whose reply has the layout l, as
// Fragment.Decode reads them; compressed says whether the reply is compressed. With
// LayoutUnknown, the bytes after the ID are a single part. The parts cover all of
// the datagram.
func FragmentParts(datagram []byte, l Layout, compressed bool) iter.Seq[Part] {
	return walk(datagram, func(w *walker) {
		w.take("split header", FormHeader, headerLen)
		w.take("split ID", FormHex, 4)
		w.layout(l, compressed)
		if l == LayoutUnknown {
			w.rest("number, total and payload")
		} else {
			w.rest("payload")
		}
	})
}

// walker steps through b and yields its parts.
type walker struct {
	b     []byte
	at    int
	item  int
	yield func(Part) bool
	ended bool // b ends inside a field, or yield returned false
}

// walk returns the parts that take yields and, if bytes are left over, one last
// part that holds them.
func walk(b []byte, take func(*walker)) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		w := &walker{b: b, item: -1, yield: yield}
		take(w)
		w.item = -1
		w.rest("left over")
	}
}

// part yields the next n bytes as one part.
func (w *walker) part(name string, f Form, n int, cut bool) {
	p := Part{name, f, w.at, w.at + n, w.item, cut}
	w.at = p.End
	w.ended = !w.yield(p) || cut
}

// take yields a field of n bytes and returns these bytes. If fewer bytes are left,
// it yields them as the last part, marked as cut, and returns nil. It yields
// nothing once w.ended is set.
func (w *walker) take(name string, f Form, n int) []byte {
	left := w.b[w.at:]
	switch {
	case w.ended:
		return nil
	case len(left) < n:
		w.part(name, f, len(left), true)
		return nil
	}
	w.part(name, f, n, false)
	return left[:n]
}

// text yields a string with its NUL. If there is no NUL, it yields the remaining
// bytes as the last part, marked as cut.
func (w *walker) text(name string) {
	if w.ended {
		return
	}
	left := w.b[w.at:]
	if i := indexNUL(left); i >= 0 {
		w.part(name, FormText, i+1, false)
	} else {
		w.part(name, FormText, len(left), true)
	}
}

// rest yields all remaining bytes as one part, if there are any.
func (w *walker) rest(name string) {
	if n := len(w.b) - w.at; n > 0 && !w.ended {
		w.part(name, FormBytes, n, false)
	}
}

func (w *walker) fields(fs []field) {
	for _, f := range fs {
		if f.size == 0 {
			w.text(f.name)
		} else {
			w.take(f.name, f.form, f.size)
		}
	}
}

// message yields the fields after the type byte k.
func (w *walker) message(k Kind, ship ShipHint) {
	switch k {
	case KindInfo:
		w.source()
	case KindGoldSource:
		w.goldSource()
	case KindPlayers:
		w.players(ship)
	case KindRules:
		w.rules()
	case KindChallenge:
		if len(w.b)-w.at <= 4 { // EC-19
			w.take("challenge", FormChallenge, 4)
		}
	case KindPing, KindBanned, KindLimited:
		w.freeText("text")
	case KindInfoRequest:
		w.text("query")
		if len(w.b) > w.at {
			w.take("challenge", FormChallenge, 4)
		}
	case KindPlayersRequest, KindRulesRequest:
		w.take("challenge", FormChallenge, 4)
	}
}

// freeText yields a string that need not end with a NUL.
func (w *walker) freeText(name string) {
	left := w.b[w.at:]
	if n := min(len(untilNUL(left))+1, len(left)); n > 0 && !w.ended {
		w.part(name, FormText, n, false)
	}
}

func (w *walker) source() {
	w.fields(sourceTexts)
	app := w.take("app ID", FormUint, 2)
	w.fields(sourceNumbers)
	if app != nil && IsShip(uint32(binary.LittleEndian.Uint16(app))) {
		w.fields(shipFields)
	}
	w.text("version")
	if w.at == len(w.b) {
		return
	}
	edf := w.take("extra data flag", FormFlags, 1)
	for _, e := range extraFields {
		if edf != nil && edf[0]&e.bit != 0 {
			w.fields(e.fields)
		}
	}
}

func (w *walker) goldSource() {
	w.fields(goldSourceFields)
	relay := !w.ended && isRelay(w.b[w.at-afterServerType])
	if mod := w.take("is mod", FormBool, 1); mod != nil && mod[0] != 0 {
		w.mod()
	}
	w.take("VAC", FormBool, 1)
	if !relay || w.at < len(w.b) { // HLTV sends no bots (EC-33)
		w.take("bots", FormUint, 1)
	}
}

// mod yields the mod block or the byte in its place, if there is one (EC-67). If
// fewer than two bytes remain for VAC and bots, or VAC would be neither 0 nor 1,
// the message ends inside the block (EC-137).
func (w *walker) mod() {
	if len(w.b)-w.at > 3 {
		w.fields(modFields)
		return
	}
	if len(w.b)-w.at == 3 {
		w.take("no mod block", FormBytes, 1)
	}
	if left := w.b[w.at:]; !w.ended && (len(left) < 2 || left[0] > 1) {
		w.part("mod block", FormBytes, len(left), true)
	}
}

// players yields the count, the records that Players reads, an incomplete record,
// and deaths and money. It leaves bytes without a meaning to walk.
func (w *walker) players(ship ShipHint) {
	if w.take("count", FormUint, 1) == nil {
		return
	}
	var ps Players
	if ps.Reset(w.b, ship) != nil {
		return
	}
	all := w.b
	w.b = all[:len(all)-len(ps.extra)]
	for w.item = 0; ps.Next(); w.item++ {
		w.fields(playerFields)
	}
	if len(ps.rest) > 0 && ps.err != 0 {
		w.fields(playerFields)
	}
	w.b = all
	for w.item = 0; len(ps.extra) > 0 && w.item < ps.count; w.item++ {
		w.fields(shipPlayerFields)
	}
}

// rules yields the count, the rules that Rules reads, and an incomplete rule at the
// end.
func (w *walker) rules() {
	w.take("count", FormUint, 2)
	for w.item = 0; w.at < len(w.b) && !w.ended; w.item++ {
		w.fields(ruleFields)
	}
}

// layout yields the fields of a fragment's header after the ID.
func (w *walker) layout(l Layout, compressed bool) {
	first := false
	switch l {
	case LayoutUnknown:
		return
	case LayoutGoldSource:
		w.take("number and total", FormNibbles, 1)
	default:
		w.take("total", FormUint, 1)
		n := w.take("number", FormUint, 1)
		first = n != nil && n[0] == 0
	}
	if l == LayoutSource {
		w.take("payload size", FormUint, 2)
	}
	if compressed && first {
		w.take("size unpacked", FormUint, 4)
		w.take("CRC-32", FormHex, 4)
	}
}
