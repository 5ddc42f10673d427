package console

import (
	"strings"
	"testing"
	"time"
)

func TestInWords(t *testing.T) {
	tests := map[time.Duration]string{
		time.Millisecond: "1 s", 9 * time.Second: "9 s", 99 * time.Second: "99 s", 100 * time.Second: "2 min",
		800 * time.Second: "14 min", 100 * time.Minute: "2 h", 49 * time.Hour: "3 days",
	}
	for in, want := range tests {
		if got := RoughDuration(in); got != want {
			t.Errorf("inWords(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	tests := map[time.Duration]string{
		0:                             "0:00",
		1900 * time.Millisecond:       "0:01",
		754 * time.Second:             "12:34",
		25*time.Hour + 61*time.Second: "25:01:01",
	}
	for in, want := range tests {
		if got := Clock(in); got != want {
			t.Errorf("clock(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	tests := map[uint64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_234_567: "1.2 MB", 5e9: "5.0 GB"}
	for in, want := range tests {
		if got := Bytes(in); got != want {
			t.Errorf("size(%d) = %q, want %q", in, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestShort(t *testing.T) {
	tests := []struct {
		in   float64
		want string
	}{
		{0, "0"}, {0.5, "0.5"}, {7.25, "7.25"}, {9.999, "10"}, {12.34, "12.3"}, {800, "800"}, {999.4, "999"},
		{1000, "1k"}, {4980.2, "4.98k"}, {5000, "5k"}, {12345, "12.3k"}, {123456, "123k"},
		{999_499, "999k"}, {999_500, "1M"}, {1.5e6, "1.5M"}, {-1, "unlimited"},
	}
	for _, test := range tests {
		if got := Short(test.in); got != test.want {
			t.Errorf("short(%v) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		line          string
		width, indent int
		want          string
	}{
		{"short", 10, 2, "short"},
		{"", 10, 2, ""},
		{"one two three", 8, 2, "one two|  three"},
		{"one two three four", 9, 2, "one two|  three|  four"},
		{"onetwothreefour five", 8, 2, "onetwothreefour|  five"},
		{"äöü äöü äöü", 7, 0, "äöü äöü|äöü"},
		{"        much before it", 12, 8, "        much|        before|        it"},
	} {
		if got := strings.Join(Wrap(test.line, test.width, test.indent), "|"); got != test.want {
			t.Errorf("%q in %d: %q, want %q", test.line, test.width, got, test.want)
		}
	}
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 server": Plural(1, "server"), "1,000 servers": Plural(1000, "server"), "2 addresses": Plural(2, "address"),
		"1 person": Plural(1, "person"), "0 people": Plural(0, "person"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
