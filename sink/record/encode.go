package record

import (
	"bytes"
	"encoding/base64"
	"math/bits"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// MaxSize is the maximum length of a record in bytes, including its newline.
const MaxSize = 8 << 20

// Encoder appends records. The zero value is ready to use. An Encoder reuses its
// scratch memory: Append allocates only when dst or that memory has to grow. Only
// one goroutine at a time may use an Encoder.
type Encoder struct {
	// Names replaces the names of players by hashes, and makes the hash of their
	// list a keyed one; nil: names are written as they are.
	Names *NameHasher

	steps []step // of a record; they point into of and its Game
	of    *result
	game  *game.Game

	scan    string
	names   table
	inexact bool   // the rules object does not hold all rules exactly
	dropped uint64 // bits of parts that are left out because the record would be too long
	second  int64  // Unix time of clock
	clock   []byte // the last second as text

	master *jsontext.Decoder // of in, which reads copied
	in     bytes.Buffer
	copied []byte
	text   []byte
}

// Append appends the record of r to dst, like Encoder.Append. It allocates an Encoder,
// so a loop should own one.
func Append(dst []byte, scan string, r *scanner.Result) []byte {
	var e Encoder
	return e.Append(dst, scan, r)
}

// Append appends the record of r to dst: one line of JSON with its newline, at most
// MaxSize bytes. JSONSchema describes its keys. scan is the name of
// the scan; if it is empty, the record has no such key. The caller must keep it
// short: Append never drops it.
func (e *Encoder) Append(dst []byte, scan string, r *scanner.Result) []byte {
	start := len(dst)
	e.scan, e.inexact = scan, false
	e.point(r)
	if rawLen(r.Raw) > MaxSize {
		e.dropped |= partOf["raw"]
	}
	if len(r.Master) > MaxSize {
		e.dropped |= partOf["master"]
	}
	before := e.dropped
	dst = e.record(dst, r)
	if over := len(dst) - start - MaxSize; over > 0 {
		e.dropLongest(over, dst[:start], r)
	}
	if e.dropped != before {
		dst = e.record(dst[:start], r)
	}
	return dst
}

// record appends the record of r without the parts in e.dropped.
func (e *Encoder) record(dst []byte, r *scanner.Result) []byte {
	dst = e.members(append(dst, '{'), e.steps, r)
	dst[len(dst)-1] = '}'
	return append(dst, '\n')
}

// dropLongest marks parts as dropped, the longest first, until a record that is too
// long by over bytes fits. Of several that are equally long it drops the last. It
// measures them in the unused memory of dst.
func (e *Encoder) dropLongest(over int, dst []byte, r *scanner.Result) {
	const note = 64 // longer than any note about a dropped part
	var size [64]int
	for steps := e.steps; len(steps) > 0; {
		n := 1 + steps[0].skip
		if part := steps[0].need & allParts; part != 0 {
			size[bits.TrailingZeros64(part)] += len(e.members(dst, steps[:n], r)) - len(dst)
		}
		steps = steps[n:]
	}
	for over > 0 {
		longest := 0
		for p := range size {
			if size[p] >= size[longest] {
				longest = p
			}
		}
		if size[longest] <= note {
			return // the name of the scan is too long
		}
		e.dropped |= 1 << longest
		over -= size[longest] - note
		size[longest] = 0
	}
}

// A step appends one key with its value, or opens or closes an object. An Encoder derives
// its steps from the table for a Result, not for each record, so that what Append does
// for a key is little: it tests bits, and follows a pointer.
type step struct {
	key   string
	value any    // a pointer to the value
	need  uint64 // bits of what a Result can have: without them, nothing is appended
	row   *field
	skip  int // number of further steps that belong to this one
	kind  stepKind
	omit  omission
}

// An omission says whether a zero value is absent.
type omission uint8

const (
	omitZero    omission = 1 << iota
	omitUnknown          // in a record of a capture
)

// The bits of step.need: those of wire.Fields, those of game.Keys, and one for each part
// of a record that can be dropped.
const (
	needGame  = 24
	needParts = 44
	allParts  = 1<<64 - 1<<needParts
)

// The bits of the parts by their key, and the notes about dropped parts.
var (
	partOf       = map[string]uint64{}
	droppedNotes [64]string
)

func init() {
	bit := needParts
	for i := range schemaKeys {
		if f := &schemaKeys[i]; f.long {
			partOf[f.name], droppedNotes[bit] = 1<<bit, f.name+".dropped"
			bit++
		}
	}
}

// A stepKind says how a value is written.
type stepKind uint8

const (
	stepNone stepKind = iota
	stepPut
	stepWhen
	stepObject
	stepEnd
	stepText
	stepString
	stepCode  // two letters, in a string
	stepWord  // in a string
	stepIndex // of row.words
	stepBool8
	stepLetter
	stepUint8
	stepUint16
	stepUint32
	stepUint64
	stepInt
	stepBool
	stepID
	stepHash
	stepMillis
	stepSeconds
	stepSet
)

// point makes the steps append the values of r. A scan has one Result, so the steps last.
func (e *Encoder) point(r *result) {
	if r != e.of || r.Game != nil && r.Game != e.game {
		e.of, e.game = r, r.Game
		e.steps = stepsOf(e.steps[:0], schemaKeys, r)
	}
	e.dropped = 0
}

// stepsOf appends the steps of rows for a Result, except those that append nothing by
// themselves.
func stepsOf(steps []step, rows []field, r *result) []step {
	for i := range rows {
		f := &rows[i]
		s := step{key: f.key, row: f, need: uint64(f.info) | uint64(f.game)<<needGame}
		if f.long || f.with != "" {
			s.need |= partOf[f.name] | partOf[f.with]
		}
		switch {
		case f.put != nil:
			s.kind, s.need = stepPut, s.need&allParts
			steps = append(steps, s)
		case f.name == "game" && f.is == ColumnObject && r.Game == nil:
		case f.is == ColumnObject && f.lists == 0:
			s.kind = stepObject
			if f.has != nil {
				s.value = f.has(r)
			}
			start := len(steps)
			steps = stepsOf(append(steps, s), f.fields, r)
			steps[start].skip = len(steps) - start
			last := step{key: f.key, kind: stepEnd}
			if f.has == nil && f.info == 0 {
				last.omit = omitZero
			}
			steps = append(steps, last)
		case f.hex || f.at == nil: // its text or its address writes it, or merge
		case f.when != nil:
			steps = append(steps, step{row: f, kind: stepWhen, need: s.need, skip: 1})
			fallthrough
		default:
			s.value = f.at(r)
			s.kind = kindOf(f, s.value)
			switch {
			case f.known:
				s.omit = omitUnknown
			case !f.always && f.info == 0 && f.game == 0 && f.when == nil:
				s.omit = omitZero
			}
			if s.kind != stepNone {
				steps = append(steps, s)
			}
		}
	}
	return steps
}

// kindOf returns how a row writes the value that a pointer points to.
func kindOf(f *field, pointer any) stepKind {
	if f.lists > 0 {
		return stepSet
	}
	switch pointer.(type) {
	case *[]byte:
		return stepText
	case *string:
		switch {
		case f.pattern == twoLetters:
			return stepCode
		case f.is == typeWord:
			return stepWord
		}
		return stepString
	case *uint8:
		switch f.is {
		case ColumnBool:
			return stepBool8
		case typeWord:
			if f.words != nil {
				return stepIndex
			}
			return stepLetter
		}
		return stepUint8
	case *uint16:
		return stepUint16
	case *uint32:
		return stepUint32
	case *uint64:
		switch f.is {
		case ColumnID:
			return stepID
		case typeWord:
			return stepHash
		}
		return stepUint64
	case *int:
		return stepInt
	case *bool:
		return stepBool
	case *time.Duration:
		return stepMillis
	case *int64:
		return stepSeconds
	}
	return stepNone // the address, which another row writes
}

// members appends keys with their values and commas. Of each it appends nothing if r
// does not have the value.
func (e *Encoder) members(dst []byte, steps []step, r *result) []byte {
	have := uint64(r.Info.Has) | allParts&^e.dropped
	if r.Game != nil {
		have |= uint64(r.Game.Has) << needGame
	}
	omit := omitZero
	if isCapture(r) {
		omit |= omitUnknown
	}
	for i := 0; i < len(steps); i++ {
		s := &steps[i]
		if s.need&^have != 0 {
			i += s.skip
			continue
		}
		switch s.kind {
		case stepPut:
			dst = s.row.put(e, dst, r)
		case stepWhen:
			if !s.row.when(r) {
				i += s.skip
			}
		case stepObject:
			if has, ok := s.value.(*bool); ok && !*has || s.row.when != nil && !s.row.when(r) {
				i += s.skip
				continue
			}
			dst = append(append(dst, s.key...), '{')
		case stepEnd:
			if s.omit != 0 && dst[len(dst)-1] == '{' {
				dst = dst[:len(dst)-len(s.key)-1]
				continue
			}
			dst = end(dst, '}')
		case stepText:
			if b := *s.value.(*[]byte); s.omit&omit == 0 || len(b) > 0 {
				dst = appendText(dst, s.key, b)
			}
		case stepString:
			if t := *s.value.(*string); s.omit&omit == 0 || t != "" {
				dst = appendText(dst, s.key, t)
			}
		case stepCode:
			if t := *s.value.(*string); isCode(t) {
				dst = appendWord(dst, s.key, t)
			}
		case stepWord:
			dst = appendWord(dst, s.key, *s.value.(*string))
		case stepIndex:
			if i, words := *s.value.(*uint8), s.row.words; i != 0 && int(i) < len(words) {
				dst = appendWord(dst, s.key, words[i])
			}
		case stepBool8:
			dst = appendBool(dst, s.key, *s.value.(*uint8) != 0)
		case stepLetter:
			c := *s.value.(*uint8)
			dst = appendLetter(dst, s.key, c, s.row.letter(c))
		case stepUint8:
			dst = appendUint(dst, s.key, uint64(*s.value.(*uint8)))
		case stepUint16:
			dst = appendUint(dst, s.key, uint64(*s.value.(*uint16)))
		case stepUint32:
			if n := *s.value.(*uint32); s.omit&omit == 0 || n != 0 {
				dst = appendUint(dst, s.key, uint64(n))
			}
		case stepUint64:
			if n := *s.value.(*uint64); s.omit&omit == 0 || n != 0 {
				dst = appendUint(dst, s.key, n)
			}
		case stepInt: // the decoder of games keeps numbers within 32 bits
			dst = appendUint(dst, s.key, uint64(uint32(max(*s.value.(*int), 0))))
		case stepBool:
			dst = appendBool(dst, s.key, *s.value.(*bool))
		case stepID:
			dst = appendID(dst, s.key, *s.value.(*uint64))
		case stepHash:
			hash := s.value.(*uint64)
			dst = e.appendHash(dst, s.key, *hash, hash == &r.Hashes[wire.QuestionPlayers])
		case stepMillis:
			if d := *s.value.(*time.Duration); s.omit&omit == 0 || d > 0 {
				dst = appendMillis(dst, s.key, d)
			}
		case stepSet:
			dst = appendSet(dst, s.key, s.value, s.row.words)
		case stepSeconds: // RFC 3339 can't express a year outside 0 to 9999
			if t := time.Unix(*s.value.(*int64), 0).UTC(); t.Year() >= 0 && t.Year() <= 9999 {
				dst = append(append(dst, s.key...), '"')
				dst = append(t.AppendFormat(dst, "2006-01-02T15:04:05Z"), '"', ',')
			}
		}
	}
	return dst
}

// appendSet appends a list with the word of each bit of a set, or nothing if the set is
// empty.
func appendSet(dst []byte, key string, value any, words []string) []byte {
	var set uint64
	switch p := value.(type) {
	case *uint8:
		set = uint64(*p)
	case *uint16:
		set = uint64(*p)
	case *uint32:
		set = uint64(*p)
	case *uint64:
		set = *p
	}
	if set &= 1<<len(words) - 1; set == 0 {
		return dst
	}
	dst = append(append(dst, key...), '[')
	for ; set != 0; set &= set - 1 {
		dst = appendWord(dst, "", words[bits.TrailingZeros64(set)])
	}
	return end(dst, ']')
}

// appendHash appends the hash of an answer; 0 means that there is none. If names are
// hashed, that of the players is keyed.
func (e *Encoder) appendHash(dst []byte, key string, hash uint64, players bool) []byte {
	if hash == 0 {
		return dst
	}
	if players && e.Names != nil {
		hash = e.Names.List(hash)
	}
	dst = append(append(dst, key...), '"')
	return append(appendHash(dst, hash), '"', ',')
}

// isCapture reports whether a Result comes from a capture, which does not show what was
// sent: nothing was sent and it has a reply or no time.
func isCapture(r *result) bool { return r.Sent == 0 && (r.Received > 0 || r.Time.IsZero()) }

func (e *Encoder) putSchema(dst []byte, _ *result) []byte { return append(dst, `"schema":1,`...) }

func (e *Encoder) putScan(dst []byte, _ *result) []byte {
	if e.scan == "" {
		return dst
	}
	return appendText(dst, `"scan":`, e.scan)
}

func (e *Encoder) putAddress(dst []byte, r *result) []byte {
	if !r.Addr.IsValid() {
		return dst
	}
	return appendAddress(dst, r.Addr)
}

// putTime appends the time, truncated to milliseconds. RFC 3339 can't express a year
// outside 0 to 9999. Most records have the same second as the record before.
func (e *Encoder) putTime(dst []byte, r *result) []byte {
	if r.Time.IsZero() {
		return dst
	}
	if second := r.Time.Unix(); len(e.clock) == 0 || second != e.second {
		t := r.Time.UTC()
		if t.Year() < 0 || t.Year() > 9999 {
			return dst
		}
		e.second, e.clock = second, t.AppendFormat(e.clock[:0], "2006-01-02T15:04:05")
	}
	dst = append(append(dst, `"time":"`...), e.clock...)
	ms := uint64(r.Time.Nanosecond() / 1e6)
	return append(dst, '.', digit(ms/100), digit(ms/10), digit(ms), 'Z', '"', ',')
}

// putNotes appends the notes about the answers, then those about the parts that were
// dropped from this record.
func (e *Encoder) putNotes(dst []byte, r *result) []byte {
	if r.Notes == 0 && e.dropped == 0 {
		return dst
	}
	dst = append(dst, `"notes":[`...)
	for i, word := range noteWords {
		if r.Notes&(1<<i) != 0 {
			dst = appendWord(dst, "", word)
		}
	}
	for set := e.dropped; set != 0; set &= set - 1 {
		dst = appendWord(dst, "", droppedNotes[bits.TrailingZeros64(set)])
	}
	return end(dst, ']')
}

func (e *Encoder) putAppID(dst []byte, r *result) []byte {
	id, ok := r.Info.AppID()
	if !ok {
		return dst
	}
	return appendUint(dst, `"app_id":`, uint64(id))
}

// putRaw appends the datagrams in the order of their arrival.
func (e *Encoder) putRaw(dst []byte, r *result) []byte {
	if len(r.Raw) == 0 {
		return dst
	}
	dst = append(dst, `"raw":[`...)
	for _, datagram := range r.Raw {
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, datagram)
		dst = append(dst, '"', ',')
	}
	return end(dst, ']')
}

// rawLen returns about how many bytes putRaw appends.
func rawLen(raw [][]byte) (n int) {
	for _, datagram := range raw {
		n += base64.StdEncoding.EncodedLen(len(datagram)) + len(`"",`)
	}
	return n
}

// appendLetter appends the word for the letter c of the protocol, or c in hex if
// word is empty.
func appendLetter(dst []byte, key string, c byte, word string) []byte {
	if word != "" {
		return appendWord(dst, key, word)
	}
	dst = append(dst, key...)
	return append(dst, '"', '0', 'x', hexDigits[c>>4], hexDigits[c&15], '"', ',')
}

// isCode reports whether s is two capital letters, like the code of a country.
func isCode(s string) bool {
	return len(s) == 2 && 'A' <= min(s[0], s[1]) && max(s[0], s[1]) <= 'Z'
}
