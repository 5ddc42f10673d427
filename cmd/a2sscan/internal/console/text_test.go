package console

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWords: numbers, sizes and times as text.
func TestWords(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{RoughDuration(0), "0 s"},
		{RoughDuration(time.Millisecond), "1 s"},
		{RoughDuration(9400 * time.Millisecond), "9 s"},
		{RoughDuration(9 * time.Second), "9 s"},
		{RoughDuration(99 * time.Second), "99 s"},
		{RoughDuration(100 * time.Second), "2 min"},
		{RoughDuration(800 * time.Second), "13 min"},
		{RoughDuration(99*time.Minute + 29*time.Second), "99 min"},
		{RoughDuration(100 * time.Minute), "2 h"},
		{RoughDuration(48*time.Hour + 29*time.Minute), "48 h"},
		{RoughDuration(49 * time.Hour), "2 days"},
		{RoughDuration(36500 * 24 * time.Hour), "36500 days"},
		{RoughDuration(36501 * 24 * time.Hour), "more than 100 years"},
		{Clock(0), "0:00"},
		{Clock(1900 * time.Millisecond), "0:01"},
		{Clock(754 * time.Second), "12:34"},
		{Clock(25*time.Hour + 61*time.Second), "25:01:01"},
		{Bytes(0), "0 B"},
		{Bytes(999), "999 B"},
		{Bytes(1000), "1.0 kB"},
		{Bytes(1_234_567), "1.2 MB"},
		{Bytes(5e9), "5.0 GB"},
		{Grouped(0), "0"},
		{Grouped(999), "999"},
		{Grouped(1234567), "1,234,567"},
		{Plural(1, "server"), "1 server"},
		{Plural(1000, "server"), "1,000 servers"},
		{Plural(2, "address"), "2 addresses"},
		{Plural(1, "person"), "1 person"},
		{Plural(0, "person"), "0 people"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
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
		{999_499, "999k"}, {999_500, "1M"}, {1.5e6, "1.5M"}, {999.4e6, "999M"}, {999.5e6, "1G"}, {5.553e9, "5.55G"},
		{103_981_837e6, "104T"}, {1126e12, "1126T"}, {-1, "unlimited"},
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

// TestWithoutKeys: keys are replaced; names of files and addresses are not.
func TestWithoutKeys(t *testing.T) {
	for in, want := range map[string]string{
		"key.txt": "key.txt", "/etc/a2sscan/key": "/etc/a2sscan/key", "monkey=7": "monkey=7", "": "",
		"127.0.0.1:27011":                                  "127.0.0.1:27011",
		"https://h/?filter=x&key=abc&limit=1":              "https://h/?filter=x&key=[key]&limit=1",
		"d41d8cd98f00b204e9800998ecf8427e.":                "[key].",
		"0d41d8cd98f00b204e9800998ecf8427e":                "0d41d8cd98f00b204e9800998ecf8427e",
		"a d41d8cd98f00b204e9800998ECF8427E and key=x end": "a [key] and key=[key] end",
	} {
		if got := WithoutKeys(in); got != want || LooksLikeKey(in) != (got != in) {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestPercentDown: only the share 1 is 100.00.
func TestPercentDown(t *testing.T) {
	for share, want := range map[float64]string{0: "0.00", 0.29: "29.00", 0.9987: "99.87", 0.666667: "66.66", 0.9999999: "99.99", 1: "100.00"} {
		if got := PercentDown(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}

// TestWithoutPath: an error from the operating system loses the names of its files, which the
// message around it has already.
func TestWithoutPath(t *testing.T) {
	for _, err := range []error{
		&fs.PathError{Op: "open", Path: "a", Err: syscall.ENOENT},
		&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.ENOENT},
		fmt.Errorf("around: %w", &os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.ENOENT}),
		syscall.ENOENT,
	} {
		if got := WithoutPath(err); got != syscall.ENOENT {
			t.Errorf("%v: %v", err, got)
		}
	}
}
