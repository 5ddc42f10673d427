package record

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
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
}
