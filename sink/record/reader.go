package record

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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

// Record is a record that a Reader has read: the Result that it describes, as far as
// the record holds it, and the name of the scan.
//
// A record does not hold everything. The Reader chooses lower case for letters, 1 for
// true (2 if the notes have info.odd_boolean), NaN for a duration that is null, the
// digits of name_hash as the name of a player, and ShortAppID for an application ID
// that fits in 16 bits. Texts are exact: a key KEY_hex takes precedence over KEY.
type Record struct {
	Scan string
	scanner.Result

	seen   uint64 // set of the keys that the record has: a bit for each row of schemaKeys
	places []place
	values [maxKeys]jsontext.Value
}

// A place is the range of bytes that a key takes in the line, with its value and the
// comma before it. key is its index in the table; unknown keys have -1.
type place struct{ key, from, to int }

// options are the options of the decoder. The decoder does not look for repeated names,
// which takes time; a strict Reader itself looks for repeated keys of the table.
var options = []jsontext.Options{jsontext.AllowDuplicateNames(true)}

// maxKeys is more than the number of keys that a record can have.
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
	decode, keep uint64          // sets of keys: a bit for each row of schemaKeys
	inner        [maxKeys]uint64 // for each of these rows, the keys of its object to decode
	strict       bool

	d     tokens // the tokens in use: &fast or slow
	fast  cursor
	slow  *jsontext.Decoder
	in    bytes.Buffer // what slow reads
	line  []byte
	top   int // index in the table of the key that is decoded
	rec   Record
	game  game.Game
	path  []string    // keys of the objects around the current value
	text  []byte      // decoded texts of the record
	exact []wire.Rule // the rules of the key rules_raw
	pair  [][]byte
	from  []game.Attribute  // attributes of which only Name and Source are set
	words map[string]string // short texts of earlier records
	// The last text that the pattern of a field has matched: for most fields it is that of
	// the next record too.
	allowed map[*field]string
}

// NewReader returns a Reader that decodes the given keys, such as "addr" (which
// stands for ip, port and addr), "info", or "game.players" if the other keys of game are
// not needed. Without keys it decodes all. NewReader panics if there is no such key.
func NewReader(keys ...string) *Reader {
	r := &Reader{words: map[string]string{}, allowed: map[*field]string{}}
	if len(keys) == 0 {
		r.decode = 1<<len(schemaKeys) - 1
	}
	for i := range r.inner {
		r.inner[i] = ^uint64(0)
	}
	chosen := map[int]uint64{}
	for _, key := range keys {
		outer, path, inside := strings.Cut(key, ".")
		r.decode |= setOf(schemaKeys, outer)
		i := placeOf(schemaKeys, outer, 0)
		if inside {
			chosen[i] |= setOf(schemaKeys[i].fields, path)
		} else {
			chosen[i] = ^uint64(0)
		}
		r.inner[i] = chosen[i]
	}
	r.slow = jsontext.NewDecoder(&r.in)
	return r
}

// Keep makes the Reader keep the values of keys as they are written, for
// Record.Value. It returns the Reader.
func (r *Reader) Keep(keys ...string) *Reader {
	for _, key := range keys {
		r.keep |= setOf(schemaKeys, key)
	}
	return r
}

// Strict makes the Reader compare each complete record with the schema, including words,
// patterns, and missing or repeated keys. It returns the Reader.
func (r *Reader) Strict() *Reader {
	r.strict, r.decode, r.keep = true, 1<<len(schemaKeys)-1, 0
	return r
}

// setOf returns the set with a key and its KEY_hex.
func setOf(fields []field, key string) (set uint64) {
	i := placeOf(fields, key, 0)
	if i < 0 {
		panic("record: no key " + key)
	}
	if set = 1 << i; fields[i].is == ColumnText {
		set |= 2 << i
	}
	if key == "addr" {
		set |= setOf(fields, "ip") | setOf(fields, "port")
	}
	return set
}

// Read reads the record in line. JSON may be written in any way: spaces, order of the
// keys, escapes, a byte order mark at the beginning. Unknown keys are ignored.
//
// The Record, and all that it refers to, belongs to the Reader and is valid until the
// next call; its byte slices may alias line. The error says what is wrong with the
// line, by the path of the key. It is a SchemaError for a record of another schema. If
// only the key schema is missing, as in what cat --fields prints, Read returns the
// Record and an error.
//
// The Reader checks only the part of a line that it reads. If it skips a value, it looks only
// for the end of the value. So a Reader with few keys accepts a line that is damaged
// elsewhere; a strict Reader does not.
func (r *Reader) Read(line []byte) (*Record, error) {
	line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	rec, err := r.readQuickly(line)
	if rec == nil {
		rec, err = r.readCarefully(line)
	}
	return rec, err
}

// readQuickly reads a record with a cursor, whose errors explain nothing.
func (r *Reader) readQuickly(line []byte) (*Record, error) {
	r.line, r.d = line, &r.fast
	r.fast.reset(line, r.strict)
	return r.read()
}

// readCarefully reads a record with a jsontext.Decoder.
func (r *Reader) readCarefully(line []byte) (*Record, error) {
	r.fast.plain = false
	r.in = *bytes.NewBuffer(line)
	r.slow.Reset(&r.in, options...)
	r.line, r.d = line, r.slow
	return r.read()
}

// read reads the record in r.d.
func (r *Reader) read() (*Record, error) {
	rec := &r.rec
	*rec = Record{Result: scanner.Result{
		PlayersAnnounced: -1, RulesAnnounced: -1,
		Players: rec.Players[:0], Rules: rec.Rules[:0], Raw: rec.Raw[:0],
	}, places: rec.places[:0]}
	r.path, r.text, r.exact, r.from = r.path[:0], r.text[:0], r.exact[:0], r.from[:0]
	if r.d.PeekKind() != '{' {
		if _, err := r.d.ReadValue(); err != nil {
			return nil, syntax(err)
		}
		return nil, errors.New("is not a record: a record is a JSON object")
	}
	all := uint64(1)<<len(schemaKeys) - 1
	missing := uint64(0)
	if r.decode|r.keep != all {
		missing = r.decode | r.keep | 1
		for i := range schemaKeys {
			if i > 0 && schemaKeys[i-1].is == ColumnText {
				missing &^= 1 << i // if the record has KEY_hex, it follows KEY
			}
		}
	}
	var err error
	if rec.seen, err = r.object(schemaKeys, r.decode|1, r.keep, missing); err != nil {
		bad, schema := (*jsontext.SyntacticError)(nil), SchemaError("")
		switch {
		case errors.As(err, &bad):
			err = syntax(bad)
		case !errors.As(err, &schema) && len(r.path) > 0:
			err = fmt.Errorf("%s: %w", strings.Join(r.path, "."), err)
		}
		return nil, err
	}
	if r.d.StackDepth() == 0 {
		if _, err := r.d.ReadToken(); err != io.EOF {
			return nil, errors.New("is not a record: something follows its closing brace")
		}
	}
	r.finish()
	if rec.seen&1 == 0 {
		var lacks []string
		for _, key := range []string{"schema", "ip", "port", "status"} {
			if !rec.Has(key) {
				lacks = append(lacks, key)
			}
		}
		return rec, fmt.Errorf("is not a complete record: it lacks %s", strings.Join(lacks, ", "))
	}
	return rec, nil
}

// Read reads one record, as a Reader does that decodes all keys. It returns the name of
// the scan, and a Result that shares no memory with line. If Append wrote the record
// and dropped nothing to shorten it, Append makes the same record again from that
// Result, byte for byte. To read many records, use a Reader.
func Read(line []byte) (scan string, r *scanner.Result, err error) {
	rec, err := NewReader().Read(line)
	if err != nil {
		return "", nil, err
	}
	return rec.Scan, rec.Result.Clone(), nil
}

// syntax returns the error for a line that is not JSON.
func syntax(err error) error {
	return fmt.Errorf("is not JSON: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
}

// object reads an object and returns the fields that it has. It decodes the fields in
// decode, keeps the values of those in keep, and skips the others. If missing is not
// empty, it stops when it has all of these fields, without reading the rest of the object.
func (r *Reader) object(fields []field, decode, keep, missing uint64) (seen uint64, err error) {
	stops, next := missing != 0, 0
	err = r.inside('{', "object", func() error {
		from := int(r.d.InputOffset())
		name, err := r.d.ReadValue()
		if err != nil {
			return err
		}
		i := placeOf(fields, r.unquoted(name), next)
		if stops && missing == 0 && (i < 0 || decode&(1<<i) == 0) {
			return errEnough
		}
		if i < 0 {
			err := r.d.SkipValue()
			r.at(i, from)
			return err
		}
		next = i + 1
		f, bit := &fields[i], uint64(1)<<i
		r.path = append(r.path, f.name)
		switch again := seen&bit != 0; {
		case again && r.strict:
			err = errors.New("occurs twice")
		case decode&bit != 0 && !again && !(f.is == ColumnText && seen&(bit<<1) != 0):
			if r.d.StackDepth() == 1 {
				r.top = i
			}
			start := r.d.InputOffset()
			err = r.field(f)
			if keep&bit != 0 {
				r.rec.values[i] = bytes.TrimLeft(r.line[start:r.d.InputOffset()], " \t\r\n:")
			}
		case keep&bit != 0:
			r.rec.values[i], err = r.d.ReadValue()
		default:
			err = r.d.SkipValue()
		}
		if err == nil {
			r.path = r.path[:len(r.path)-1]
		}
		r.at(i, from)
		seen |= bit
		missing &^= bit
		return err
	})
	if err == errEnough {
		return seen, nil
	}
	if err != nil {
		return seen, err
	}
	for i := range fields {
		if r.strict && fields[i].present == always && seen&(1<<i) == 0 {
			return seen, fmt.Errorf("%s is missing", fields[i].name)
		}
	}
	return seen, nil
}

// at records the byte range of a key. The range begins at the offset from and ends at
// the current offset.
func (r *Reader) at(key, from int) {
	if r.d.StackDepth() == 1 {
		r.rec.places = append(r.rec.places, place{key, from, int(r.d.InputOffset())})
	}
}

// unquoted returns the text of the JSON string that was read last, which aliases s unless s
// has escapes.
func (r *Reader) unquoted(s []byte) []byte {
	if r.fast.plain || bytes.IndexByte(s, '\\') < 0 {
		return s[1 : len(s)-1]
	}
	start := len(r.text)
	r.text, _ = jsontext.AppendUnquote(r.text, s) // can't fail: the decoder has checked the string
	return r.text[start:len(r.text):len(r.text)]
}

// errEnough ends the reading of an object when the wanted fields have been read.
var errEnough = errors.New("enough")

// inside reads an object or list, and calls member for each of its members.
func (r *Reader) inside(open jsontext.Kind, want string, member func() error) error {
	if r.d.PeekKind() != open {
		v, err := r.d.ReadValue()
		if err != nil {
			return err
		}
		return wrongType(v, want)
	}
	_, _ = r.d.ReadToken()
	for kind := r.d.PeekKind(); kind != '}' && kind != ']'; kind = r.d.PeekKind() {
		if err := member(); err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

// field reads the value of a field into the Result.
func (r *Reader) field(f *field) error {
	res := &r.rec.Result
	switch p := f.present; p {
	case 0, always:
	case hasGame:
		r.game = game.Game{Mods: r.game.Mods[:0], Attributes: r.game.Attributes[:0]}
		res.Game = &r.game
	default:
		p.mark(res)
	}
	var to value
	if f.at != nil {
		to = f.at(res)
	}
	return r.elements(f, to, f.lists)
}

// elements reads a value, or a list of values, or a list of lists.
func (r *Reader) elements(f *field, to value, lists int) error {
	switch {
	case lists > 0:
		return r.inside('[', "array", func() error {
			if list, ok := to.(listValue); ok && lists == f.lists {
				list.next(r)
			}
			return r.elements(f, to, lists-1)
		})
	case f.is == ColumnObject:
		decode := ^uint64(0)
		if f == &schemaKeys[r.top] {
			decode = r.inner[r.top]
		}
		_, err := r.object(f.fields, decode, 0, 0)
		return err
	case f.is == ColumnMap:
		return r.inside('{', "object", func() error {
			key, err := r.d.ReadValue()
			if err != nil {
				return err
			}
			name := r.unquoted(key)
			v, err := r.d.ReadValue()
			if err != nil {
				return err
			}
			if v.Kind() != '"' {
				return fmt.Errorf("%.60s: %w", key, wrongType(v, "string"))
			}
			to.(mapValue).pair(r, name, r.unquoted(v))
			return nil
		})
	}
	v, err := r.d.ReadValue()
	if err != nil {
		return err
	}
	return r.set(f, to, v)
}

// word returns a short text as a string. It keeps the strings of earlier records,
// because many records have the same words.
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

// finish sets the fields of the Result that depend on several keys.
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
	if rec.Game != nil {
		for i := range rec.Game.Attributes {
			a := &rec.Game.Attributes[i]
			for _, s := range r.from {
				if s.Name == a.Name {
					a.Source = s.Source
				}
			}
		}
	}
}

// set stores the value v of a field, or adds an element to it.
func (r *Reader) set(f *field, to value, v jsontext.Value) error {
	if f == &schemaKeys[0] {
		if string(v) != knownSchema {
			return SchemaError(v)
		}
		return nil
	}
	t := &types[f.is]
	if strings.IndexByte(t.kinds, byte(v.Kind())) < 0 {
		return wrongType(v, t.want)
	}
	s := []byte(v)
	if v.Kind() == '"' {
		s = r.unquoted(v)
	}
	if r.strict && f.words != nil && (len(s) == 0 || !slices.Contains(f.words, string(s))) {
		return fmt.Errorf("%.60s is not an allowed word", v)
	}
	if r.strict && f.pattern != "" && r.allowed[f] != string(s) {
		if !patterns()[f.pattern].Match(s) {
			return fmt.Errorf("%.60s is not an allowed word", v)
		}
		r.allowed[f] = string(s)
	}
	if r.strict && t.pattern != "" && !patterns()[t.pattern].Match(s) {
		return wrongType(v, t.want)
	}
	start, err := len(r.text), error(nil)
	switch f.is {
	case typeHex:
		r.text, err = hex.AppendDecode(r.text, s)
		if bytes.ContainsAny(s, "ABCDEF") {
			return wrongType(v, t.want)
		}
		s = r.text[start:len(r.text):len(r.text)]
	case typeBase64:
		r.text, err = base64.StdEncoding.AppendDecode(r.text, s)
		if bytes.ContainsAny(s, "\r\n") { // bytes that the decoder ignores
			return wrongType(v, t.want)
		}
		s = r.text[start:len(r.text):len(r.text)]
	}
	if err != nil || !to.(scalar).set(r, f, s) {
		return wrongType(v, t.want)
	}
	return nil
}

// placeOf returns the index of the field with the given name, or -1 if there is no such
// field. Keys mostly come in the order of the fields, so the search begins at next.
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

// patterns are the compiled patterns of the schema.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	var collect func([]field)
	collect = func(fields []field) {
		for _, f := range fields {
			for _, p := range []string{f.pattern, types[f.is].pattern} {
				all[p] = regexp.MustCompile(p)
			}
			collect(f.fields)
		}
	}
	collect(schemaKeys)
	return all
})

// Find returns the value at a path of keys with full stops between them, such as
// info.map, players.0.name or rules.sv_gravity, as it is written. Keys may contain full
// stops: the longest key that matches is preferred. Find returns nil if there is no such
// value. The value aliases object.
func Find(object []byte, path string) (found jsontext.Value) {
	c := cursor{b: object}
	kind := c.PeekKind()
	if kind != '{' && kind != '[' {
		return nil
	}
	_, _ = c.ReadToken()
	var text []byte
	longest := 0
	for i := 0; ; i++ {
		key := ""
		if kind == '{' {
			name, err := c.ReadValue()
			if err != nil {
				return found // the end
			}
			if key = string(name[1 : len(name)-1]); strings.IndexByte(key, '\\') >= 0 {
				text, _ = jsontext.AppendUnquote(text[:0], name)
				key = string(text)
			}
		} else {
			key = strconv.Itoa(i)
		}
		rest, ok := strings.CutPrefix(path, key)
		if !ok || rest != "" && (rest[0] != '.' || len(key) < longest) {
			if c.SkipValue() != nil {
				return found
			}
			continue
		}
		value, err := c.ReadValue()
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
