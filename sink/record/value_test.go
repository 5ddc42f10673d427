package record

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestAppendMillis(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                       "0",
		-time.Second:            "0",
		999:                     "0",
		time.Microsecond:        "0.001",
		10 * time.Microsecond:   "0.01",
		100 * time.Microsecond:  "0.1",
		time.Millisecond:        "1",
		23_412_999:              "23.412",
		4_523_100_000:           "4523.1",
		1_000_050_000:           "1000.05",
		time.Hour:               "3600000",
		math.MaxInt64:           "9223372036854.775",
		-math.MaxInt64:          "0",
		120 * time.Millisecond:  "120",
		1_999_999 + time.Second: "1001.999",
	} {
		if got := string(appendMillis(nil, d)); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

// TestTimes: a time is truncated to milliseconds, and one that RFC 3339 can't express is
// absent.
func TestTimes(t *testing.T) {
	for tm, want := range map[time.Time]string{
		time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC):                                 "0000-01-01T00:00:00.000Z",
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC):               "9999-12-31T23:59:59.999Z",
		time.Date(2028, 2, 29, 23, 0, 0, 1_999_999, time.FixedZone("", -7*3600)): "2028-03-01T06:00:00.001Z",
		time.Date(-1, 6, 1, 0, 0, 0, 0, time.UTC):                                "",
		time.Date(10000, 6, 1, 0, 0, 0, 0, time.UTC):                             "",
	} {
		r := blank()
		r.Time, r.Sent = tm, 1
		_, got, _ := strings.Cut(string(Append(nil, "", r)), `"time":"`)
		if got, _, _ = strings.Cut(got, `"`); got != want {
			t.Errorf("%v: %s, want %s", tm, got, want)
		}
	}
}

func TestAppendFloat(t *testing.T) {
	for in, want := range map[float32]string{
		0: "0", -1: "-1", 1: "1", 0.1: "0.1", 123.4: "123.4", 2150878: "2150878",
		1e-6: "0.000001", 1e-7: "1e-07", 1e20: "100000000000000000000", 1e21: "1e+21",
		math.MaxFloat32: "3.4028235e+38", math.SmallestNonzeroFloat32: "1e-45",
		float32(math.Inf(1)): "null", float32(math.Inf(-1)): "null",
	} {
		if got := string(appendFloat(nil, in)); got != want {
			t.Errorf("%v: %s, want %s", in, got, want)
		}
	}
	for i := range uint32(100_000) {
		checkFloat(t, rand.Uint32())                      // any
		checkFloat(t, oneBits-5<<23+rand.Uint32N(29<<23)) // near the limits of ordinary
		checkFloat(t, math.Float32bits(float32(i)/64))    // with few bits
		checkFloat(t, math.Float32bits(rand.Float32()))
		checkFloat(t, math.Float32bits(float32(rand.Uint32N(1e7))/100))
	}
	for exponent := range uint32(256) {
		for d := range uint32(5) {
			checkFloat(t, exponent<<23+d-2) // next to a power of two
		}
	}
	checkFloat(t, 0x7FC00000)
	checkFloat(t, 0x80000000)
}

// TestParseDecimal: decimals close to the middle of two float32 are read as package strconv
// reads them.
func TestParseDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		v := float32(rng.Float64()) * 16
		middle := float64(v) + (float64(math.Nextafter32(v, 17))-float64(v))/2
		for decimals := 9; decimals < 17; decimals++ {
			s := strconv.FormatFloat(middle, 'f', decimals, 64)
			if x, ok := parseDecimal([]byte(s)); ok {
				if want, err := strconv.ParseFloat(s, 32); err != nil || x != float32(want) {
					t.Fatalf("%s is read as %v, want %v (%v)", s, x, want, err)
				}
			}
		}
	}
}

// checkFloat fails the test if appendFloat writes the float32 with these bits
// differently from package strconv.
func checkFloat(t *testing.T, bits uint32) {
	t.Helper()
	v := math.Float32frombits(bits)
	got := string(appendFloat(nil, v))
	want, size := "null", math.Abs(float64(v))
	if !math.IsNaN(size) && !math.IsInf(size, 0) {
		form := byte('f')
		if size != 0 && (float32(size) < 1e-6 || float32(size) >= 1e21) {
			form = 'e'
		}
		want = strconv.FormatFloat(float64(v), form, -1, 32)
	}
	if got != want {
		t.Fatalf("%x became %s, want %s", bits, got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Fatalf("%v became %s", v, got)
	}
	// The same number, and numbers halfway to its neighbours, read as package strconv reads them.
	near := float64(v) + (float64(math.Nextafter32(v, math.MaxFloat32))-float64(v))/2
	for _, s := range []string{got, strconv.FormatFloat(near, 'f', -1, 64), strconv.FormatFloat(near, 'f', 13, 64), got + "5", got + ".5", got + "."} {
		if x, ok := parseDecimal([]byte(s)); ok {
			if want, err := strconv.ParseFloat(s, 32); err != nil || x != float32(want) {
				t.Fatalf("%s is read as %v, want %v (%v)", s, x, want, err)
			}
		}
	}
}

// hostile holds possible names of servers, and their form in a record. The number
// of U+FFFD follows table 3-7 of the Unicode Standard.
var hostile = []struct {
	name, in, out string // out without its quotes
	valid         bool
}{
	{"empty", "", ``, true},
	{"plain", "My server", `My server`, true},
	{"quotes", `a"b\c/d`, `a\"b\\c/d`, true},
	{"markup", "<b>&amp;</b>'", `<b>&amp;</b>'`, true},
	{"short escapes", "\b\t\n\f\r", `\b\t\n\f\r`, true},
	{"controls", "\x00\x01\x1b[31m\x1f", `\u0000\u0001\u001b[31m\u001f`, true},
	{"skial EC-38", "\x01\x01  skial.com", `\u0001\u0001  skial.com`, true},
	{"del", "a\x7fb", `a\u007fb`, true},
	{"c1", "\u0080\u0085\u009b31m\u009f", `\u0080\u0085\u009b31m\u009f`, true},
	{"after c1", "\u00a0", "\u00a0", true},
	{"line separators", "\u2028\u2029", `\u2028\u2029`, true},
	{"bidirectional", "\u061c\u200e\u200f\u202a\u202e\u2066\u2069",
		`\u061c\u200e\u200f\u202a\u202e\u2066\u2069`, true},
	{"beside bidirectional", "\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206a",
		"\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206a", true},
	{"two bytes", "\u00df\u07ff", "\u00df\u07ff", true},
	{"three bytes", "\u0800\u20ac\ud7ff\ue000\uffff", "\u0800\u20ac\ud7ff\ue000\uffff", true},
	{"four bytes", "\U00010000\U0001f600\U0010ffff", "\U00010000\U0001f600\U0010ffff", true},
	{"a true U+FFFD", "\ufffd", "\ufffd", true},

	{"cp1251", "\xd1\xe5\xf0\xe2\xe5\xf0", strings.Repeat("\ufffd", 6), false},
	{"lone continuation", "a\x80b", "a\ufffdb", false},
	{"overlong slash", "\xc0\xaf", "\ufffd\ufffd", false},
	{"overlong, three bytes", "\xe0\x80\xaf", "\ufffd\ufffd\ufffd", false},
	{"overlong, four bytes", "\xf0\x80\x80\xaf", "\ufffd\ufffd\ufffd\ufffd", false},
	{"surrogate, CESU-8", "\xed\xa0\xbd\xed\xb8\x80", strings.Repeat("\ufffd", 6), false},
	{"beyond U+10FFFF", "\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd", false},
	{"no such first byte", "\xf5\xfe\xff", "\ufffd\ufffd\ufffd", false},
	{"cut after 1 of 2", "a\xd0", "a\ufffd", false},
	{"cut after 2 of 3", "a\xe2\x82", "a\ufffd", false},
	{"cut after 1 of 4", "a\xf0", "a\ufffd", false},
	{"cut after 2 of 4", "a\xf0\x9f", "a\ufffd", false},
	{"cut after 3 of 4", "a\xf0\x9f\x98", "a\ufffd", false},
	{"cut by ASCII", "\xe2\x82a\xf0\x9f\x98\"", "\ufffda\ufffd\\\"", false},
	{"cut by another", "\xe2\x82\xe2\x82\xac", "\ufffd\u20ac", false},
	{"cut by a control", "\xe2\x82\x00", "\ufffd\\u0000", false},
	{"standard 3-8", "\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", strings.Repeat("\ufffd", 8) + "A", false},
	{"standard 3-9", "\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", strings.Repeat("\ufffd", 8) + "A", false},
	{"standard 3-10", "\xf4\x91\x92\x93\xff\x41\x80\xbf\x42",
		strings.Repeat("\ufffd", 5) + "A\ufffd\ufffdB", false},
	{"standard 3-11", "\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "\ufffd\ufffd\ufffd\ufffdA", false},
}

func TestAppendString(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			got, valid := appendString([]byte("x"), []byte(tt.in))
			if want := `x"` + tt.out + `"`; string(got) != want || valid != tt.valid {
				t.Errorf("%q: %s, valid %v; want %s, %v", tt.in, got, valid, want, tt.valid)
			}
			checkString(t, []byte(tt.in))
		})
	}
}

// TestAppendStringLengths puts each byte at each index of strings of each length.
// Code that checks several bytes at once must check all of them.
func TestAppendStringLengths(t *testing.T) {
	for n := range 35 {
		for at := range n {
			s := []byte("The quick brown fox jumps over the lazy dog.")[:n]
			for c := range 256 {
				s[at] = byte(c)
				checkString(t, s)
			}
		}
	}
}

func FuzzAppendString(f *testing.F) {
	for _, tt := range hostile {
		f.Add([]byte(tt.in))
	}
	f.Fuzz(func(t *testing.T, s []byte) { checkString(t, s) })
}

// checkString fails the test if appendString differs from encoding/json,
// or if its output has a dangerous character.
func checkString(t *testing.T, s []byte) {
	t.Helper()
	got, valid := appendString(nil, s)
	if valid != utf8.Valid(s) {
		t.Errorf("%q: valid is %v", s, valid)
	}
	var back string
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatalf("%q became %q: %v", s, got, err)
	}
	if want := replaced(s); back != want {
		t.Errorf("%q reads back as %q, want %q", s, back, want)
	}
	if !utf8.Valid(got) {
		t.Errorf("%q became %q, which is not UTF-8", s, got)
	}
	if i := strings.IndexFunc(string(got), dangerous); i >= 0 {
		t.Errorf("%q became %q, with a raw control at %d", s, got, i)
	}
}

// dangerous reports whether a record must not contain the character unescaped.
func dangerous(r rune) bool {
	return r < ' ' || r >= 0x7F && r <= 0x9F ||
		strings.ContainsRune("\u2028\u2029\u061c\u200e\u200f"+
			"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", r)
}

// replaced replaces each maximal ill-formed subsequence of s with U+FFFD. Unlike
// decode it has no table: it extends a sequence while further bytes could still
// complete a character.
func replaced(s []byte) string {
	var b strings.Builder
	for len(s) > 0 {
		n := 1
		for n < len(s) && !utf8.Valid(s[:n]) && begins(s[:n+1]) {
			n++
		}
		r, _ := utf8.DecodeRune(s[:n]) // utf8.RuneError is U+FFFD
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// begins reports whether p is a character or the beginning of one, by trying to
// complete it.
func begins(p []byte) bool {
	if utf8.Valid(p) || len(p) >= utf8.UTFMax {
		return utf8.RuneCount(p) == 1 && utf8.Valid(p)
	}
	for _, c := range []byte("\x80\x90\xa0\xbf") {
		if begins(append(p[:len(p):len(p)], c)) {
			return true
		}
	}
	return false
}
