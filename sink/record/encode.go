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

	scan    string
	names   table
	inexact bool   // the rules object does not hold all rules exactly
	dropped uint64 // parts that are left out because the record would be too long
	second  int64  // Unix time of clock
	clock   []byte // the last second as text

	master *jsontext.Decoder // of in, which reads copied
	in     bytes.Buffer
	copied []byte
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
	e.scan, e.dropped, e.inexact = scan, 0, false
	if rawLen(r.Raw) > MaxSize {
		e.dropped = 1 << rawKey
	}
	if len(r.Master) > MaxSize {
		e.dropped |= 1 << masterKey
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
	dst = e.members(append(dst, '{'), recordSteps, r)
	dst[len(dst)-1] = '}'
	return append(dst, '\n')
}

// dropLongest marks parts as dropped, the longest first, until a record that is too
// long by over bytes fits. Of several that are equally long it drops the last. It
// measures them in the unused memory of dst.
func (e *Encoder) dropLongest(over int, dst []byte, r *scanner.Result) {
	const note = 64 // longer than any note about a dropped part
	var size [maxKeys]int
	for i := range recordSteps {
		if s := &recordSteps[i]; s.part != 0 {
			size[s.part] += len(e.members(dst, recordSteps[i:i+1], r)) - len(dst)
		}
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

// A step is what the Encoder needs of a row of the table, close together in memory.
type step struct {
	key  string
	at   func(*result) any
	put  func(*Encoder, []byte, *result) []byte
	when func(*result) bool
	sub  []step // of an object
	row  *field

	info wire.Fields
	game game.Keys
	is   stepKind
	omit bool  // a zero value is absent
	part uint8 // index in schemaKeys of the key that it is dropped with, or 0
}

// A stepKind says how a value is written.
type stepKind uint8

const (
	stepPut stepKind = iota
	stepObject
	stepText
	stepString
	stepCode // two letters, in a string
	stepWord // in a string
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
	stepOther
)

// recordSteps are the steps of a whole record; gameSteps those of game and flags, and
// geoSteps that of geo.
var recordSteps, gameSteps, geoSteps []step

// The indices in schemaKeys of parts, and the notes about dropped parts.
var (
	rawKey, masterKey int
	droppedNotes      [maxKeys]string
)

// init derives from the table what the Encoder needs.
func init() {
	recordSteps = stepsOf(schemaKeys)
	for i := range schemaKeys {
		droppedNotes[i] = schemaKeys[i].name + ".dropped"
	}
	rawKey, masterKey = placeOf(schemaKeys, "raw", 0), placeOf(schemaKeys, "master", 0)
	for i := range recordSteps {
		s := &recordSteps[i]
		switch {
		case s.row.long:
			s.part = uint8(placeOf(schemaKeys, s.row.name, 0))
		case s.row.with != "":
			s.part = uint8(placeOf(schemaKeys, s.row.with, 0))
		}
		switch s.row.name {
		case "game":
			gameSteps = recordSteps[i : i+2]
		case "geo":
			geoSteps = recordSteps[i : i+1]
		}
	}
}

// stepsOf returns the steps of rows, except those that append nothing by themselves.
func stepsOf(rows []field) (steps []step) {
	sample := &result{Players: make([]wire.Player, 1), Game: &game.Game{Mods: make([]game.Mod, 1)}}
	for i := range rows {
		f := &rows[i]
		s := step{key: f.key, at: f.at, put: f.put, when: f.when, row: f, info: f.info, game: f.game}
		if f.has != nil {
			s.when = func(r *result) bool { return *f.has(r) }
		}
		s.omit = !f.always && f.info == 0 && f.game == 0 && s.when == nil
		switch {
		case f.put != nil:
			s.info, s.game, s.when = 0, 0, nil
		case f.is == ColumnObject && f.lists == 0:
			s.is, s.sub, s.omit = stepObject, stepsOf(f.fields), f.has == nil && f.info == 0
		case f.hex || f.at == nil:
			continue // its text or its address writes it, or merge
		default:
			s.is = kindOf(f, f.at(sample))
		}
		steps = append(steps, s)
	}
	return steps
}

// kindOf returns how a row writes the value that a pointer points to.
func kindOf(f *field, pointer any) stepKind {
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
	}
	return stepOther
}

// members appends keys with their values and commas. Of each it appends nothing if r
// does not have the value.
func (e *Encoder) members(dst []byte, steps []step, r *result) []byte {
	for i := range steps {
		s := &steps[i]
		switch {
		case s.info != 0 && r.Info.Has&s.info == 0, s.game != 0 && r.Game.Has&s.game == 0,
			e.dropped>>s.part&1 != 0, s.when != nil && !s.when(r):
			continue
		}
		switch s.is {
		case stepPut:
			dst = s.put(e, dst, r)
		case stepObject:
			start := len(dst)
			dst = append(append(dst, s.key...), '{')
			if dst = e.members(dst, s.sub, r); s.omit && dst[len(dst)-1] == '{' {
				dst = dst[:start]
				continue
			}
			dst = end(dst, '}')
		case stepText:
			if b := *s.at(r).(*[]byte); !s.omit || len(b) > 0 {
				dst = appendText(dst, s.key, b)
			}
		case stepString:
			if t := *s.at(r).(*string); !s.omit || t != "" {
				dst = appendText(dst, s.key, t)
			}
		case stepCode:
			if t := *s.at(r).(*string); isCode(t) {
				dst = appendWord(dst, s.key, t)
			}
		case stepWord:
			dst = appendWord(dst, s.key, *s.at(r).(*string))
		case stepBool8:
			dst = appendBool(dst, s.key, *s.at(r).(*uint8) != 0)
		case stepLetter:
			c := *s.at(r).(*uint8)
			dst = appendLetter(dst, s.key, c, s.row.letter(c))
		case stepUint8:
			dst = appendUint(dst, s.key, uint64(*s.at(r).(*uint8)))
		case stepUint16:
			dst = appendUint(dst, s.key, uint64(*s.at(r).(*uint16)))
		case stepUint32:
			if n := *s.at(r).(*uint32); !s.omit || n != 0 {
				dst = appendUint(dst, s.key, uint64(n))
			}
		case stepUint64:
			dst = appendUint(dst, s.key, *s.at(r).(*uint64))
		case stepInt: // the decoder of games keeps numbers within 32 bits
			dst = appendUint(dst, s.key, uint64(uint32(max(*s.at(r).(*int), 0))))
		case stepBool:
			dst = appendBool(dst, s.key, *s.at(r).(*bool))
		case stepID:
			dst = appendID(dst, s.key, *s.at(r).(*uint64))
		case stepHash:
			hash := s.at(r).(*uint64)
			dst = e.appendHash(dst, s.key, *hash, hash == &r.Hashes[wire.QuestionPlayers])
		case stepMillis:
			if d := *s.at(r).(*time.Duration); !s.omit || d > 0 {
				dst = appendMillis(dst, s.key, d)
			}
		default:
			dst = appendOther(dst, s.key, s.at(r), s.row)
		}
	}
	return dst
}

// appendOther appends what the table writes as a word, a list of words, or a time.
func appendOther(dst []byte, key string, value any, f *field) []byte {
	switch p := value.(type) {
	case *scanner.Status:
		if *p != 0 {
			return appendWord(dst, key, p.String())
		}
	case *wire.Error:
		if *p != 0 {
			return appendWord(dst, key, p.String())
		}
	case *wire.Format:
		if i := int(*p) - 1; i >= 0 && i < len(f.words) {
			return appendWord(dst, key, f.words[i])
		}
	case *scanner.Questions:
		return appendSet(dst, key, uint32(*p)&(1<<wire.NumQuestions-1), questionWord)
	case *wire.Fields:
		return appendSet(dst, key, uint32(*p)&(1<<len(fieldKeys)-1), fieldKey)
	case *game.Flags:
		return appendSet(dst, key, uint32(*p)&(1<<game.NumFlags-1), game.FlagWord)
	case *game.Notes:
		return appendSet(dst, key, uint32(*p)&(1<<game.NumNotes-1), game.NoteWord)
	case *int64: // RFC 3339 can't express a year outside 0 to 9999
		if t := time.Unix(*p, 0).UTC(); t.Year() >= 0 && t.Year() <= 9999 {
			dst = append(append(dst, key...), '"')
			dst = t.AppendFormat(dst, "2006-01-02T15:04:05Z")
			return append(dst, '"', ',')
		}
	}
	return dst
}

// appendSet appends a list with the word of each bit in set, or nothing if set is empty.
func appendSet(dst []byte, key string, set uint32, word func(int) string) []byte {
	if set == 0 {
		return dst
	}
	dst = append(append(dst, key...), '[')
	for ; set != 0; set &= set - 1 {
		dst = appendWord(dst, "", word(bits.TrailingZeros32(set)))
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
	for i := range wire.NumNotes {
		if r.Notes&(1<<i) != 0 {
			dst = appendWord(dst, "", wire.NoteWord(i))
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
