package record

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// A value points to data of a Result. Its type determines how the Encoder writes the data
// and, with the methods of scalar, listValue or mapValue, how the Reader reads the data.
type value interface {
	// put appends the key, the value and a comma, or nothing if the record lacks the key.
	put(e *Encoder, dst []byte, f *field) []byte
}

// A scalar is a value that is a single text, number or boolean, or a list of these.
type scalar interface {
	// set stores the value, or an element of a list, and returns false if s is not a
	// value of the type. For a string, s is its text; for hex and base64, the decoded
	// bytes; for other types, the JSON.
	set(r *Reader, f *field, s []byte) bool
}

type bytesValue []byte

func (v *bytesValue) put(e *Encoder, dst []byte, f *field) []byte {
	if len(*v) == 0 && e.omits(f) {
		return dst
	}
	return appendValue(f.start(dst), f.name, *v)
}

func (v *bytesValue) set(_ *Reader, _ *field, s []byte) bool {
	*v = s
	return true
}

type stringValue string

func (v *stringValue) put(e *Encoder, dst []byte, f *field) []byte {
	if *v == "" && e.omits(f) {
		return dst
	}
	return appendValue(f.start(dst), f.name, []byte(*v))
}

func (v *stringValue) set(r *Reader, _ *field, s []byte) bool {
	*v = stringValue(r.word(s))
	return true
}

// codeValue is a code of two capital letters. For any other text the key is absent.
type codeValue string

func (v *codeValue) put(_ *Encoder, dst []byte, f *field) []byte {
	s := *v
	if len(s) != 2 || min(s[0], s[1]) < 'A' || max(s[0], s[1]) > 'Z' {
		return dst
	}
	return append(appendQuoted(f.start(dst), string(s)), ',')
}

func (v *codeValue) set(r *Reader, f *field, s []byte) bool { return (*stringValue)(v).set(r, f, s) }

// gameIDValue is the ID of a game, followed by the name of the game. If the ID is not valid,
// both are omitted.
type gameIDValue game.Game

func (v *gameIDValue) put(_ *Encoder, dst []byte, f *field) []byte {
	if !isGameID(v.ID) {
		return dst
	}
	dst = append(appendQuoted(f.start(dst), v.ID), ',')
	return appendText(dst, `"name":`, []byte(v.Name))
}

func (v *gameIDValue) set(r *Reader, _ *field, s []byte) bool {
	v.ID = r.word(s)
	return isGameID(v.ID)
}

func isGameID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return id != ""
}

// wordValue is the index of a word in field.words. The key is absent if the index is 0, or
// has no word.
type wordValue uint8

func (v *wordValue) put(_ *Encoder, dst []byte, f *field) []byte {
	if *v == 0 || int(*v) >= len(f.words) {
		return dst
	}
	return append(appendQuoted(f.start(dst), f.words[*v]), ',')
}

func (v *wordValue) set(_ *Reader, f *field, s []byte) bool {
	*v = wordValue(max(slices.Index(f.words, string(s)), 0)) // 0 for an unknown word
	return true
}

type setValue[T ~uint8 | ~uint16 | ~uint32 | ~uint64] struct{ of *T }

func set[T ~uint8 | ~uint16 | ~uint32 | ~uint64](of *T) value { return setValue[T]{of} }

func (v setValue[T]) put(_ *Encoder, dst []byte, f *field) []byte {
	words := f.words
	bit := uint64(*v.of) & (1<<len(words) - 1)
	if bit == 0 {
		return dst
	}
	dst = append(f.start(dst), '[')
	for ; bit != 0; bit &= bit - 1 {
		dst = append(appendQuoted(dst, words[bits.TrailingZeros64(bit)]), ',')
	}
	return end(dst, ']')
}

func (v setValue[T]) set(_ *Reader, f *field, s []byte) bool {
	if i := slices.Index(f.words, string(s)); i >= 0 {
		*v.of |= 1 << i
	}
	return true
}

// notesValue holds the notes about the answers. put also writes the notes about keys that
// were dropped from the record.
type notesValue wire.Notes

func (v *notesValue) put(e *Encoder, dst []byte, f *field) []byte {
	if *v == 0 && e.drops == 0 {
		return dst
	}
	dst = append(f.start(dst), '[')
	for i, word := range noteWords {
		if *v&(1<<i) != 0 {
			dst = append(appendQuoted(dst, word), ',')
		}
	}
	for i := range e.keys {
		if key := &e.keys[i]; key.dropped {
			dst = append(appendQuoted(dst, key.name+".dropped"), ',')
		}
	}
	return end(dst, ']')
}

func (v *notesValue) set(r *Reader, _ *field, s []byte) bool {
	if i := slices.Index(noteWords, string(s)); i >= 0 {
		*v |= 1 << i
	}
	for q, word := range questionWords {
		if string(s) == word+".dropped" {
			r.rec.Asked |= 1 << q
		}
	}
	return true
}

type boolValue bool

func (v *boolValue) put(e *Encoder, dst []byte, f *field) []byte {
	if !bool(*v) && e.omits(f) {
		return dst
	}
	return append(strconv.AppendBool(f.start(dst), bool(*v)), ',')
}

func (v *boolValue) set(_ *Reader, _ *field, s []byte) bool {
	*v = s[0] == 't'
	return true
}

type byteBoolValue uint8

func (v *byteBoolValue) put(_ *Encoder, dst []byte, f *field) []byte {
	return append(strconv.AppendBool(f.start(dst), *v != 0), ',')
}

func (v *byteBoolValue) set(_ *Reader, _ *field, s []byte) bool {
	*v = 0
	if s[0] == 't' {
		*v = 1
	}
	return true
}

// letterValue is a letter of the protocol. It is written as a word, or in hex if the letter
// has no word.
type letterValue uint8

func (v *letterValue) put(_ *Encoder, dst []byte, f *field) []byte {
	dst = f.start(dst)
	if word := f.letter(byte(*v)); word != "" {
		return append(appendQuoted(dst, word), ',')
	}
	return append(dst, '"', '0', 'x', hexDigits[*v>>4], hexDigits[*v&15], '"', ',')
}

func (v *letterValue) set(_ *Reader, _ *field, s []byte) bool {
	if len(s) > 2 && s[0] == '0' && s[1] == 'x' {
		n, err := strconv.ParseUint(string(s[2:]), 16, 8)
		*v = letterValue(n)
		return err == nil
	}
	*v = 0
	if len(s) > 0 {
		*v = letterValue(s[0])
	}
	return true
}

type numberValue[T uint8 | uint16 | uint32 | uint64 | int32] struct{ of *T }

func number[T uint8 | uint16 | uint32 | uint64 | int32](of *T) value { return numberValue[T]{of} }

func (v numberValue[T]) put(e *Encoder, dst []byte, f *field) []byte {
	n := uint64(*v.of)
	if n == 0 && e.omits(f) {
		return dst
	}
	if dst = f.start(dst); n < 1000 {
		return append(appendThree(dst, threes[n]), ',')
	}
	return append(appendNumber(dst, n), ',')
}

func (v numberValue[T]) set(_ *Reader, f *field, s []byte) bool {
	n, ok := parseNumber(f, s)
	*v.of = T(n)
	return ok
}

// countValue is an integer that is written as an unsigned 32-bit number.
type countValue int

func (v *countValue) put(_ *Encoder, dst []byte, f *field) []byte {
	return append(appendNumber(f.start(dst), uint64(uint32(max(*v, 0)))), ',')
}

func (v *countValue) set(_ *Reader, f *field, s []byte) bool {
	n, ok := parseNumber(f, s)
	*v = countValue(n)
	return ok
}

// parseNumber parses a whole number, which JSON may write as 1.0 or 1e3. The number must
// fit in the type of f.
func parseNumber(f *field, s []byte) (n uint64, ok bool) {
	if len(s) < 10 && digitsEnd(s, 0) == len(s) { // less than 1<<31
		for _, digit := range s {
			n = 10*n + uint64(digit-'0')
		}
		return n, n>>types[f.is].bits == 0
	}
	text := string(s)
	if text == "-0" || bytes.ContainsAny(s, ".eE") {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || x != math.Trunc(x) {
			return 0, false
		}
		text = strconv.FormatFloat(x+0, 'f', 0, 64) // adding 0 turns -0 into 0
	}
	var err error
	if f.is == typeInt32 {
		var i int64
		i, err = strconv.ParseInt(text, 10, 32)
		n = uint64(i)
	} else {
		n, err = strconv.ParseUint(text, 10, types[f.is].bits)
	}
	return n, err == nil
}

type appIDValue wire.Info

func (v *appIDValue) put(_ *Encoder, dst []byte, f *field) []byte {
	id, ok := (*wire.Info)(v).AppID()
	if !ok {
		return dst
	}
	return append(appendNumber(f.start(dst), uint64(id)), ',')
}

func (v *appIDValue) set(_ *Reader, f *field, s []byte) bool {
	n, ok := parseNumber(f, s)
	if v.ShortAppID = uint16(n); n > math.MaxUint16 {
		v.ShortAppID = 0 // the key game_id has the complete ID
	}
	return ok
}

// idValue is a 64-bit identifier, written as a string because a double can't hold it.
type idValue uint64

func (v *idValue) put(_ *Encoder, dst []byte, f *field) []byte {
	dst = append(f.start(dst), '"')
	return append(strconv.AppendUint(dst, uint64(*v), 10), '"', ',')
}

func (v *idValue) set(_ *Reader, _ *field, s []byte) bool {
	n, err := strconv.ParseUint(string(s), 10, 64)
	*v = idValue(n)
	return err == nil && (len(s) == 1 || s[0] != '0')
}

// hashValue is the hash of an answer; 0 means that there is no hash. If the Encoder hashes
// names, the hash of the answer that lists the players is keyed.
type hashValue uint64

func (v *hashValue) put(e *Encoder, dst []byte, f *field) []byte {
	hash := uint64(*v)
	if hash == 0 {
		return dst
	}
	if e.hasher != nil {
		e.text = binary.BigEndian.AppendUint64(e.text[:0], hash)
		hash = e.hasher.hash(hashOfList, e.text)
	}
	return append(appendHash(append(f.start(dst), '"'), hash), '"', ',')
}

func (v *hashValue) set(_ *Reader, _ *field, s []byte) bool {
	n, err := strconv.ParseUint(string(s), 16, 64)
	*v = hashValue(n)
	return err == nil && len(s) == 16
}

// millisValue is a duration in milliseconds, truncated to microseconds.
type millisValue time.Duration

const maxMillis = math.MaxInt64 / 1_000_000 // the longest time.Duration, some 292 years

func (v *millisValue) put(e *Encoder, dst []byte, f *field) []byte {
	if *v <= 0 && e.omits(f) {
		return dst
	}
	return append(appendMillis(f.start(dst), time.Duration(*v)), ',')
}

func (v *millisValue) set(_ *Reader, _ *field, s []byte) bool {
	x, err := strconv.ParseFloat(string(s), 64)
	if err != nil || x < 0 || x > maxMillis {
		return false
	}
	*v = millisValue(time.Duration(math.Round(x*1000)) * time.Microsecond)
	return true
}

// timeValue is a time with milliseconds. The key is absent for the zero time, which a
// Result from a capture has. It is also absent for a year outside 0 to 9999, which RFC
// 3339 can't express.
type timeValue time.Time

func (v *timeValue) put(e *Encoder, dst []byte, f *field) []byte {
	t := (*time.Time)(v)
	if t.IsZero() {
		return dst
	}
	if second := t.Unix(); len(e.clock) == 0 || second != e.second {
		t := t.UTC()
		if t.Year() < 0 || t.Year() > 9999 {
			return dst
		}
		e.second, e.clock = second, t.AppendFormat(e.clock[:0], `"2006-01-02T15:04:05.`)
	}
	dst = append(f.start(dst), e.clock...)
	ms := uint64(t.Nanosecond() / 1e6)
	return append(dst, digit(ms/100), digit(ms/10), digit(ms), 'Z', '"', ',')
}

func (v *timeValue) set(_ *Reader, _ *field, s []byte) bool {
	t, err := time.Parse(time.RFC3339Nano, string(s))
	*v = timeValue(t)
	return err == nil
}

type unixValue int64

func (v *unixValue) put(_ *Encoder, dst []byte, f *field) []byte {
	t := time.Unix(int64(*v), 0).UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return dst
	}
	return t.AppendFormat(f.start(dst), `"2006-01-02T15:04:05Z",`)
}

func (v *unixValue) set(_ *Reader, _ *field, s []byte) bool {
	t, err := time.Parse(time.RFC3339Nano, string(s))
	*v = unixValue(t.Unix())
	return err == nil
}

type floatValue float32

func (v *floatValue) put(_ *Encoder, dst []byte, f *field) []byte {
	return append(appendFloat(f.start(dst), float32(*v)), ',')
}

func (v *floatValue) set(_ *Reader, _ *field, s []byte) bool {
	if x, ok := parseDecimal(s); ok {
		*v = floatValue(x)
		return true
	}
	x, err := strconv.ParseFloat(string(s), 32)
	if string(s) == "null" {
		x, err = math.NaN(), nil
	}
	*v = floatValue(x)
	return err == nil
}

// addressValue is an address. put writes the keys ip and port, and addr, which contains both.
type addressValue netip.AddrPort

func (v *addressValue) put(_ *Encoder, dst []byte, f *field) []byte {
	a := (*netip.AddrPort)(v)
	ip := plainIP(a.Addr())
	if !ip.IsValid() {
		return dst
	}
	dst = append(f.start(dst), '"')
	from := len(dst)
	if ip.Is4() {
		for _, part := range ip.As4() {
			dst = append(appendNumber(dst, uint64(part)), '.')
		}
		dst = dst[:len(dst)-1]
	} else {
		dst = ip.AppendTo(dst)
	}
	to := len(dst)
	dst = append(dst, `","port":`...)
	port := len(dst)
	dst = appendNumber(dst, uint64(a.Port()))
	end := len(dst)
	if ip.Is4() {
		dst = append(dst, `,"addr":"`...)
		dst = append(append(dst, dst[from:to]...), ':')
	} else {
		dst = append(dst, `,"addr":"[`...)
		dst = append(append(dst, dst[from:to]...), ']', ':')
	}
	dst = append(dst, dst[port:end]...)
	return append(dst, '"', ',')
}

func (v *addressValue) set(_ *Reader, f *field, s []byte) bool {
	a := (*netip.AddrPort)(v)
	switch f.name {
	case "ip":
		ip, err := netip.ParseAddr(string(s))
		*a = netip.AddrPortFrom(plainIP(ip), a.Port())
		return err == nil
	case "port":
		n, ok := parseNumber(f, s)
		*a = netip.AddrPortFrom(a.Addr(), uint16(n))
		return ok
	}
	// The keys ip and port have the address too, except in the output of "a2sscan cat
	// --fields".
	if !a.Addr().IsValid() {
		if both, err := netip.ParseAddrPort(string(s)); err == nil {
			*a = netip.AddrPortFrom(plainIP(both.Addr()), both.Port())
		}
	}
	return true
}

// plainIP returns the usual form of an address: IPv4 for an IPv4-mapped IPv6 address, and
// no zone, which could be any text.
func plainIP(ip netip.Addr) netip.Addr { return ip.Unmap().WithZone("") }
