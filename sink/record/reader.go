package record

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Record is a record that a Reader has read: a Result, and the name of the scan.
//
// A record does not hold every detail of a Result. So the Reader chooses lower case for
// the letters of the protocol, 1 for true (2 if the notes have info.odd_boolean), NaN for
// a duration that is null, the digits of name_hash as the name of a player, and ShortAppID
// for an application ID that fits in 16 bits. Texts are exact: a key KEY_hex takes
// precedence over KEY.
type Record struct {
	Scan string
	scanner.Result

	line   []byte
	seen   uint64 // set of the keys that the record has: a bit for each row of schemaKeys
	places []place
	values [maxKeys]jsontext.Value
	geo    *Encoder // encodes the key "geo" for Locate
}

// A place is the range of bytes in the line that holds the comma before a key, the key and
// its value. place.key is the index of the key in schemaKeys, or -1 for an unknown key.
type place struct{ key, from, to int }

// maxKeys is the number of bits in a set of keys. schemaKeys has fewer rows.
const maxKeys = 64

// Has reports whether the record has a key, such as "addr" or "players". It is false
// for keys that the Reader did not reach.
func (rec *Record) Has(key string) bool {
	i := placeOf(schemaKeys, key, 0)
	return i >= 0 && rec.seen&(1<<i) != 0
}

// Value returns the value of a key as it is written in the line. It returns nil if
// the record lacks the key, or if Reader.Keep was not called for it.
func (rec *Record) Value(key string) jsontext.Value {
	if i := placeOf(schemaKeys, key, 0); i >= 0 {
		return rec.values[i]
	}
	return nil
}

// Reader reads records. It decodes the keys that its caller needs, skips other keys,
// and stops reading a line when it has all needed keys. A Reader serves one goroutine.
type Reader struct {
	decode, keep uint64 // sets of keys: a bit for each row of schemaKeys
	// wanted is the set of keys that the caller named. A Reader waits for these, but not
	// for KEY_hex if the caller named only KEY: it is rare, and comes right after KEY.
	wanted uint64
	strict bool
	keys   []field            // the table; its rows point to the values of rec, game, player and mod
	until  *field             // the list of which only some elements are decoded; nil if there is none
	enough func(*Record) bool // reports whether the elements read so far suffice

	c      cursor
	rec    Record
	game   game.Game
	player wire.Player // the element of the list that is being read
	mod    game.Mod
	path   []string    // after an error: the keys that lead to the faulty value, innermost first
	text   []byte      // decoded texts of the record
	exact  []wire.Rule // the rules of the key rules_raw
	pair   [][]byte
	from   []game.Attribute  // attributes of which only Name and Source are set
	named  map[string]int    // the index of each attribute in game.Attributes, by name
	words  map[string]string // short texts of earlier records
}

// NewReader returns a Reader that decodes the given keys, such as "addr" (which
// stands for ip, port and addr), "info", or "game.players" if the other keys of game are
// not needed. A longer path, such as "players.0.name", stands for its first two keys. If no
// keys are given, the Reader decodes all. NewReader panics if a key does not exist.
func NewReader(keys ...string) *Reader {
	r := &Reader{named: map[string]int{}, words: map[string]string{}}
	r.keys = newTable(&r.rec.Scan, &r.rec.Result, &r.game, &r.player, &r.mod)
	if len(keys) == 0 {
		r.decode = 1<<len(schemaKeys) - 1
		r.wanted = r.decode
	}
	for _, key := range keys {
		outer, path, _ := strings.Cut(key, ".")
		r.decode |= r.want(outer)
		f := &r.keys[placeOf(schemaKeys, outer, 0)]
		inner, rest, _ := strings.Cut(path, ".")
		if f.lists > 0 && placeOf(f.fields, inner, 0) < 0 { // inner is the index of an element
			inner, _, _ = strings.Cut(rest, ".")
		}
		if inner == "" || f.is != typeObject || f.lists > 0 && placeOf(f.fields, inner, 0) < 0 {
			f.chosen = ^uint64(0)
		} else {
			f.chosen |= setOf(f.fields, inner)
		}
	}
	return r
}

// Keep makes Record.Value return the values of keys as they are written. The Reader
// checks that these values are JSON. Keep returns the Reader.
func (r *Reader) Keep(keys ...string) *Reader {
	for _, key := range keys {
		r.keep |= r.want(key)
	}
	return r
}

// want adds a key to r.wanted, and returns setOf(schemaKeys, key).
func (r *Reader) want(key string) uint64 {
	set := setOf(schemaKeys, key)
	if i := placeOf(schemaKeys, key, 0); schemaKeys[i].is == typeText {
		r.wanted |= set &^ (2 << i)
	} else {
		r.wanted |= set
	}
	return set
}

// Until lets the Reader skip the rest of a list, such as "players": after each element
// that it has decoded, it calls enough(rec), and skips the rest if the result is true.
// Until returns the Reader.
func (r *Reader) Until(key string, enough func(*Record) bool) *Reader {
	r.until, r.enough = &r.keys[placeOf(schemaKeys, key, 0)], enough
	return r
}

// Strict makes the Reader decode all keys and compare each complete record with the schema,
// including words, patterns, and missing or repeated keys. It undoes Keep and Until, and
// returns the Reader.
func (r *Reader) Strict() *Reader {
	r.strict, r.decode, r.keep, r.until = true, 1<<len(schemaKeys)-1, 0, nil
	compile(r.keys)
	return r
}

func compile(fields []field) {
	for i := range fields {
		f := &fields[i]
		if pattern := f.pattern + types[f.is].pattern; pattern != "" { // at most one of the two is set
			f.match = regexp.MustCompile(pattern)
		}
		compile(f.fields)
	}
}

// setOf returns the set of a key and its KEY_hex. "addr" stands for ip and port too.
func setOf(fields []field, key string) (set uint64) {
	i := placeOf(fields, key, 0)
	if i < 0 {
		panic("record: no key " + key)
	}
	if set = 1 << i; fields[i].is == typeText {
		set |= 2 << i
	}
	if key == "addr" {
		set |= setOf(fields, "ip") | setOf(fields, "port")
	}
	return set
}

// Read reads a record from line. JSON may be written in any way: spaces, order of the
// keys, escapes, a byte order mark at the beginning. Unknown keys are ignored.
//
// The Record, and all that it refers to, belongs to the Reader and is valid until the
// next call; its byte slices may alias line. The error describes the fault of
// the line and names the key. For a record of another schema, the error is a SchemaError.
// If the key "schema" is missing, as in the output of "a2sscan cat --fields", Read returns
// the Record and an error.
//
// The Reader checks only the part of a line that it reads. If it skips a value, it looks only
// for the end of the value. So a Reader with few keys accepts a line that is damaged
// elsewhere; a strict Reader does not. No Reader accepts two records on one line.
func (r *Reader) Read(line []byte) (*Record, error) {
	line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	r.c, r.path = cursor{b: line, strict: r.strict}, r.path[:0]
	if err := r.read(); err != nil {
		return nil, r.explain(err)
	}
	if r.rec.seen&1 == 0 {
		var lacks []string
		for _, key := range []string{"schema", "ip", "port", "status"} {
			if !r.rec.Has(key) {
				lacks = append(lacks, key)
			}
		}
		return &r.rec, fmt.Errorf("is not a complete record: it lacks %s", strings.Join(lacks, ", "))
	}
	return &r.rec, nil
}

// explain turns err, which r.read returned, into the error for the caller. It first looks
// for invalid JSON: in the part of the line that was read or, if err is errSyntax, in the
// whole line. If it finds some, explain returns an error that describes the invalid JSON.
// Otherwise it adds the path of the key to err, but a SchemaError stays as it is.
func (r *Reader) explain(err error) error {
	end := r.c.at
	if err == errSyntax {
		end = len(r.c.b) + 1
	}
	syntax := jsontext.NewDecoder(bytes.NewBuffer(r.c.b), jsontext.AllowDuplicateNames(true)).SkipValue()
	bad, ok := errors.AsType[*jsontext.SyntacticError](syntax)
	if beyond := ok && bad.ByteOffset >= int64(end); syntax != nil && !beyond {
		return fmt.Errorf("is not JSON: %s", strings.TrimPrefix(syntax.Error(), "jsontext: "))
	}
	if schema := SchemaError(""); errors.As(err, &schema) || len(r.path) == 0 {
		return err
	}
	slices.Reverse(r.path)
	return fmt.Errorf("%s: %w", strings.Join(r.path, "."), err)
}

func (r *Reader) read() (err error) {
	rec := &r.rec
	*rec = Record{Result: scanner.Result{
		PlayersAnnounced: -1, RulesAnnounced: -1,
		Players: rec.Players[:0], Rules: rec.Rules[:0], Raw: rec.Raw[:0],
	}, line: r.c.b, places: rec.places[:0], geo: rec.geo}
	r.text, r.exact, r.from, r.pair = r.text[:0], r.exact[:0], r.from[:0], r.pair[:0]
	r.player, r.mod = wire.Player{}, game.Mod{}
	if len(r.named) > 1000 { // a large map takes long to clear
		r.named = map[string]int{}
	}
	clear(r.named)
	if r.c.peek() != '{' {
		if _, err := r.c.value(); err != nil {
			return err
		}
		return errors.New("is not a record: a record is a JSON object")
	}
	all := uint64(1)<<len(schemaKeys) - 1
	missing := uint64(0)
	if r.decode|r.keep != all {
		missing = r.wanted | 1
	}
	if rec.seen, err = r.object(r.keys, r.decode|1, r.keep, missing); err != nil {
		return err
	}
	if r.c.peek(); r.c.at < len(r.c.b) {
		return errors.New("is not a record: text follows the closing brace")
	}
	r.finish()
	return nil
}

var readers = sync.Pool{New: func() any { return NewReader() }}

// Read reads one record and decodes all keys. It returns the name of the scan, and a Result
// that shares no memory with line. If Append wrote the record and dropped nothing to
// shorten it, Append makes the same record again from that Result, byte for byte. To read
// many records, use a Reader.
func Read(line []byte) (scan string, r *scanner.Result, err error) {
	reader := readers.Get().(*Reader)
	defer readers.Put(reader)
	rec, err := reader.Read(line)
	if err != nil {
		return "", nil, err
	}
	return rec.Scan, rec.Result.Clone(), nil
}

// object reads an object and returns the set of the fields that it has. Its last three
// arguments are sets of fields, too: object decodes the fields of decode, keeps the values
// of those of keep, and skips all others. If missing is not empty, object ignores the rest
// of the line as soon as it has read all fields of missing.
func (r *Reader) object(fields []field, decode, keep, missing uint64) (seen uint64, err error) {
	if err := r.begin('{', "object"); err != nil {
		return 0, err
	}
	stops, next := missing != 0, 0
	for n := 0; ; n++ {
		from := r.c.at
		more, err := r.c.more(n, '}')
		if err != nil {
			return seen, err
		}
		if !more {
			break
		}
		i := r.c.usual(fields[next:])
		colon := i >= 0
		if colon {
			i += next
		} else if name, err := r.c.key(); err != nil {
			return seen, err
		} else {
			i = placeOf(fields, r.unquoted(name), next)
		}
		if stops && missing == 0 && (i < 0 || (decode|keep)&(1<<i) == 0) {
			if !isJoined(r.c.b[r.c.at:]) {
				r.c.at = len(r.c.b)
				return seen, nil
			}
			missing = 1 << (maxKeys - 1) // a key that no record has: read the line to its end
		}
		if i >= 0 && seen&(1<<i) != 0 && r.strict {
			err = errors.New("occurs twice")
		} else if !colon {
			err = r.c.colon()
		}
		switch {
		case err != nil:
		case i < 0:
			err = r.c.skip()
		default:
			err = r.member(&fields[i], 1<<i, seen, decode, keep)
			next = i + 1
			seen |= 1 << i
			missing &^= 1 << i
		}
		switch {
		case err != nil && i >= 0:
			r.path = append(r.path, fields[i].name)
			fallthrough
		case err != nil:
			return seen, err
		case !stops && &fields[0] == &r.keys[0]:
			r.rec.places = append(r.rec.places, place{i, from, r.c.at})
		}
	}
	for i := range fields {
		if r.strict && fields[i].present == always && seen&(1<<i) == 0 {
			return seen, fmt.Errorf("%s is missing", fields[i].name)
		}
	}
	return seen, nil
}

// member reads or skips the value of the key f. Its second argument, bit, is the bit of f in
// the sets seen, decode and keep. See Reader.object for these sets.
func (r *Reader) member(f *field, bit, seen, decode, keep uint64) (err error) {
	from := r.c.at
	switch again := seen&bit != 0; {
	case decode&bit != 0 && !again && !(f.is == typeText && seen&(bit<<1) != 0):
		if keep&bit != 0 {
			r.c.strict = true // r.elements may skip parts of the value, which Record.Value returns
		}
		r.mark(f.present)
		err = r.elements(f, f.lists)
		if keep&bit != 0 {
			r.c.strict = r.strict
		}
	case keep&bit != 0 && !again:
		_, err = r.c.value()
	default:
		return r.c.skip()
	}
	if err == nil && keep&bit != 0 {
		r.rec.values[bits.TrailingZeros64(bit)] = r.c.b[from:r.c.at:r.c.at]
	}
	return err
}

// unquoted returns the text of s, which must be the JSON string that was read last. If s
// has no escapes, the text aliases s.
func (r *Reader) unquoted(s []byte) []byte {
	if r.c.plain {
		return s[1 : len(s)-1]
	}
	start := len(r.text)
	r.text, _ = jsontext.AppendUnquote(r.text, s) // can't fail: the cursor has checked the string
	return r.text[start:len(r.text):len(r.text)]
}

// begin moves into the next value, which must be an object or array. Its second argument,
// want, is the word for this type in an error.
func (r *Reader) begin(bracket byte, want string) error {
	if r.c.peek() == bracket {
		r.c.at++
		return nil
	}
	v, err := r.c.value()
	if err != nil {
		return err
	}
	return wrongType(v, want)
}

// mark notes in the Result that the record has a key whose presence is p. For the presences
// that mark ignores, the value shows that the key is present.
func (r *Reader) mark(p presence) {
	to := &r.rec.Result
	switch {
	case p < 1<<keyBits:
		to.Info.Has |= wire.Fields(p)
	case p < 1<<moreBits:
		r.game.Has |= game.Keys(p >> keyBits)
	case p == hasPing:
		to.HasPing = true
	case p == hasInfo:
		to.HasInfo = true
	case p == hasPlayers:
		to.HasPlayers = true
	case p == hasRules:
		to.HasRules = true
	case p == hasGame:
		r.game = game.Game{Mods: r.game.Mods[:0], Attributes: r.game.Attributes[:0]}
		to.Game = &r.game
	case p == hasShip:
		r.player.Ship = true
	}
}

// elements reads a value of f or, if lists is not 0, a list of such values.
func (r *Reader) elements(f *field, lists uint8) error {
	switch {
	case lists > 0:
		if err := r.begin('[', "array"); err != nil {
			return err
		}
		for n := 0; ; n++ {
			if more, err := r.c.more(n, ']'); !more {
				return err
			}
			if err := r.elements(f, lists-1); err != nil {
				return err
			}
			if list, ok := f.to.(listValue); ok && lists == f.lists {
				list.add(r)
			}
			if f == r.until && r.enough(&r.rec) {
				if r.c.at = listEnd(r.c.b, r.c.at); r.c.at < 0 {
					r.c.at = len(r.c.b)
					return errSyntax
				}
				return nil
			}
		}
	case f.is == typeObject:
		_, err := r.object(f.fields, cmp.Or(f.chosen, ^uint64(0)), 0, 0)
		return err
	case f.is == typeMap:
		if err := r.begin('{', "object"); err != nil {
			return err
		}
		for n := 0; ; n++ {
			if more, err := r.c.more(n, '}'); !more {
				return err
			}
			key, err := r.c.key()
			if err != nil {
				return err
			}
			name := r.unquoted(key)
			if err := r.c.colon(); err != nil {
				return err
			}
			v, err := r.c.value()
			if err != nil {
				return err
			}
			if v[0] != '"' {
				return fmt.Errorf("%.60s: %w", key, wrongType(v, "string"))
			}
			f.to.(mapValue).pair(r, name, r.unquoted(v))
		}
	}
	v, err := r.c.value()
	if err != nil {
		return err
	}
	return r.set(f, v)
}

// word returns b as a string. It keeps the short strings of earlier records and returns them
// again, because many records have the same words.
func (r *Reader) word(b []byte) string {
	const most, longest = 1 << 14, 64
	if len(b) > longest { // do not keep long texts, which could fill the memory
		return string(b)
	}
	s, ok := r.words[string(b)]
	if !ok {
		if len(r.words) == most {
			clear(r.words)
		}
		s = string(b)
		r.words[s] = s
	}
	return s
}

func (r *Reader) finish() {
	rec := &r.rec
	if rec.Has("rules_raw") && len(r.exact) > 0 {
		rec.Rules = append(rec.Rules[:0], r.exact...)
	}
	in := &rec.Info
	in.Notes = rec.Notes & (wire.NoteInfoTrailing | wire.NoteInfoOddBoolean | wire.NoteInfoNoModBlock | wire.NoteInfoShortAppID)
	if in.Notes&wire.NoteInfoOddBoolean != 0 {
		in.Password, in.VAC = 2*in.Password, 2*in.VAC
	}
	for q := range wire.NumQuestions {
		if rec.Has(questionWords[q]) || rec.Err[q] != 0 {
			rec.Asked |= 1 << q
		}
	}
	if rec.HasPing {
		rec.Asked |= wire.AskPing
	}
	for _, s := range r.from {
		if i, known := r.named[s.Name]; known {
			rec.Game.Attributes[i].Source = s.Source
		}
	}
}

func (r *Reader) set(f *field, v []byte) error {
	if f == &r.keys[0] {
		if string(v) != knownSchema {
			return SchemaError(v)
		}
		return nil
	}
	t := &types[f.is]
	kind := v[0]
	if kind == '-' || kind-'0' < 10 {
		kind = '0' // a number
	}
	if t.kinds[0] != kind && strings.IndexByte(t.kinds, kind) < 0 {
		return wrongType(v, t.want)
	}
	s := v
	if kind == '"' {
		s = r.unquoted(v)
	}
	if r.strict && f.words != nil && (len(s) == 0 || !slices.Contains(f.words, string(s))) {
		return fmt.Errorf("%.60s is not an allowed word", v)
	}
	if f.match != nil && (f.matched == "" || f.matched != string(s)) {
		if !f.match.Match(s) {
			return fmt.Errorf("%.60s does not have an allowed form", v)
		}
		if f.pattern != "" { // no type with a pattern repeats its texts
			f.matched = string(s)
		}
	}
	start, err, wrong := len(r.text), error(nil), ""
	switch f.is {
	case typeHex:
		r.text, err = hex.AppendDecode(r.text, s)
		wrong = "ABCDEF"
	case typeBase64:
		r.text, err = base64.StdEncoding.AppendDecode(r.text, s)
		wrong = "\r\n" // bytes that the decoder ignores
	}
	if wrong != "" {
		if bytes.ContainsAny(s, wrong) {
			return wrongType(v, t.want)
		}
		s = r.text[start:len(r.text):len(r.text)]
	}
	if err != nil || !f.to.(scalar).set(r, f, s) {
		return wrongType(v, t.want)
	}
	return nil
}

// placeOf returns the index of the field with the given name, or -1 if there is no such
// field. The search begins at index next, because the keys of a record are mostly in the
// order of the fields.
func placeOf[T string | []byte](fields []field, name T, next int) int {
	for i := next; i < len(fields); i++ {
		if string(name) == fields[i].name {
			return i
		}
	}
	for i := range min(next, len(fields)) {
		if string(name) == fields[i].name {
			return i
		}
	}
	return -1
}

func wrongType(value []byte, want string) error {
	return fmt.Errorf("%.60s is not of type %s", value, want)
}

// Find returns the value at a path of keys with full stops between them, such as
// info.map, players.0.name or rules.sv_gravity, as it is written. Keys may contain full
// stops; if several keys match, Find prefers the longest. Find returns nil if there is no
// such value. The value aliases object.
func Find(object []byte, path string) (found jsontext.Value) {
	c := cursor{b: object}
	open := c.peek()
	if open != '{' && open != '[' {
		return nil
	}
	bracket := open + 2 // '}' or ']'
	c.at++
	var text []byte
	longest := 0
	for i := 0; ; i++ {
		if more, _ := c.more(i, bracket); !more {
			return found
		}
		key := ""
		if bracket == '}' {
			name, err := c.key()
			if err != nil {
				return found
			}
			if key = string(name[1 : len(name)-1]); !c.plain {
				text, _ = jsontext.AppendUnquote(text[:0], name)
				key = string(text)
			}
			if c.colon() != nil {
				return found
			}
		} else {
			key = strconv.Itoa(i)
		}
		rest, ok := strings.CutPrefix(path, key)
		if !ok || rest != "" && (rest[0] != '.' || len(key) < longest) {
			if c.skip() != nil {
				return found
			}
			continue
		}
		value, err := c.value()
		switch {
		case err != nil:
			return found
		case rest == "":
			return value
		}
		if inner := Find(value, rest[1:]); inner != nil {
			found, longest = inner, len(key)
		}
	}
}
