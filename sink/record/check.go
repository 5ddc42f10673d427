package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"sync"
)

// Check compares a record with the schema that JSONSchema returns, and returns the
// first difference as an error. A repeated key is a difference too; keys that are not
// in the schema are allowed.
func Check(line []byte) error {
	if !json.Valid(line) {
		return errors.New("no JSON")
	}
	return checkObject(line[skipSpace(line, 0):], schemaKeys)
}

// checkObject returns the first difference between a JSON value, which must be an
// object, and the fields that it may have.
func checkObject(object []byte, fields []field) (err error) {
	if object[0] != '{' {
		return wrongType(object, "object")
	}
	var seen uint64 // a bit for each field
	next := 0
	eachMember(object, func(m member) bool {
		i := placeOf(fields, m.name(), next)
		if i < 0 {
			return true
		}
		if seen&(1<<i) != 0 {
			err = errors.New("occurs twice")
		} else {
			err = fields[i].check(m.value, fields[i].lists)
		}
		if err != nil {
			err = inKey(fields[i].name, err)
		}
		seen |= 1 << i
		next = i + 1
		return err == nil
	})
	for i := range fields {
		if err == nil && fields[i].always && seen&(1<<i) == 0 {
			err = fmt.Errorf("%s is missing", fields[i].name)
		}
	}
	return err
}

// placeOf returns the index of the field with a name, or -1 if there is none. Keys
// mostly come in the order of the fields, so the search begins at next.
func placeOf(fields []field, name []byte, next int) int {
	for n := range fields {
		if i := (next + n) % len(fields); string(name) == fields[i].name {
			return i
		}
	}
	return -1
}

// name returns the key without quotes and escapes.
func (m *member) name() []byte { return unquote(m.key) }

// unquote returns the text of a valid JSON string.
func unquote(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s[1 : len(s)-1]
	}
	var text string
	if err := json.Unmarshal(s, &text); err != nil {
		return nil // it is known to be JSON
	}
	return []byte(text)
}

// keyError is an error in a value, and the path of keys to the value.
type keyError struct {
	path string
	err  error
}

func (e *keyError) Error() string { return e.path + ": " + e.err.Error() }

// inKey adds a key before the path of an error.
func inKey(key string, err error) error {
	if inner, ok := err.(*keyError); ok {
		return &keyError{key + "." + inner.path, inner.err}
	}
	return &keyError{key, err}
}

func wrongType(value []byte, want string) error {
	return fmt.Errorf("%.60s is not of type %s", value, want)
}

// check compares a value with the type of the field. If lists is 1, the value must
// be a list of that type; if lists is 2, a list of such lists.
func (f *field) check(value []byte, lists int) error {
	switch {
	case lists > 0:
		return eachElement(value, func(v []byte) error { return f.check(v, lists-1) })
	case f.name == "schema":
		if string(value) != knownSchema {
			return SchemaError(value)
		}
		return nil
	case f.is == typeObject:
		return checkObject(value, f.fields)
	case f.words != nil || f.pattern != "":
		return f.checkWord(value)
	}
	return checkers[f.is](value)
}

// eachElement calls check for the elements of a list.
func eachElement(list []byte, check func([]byte) error) error {
	if list[0] != '[' {
		return wrongType(list, "array")
	}
	for i := skipSpace(list, 1); list[i] != ']'; i = skipSpace(list, i) {
		if list[i] == ',' {
			i = skipSpace(list, i+1)
		}
		end := skipValue(list, i)
		if err := check(list[i:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// checkWord compares a value with the words or the pattern of its field.
func (f *field) checkWord(value []byte) error {
	if value[0] != '"' {
		return wrongType(value, "string")
	}
	text := unquote(value)
	known := slices.Contains(f.words, string(text))
	if f.words == nil {
		known = patterns()[f.pattern].Match(text)
	}
	if !known {
		return fmt.Errorf("%.60s is no such word", value)
	}
	return nil
}

// patterns are the compiled patterns of the schema.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	var collect func([]field)
	collect = func(fields []field) {
		for _, f := range fields {
			if f.pattern != "" {
				all[f.pattern] = regexp.MustCompile(f.pattern)
			}
			collect(f.fields)
		}
	}
	collect(schemaKeys)
	return all
})

// checkers check values of the simple types.
var checkers = [numTypes]func([]byte) error{
	typeText:    textOf(func([]byte) bool { return true }, "string"),
	typeHex:     textOf(isHex, "bytes in hex"),
	typeBase64:  textOf(isBase64, "bytes in base64"),
	typeID:      textOf(regexp.MustCompile(`^(0|[1-9][0-9]{0,19})$`).Match, "64-bit number in a string"),
	typeTime:    textOf(regexp.MustCompile(timePattern).Match, "time"),
	typeSeconds: textOf(regexp.MustCompile(secondsPattern).Match, "time"),
	typeMillis:  numbersOf(func(v float64) bool { return v >= 0 }, "number from 0"),
	typeFloat32: checkFloat32,
	typeBool:    checkBool,
	typeUint8:   integersOf(0, math.MaxUint8),
	typeUint16:  integersOf(0, math.MaxUint16),
	typeUint32:  integersOf(0, math.MaxUint32),
	typeUint64:  integersOf(0, math.MaxUint64),
	typeInt32:   integersOf(math.MinInt32, math.MaxInt32),
	typeMap:     checkMap,
	typeJSON:    checkAnyObject,
}

// textOf returns a checker of strings that good accepts. want describes them in
// errors.
func textOf(good func([]byte) bool, want string) func([]byte) error {
	return func(v []byte) error {
		if v[0] != '"' || !good(unquote(v)) {
			return wrongType(v, want)
		}
		return nil
	}
}

func isHex(s []byte) bool {
	for _, c := range s {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return len(s)%2 == 0
}

func isBase64(s []byte) bool {
	if bytes.ContainsAny(s, "\r\n") { // which the decoder ignores
		return false
	}
	_, err := base64.StdEncoding.AppendDecode(nil, s)
	return err == nil
}

// numbersOf returns a checker of numbers that good accepts. want describes them in
// errors.
func numbersOf(good func(float64) bool, want string) func([]byte) error {
	return func(v []byte) error {
		if n, err := strconv.ParseFloat(string(v), 64); !isNumber(v) || err != nil || !good(n) {
			return wrongType(v, want)
		}
		return nil
	}
}

func isNumber(v []byte) bool { return v[0] == '-' || '0' <= v[0] && v[0] <= '9' }

// integersOf returns a checker of whole numbers from least to most.
func integersOf(least, most float64) func([]byte) error {
	return numbersOf(func(n float64) bool { return n == math.Trunc(n) && least <= n && n <= most },
		fmt.Sprintf("integer from %.0f to %.0f", least, most))
}

func checkFloat32(v []byte) error {
	if string(v) == "null" || isNumber(v) {
		return nil
	}
	return wrongType(v, "number or null")
}

func checkBool(v []byte) error {
	if string(v) == "true" || string(v) == "false" {
		return nil
	}
	return wrongType(v, "boolean")
}

func checkAnyObject(v []byte) error {
	if v[0] != '{' {
		return wrongType(v, "object")
	}
	return nil
}

// checkMap checks an object of strings.
func checkMap(v []byte) (err error) {
	if err := checkAnyObject(v); err != nil {
		return err
	}
	eachMember(v, func(m member) bool {
		if m.value[0] != '"' {
			err = fmt.Errorf("%.60s: %w", m.key, wrongType(m.value, "string"))
		}
		return err == nil
	})
	return err
}

// Key identifies a record.
type Key struct {
	Scan   string
	Addr   netip.AddrPort // invalid if the record has no address
	Status string
}

// KeyOf returns the Key of a record, which Check must have accepted.
func KeyOf(line []byte) (k Key) {
	var ip netip.Addr
	var port uint64
	eachMember(line, func(m member) bool {
		switch string(m.key) {
		case `"scan"`:
			k.Scan = string(unquote(m.value))
		case `"ip"`:
			ip, _ = netip.ParseAddr(string(unquote(m.value)))
		case `"port"`:
			port, _ = strconv.ParseUint(string(m.value), 10, 16)
		case `"status"`:
			k.Status = string(unquote(m.value))
			return false
		}
		return true
	})
	if ip.IsValid() {
		k.Addr = netip.AddrPortFrom(ip, uint16(port))
	}
	return k
}
