package sink

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
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
		if got := string(appendMillis(nil, "", d)); got != want+"," {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

func TestAppendTime(t *testing.T) {
	const layout = `"2006-01-02T15:04:05.000Z",`
	check := func(tm time.Time) {
		t.Helper()
		if got, want := string(appendTime(nil, "", tm)), tm.UTC().Format(layout); got != want {
			t.Errorf("%v: %s, want %s", tm, got, want)
		}
	}
	check(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
	check(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC))
	check(time.Date(2028, 2, 29, 23, 0, 0, 1_000_000, time.FixedZone("", -7*3600)))
	for range 10000 {
		check(time.Unix(rand.Int64N(1e11), rand.Int64N(1e9)))
	}
	for _, year := range []int{-1, 10000} {
		if got := appendTime(nil, "", time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)); len(got) > 0 {
			t.Errorf("the year %d: %s", year, got)
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
		if got := string(appendFloat(nil, "", in)); got != want+"," {
			t.Errorf("%v: %s, want %s", in, got, want)
		}
	}
	for range 100000 {
		checkFloat(t, rand.Uint32())
	}
	checkFloat(t, 0x7FC00000)
	checkFloat(t, 0x80000000)
}

// checkFloat reads back what a float of those bits became.
func checkFloat(t *testing.T, bits uint32) {
	t.Helper()
	v := math.Float32frombits(bits)
	got := appendFloat(nil, "", v)
	got = got[:len(got)-1]
	if !json.Valid(got) {
		t.Fatalf("%v became %s", v, got)
	}
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		if string(got) != "null" {
			t.Errorf("%v became %s", v, got)
		}
		return
	}
	if back, err := strconv.ParseFloat(string(got), 32); err != nil || float32(back) != v {
		t.Errorf("%v became %s: %v, %v", v, got, back, err)
	}
}
