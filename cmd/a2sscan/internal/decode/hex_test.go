package decode

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadHex(t *testing.T) {
	long := strings.Repeat("41", maxHexLine)
	in := "# a comment\n" +
		"\n" +
		"ff ff 41\n" +
		"203.0.113.7:27015 FFFF 42 # named\r\n" +
		"203.0.113.7:27016 43\n" +
		"44\n" +
		"fff\n" +
		"zz\n" +
		"203.0.113.7 44\n" +
		"203.0.113.7:27015\n" +
		"[::1]:27015 44\n" +
		long + "\n" +
		"203.0.113.7:27015 45"
	var bad []string
	all, err := readHex(strings.NewReader(in), func(line int, text string, err error) {
		bad = append(bad, fmt.Sprintf("%d %v", line, err))
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%v %x", s.addr, s.datagrams))
	}
	wantGot := "invalid AddrPort [ffff41 44]|203.0.113.7:27015 [ffff42 45]|203.0.113.7:27016 [43]"
	if text := strings.Join(got, "|"); text != wantGot {
		t.Errorf("got  %s\nwant %s", text, wantGot)
	}
	wantBad := "7 not hexadecimal|8 not hexadecimal|9 the sender is not an ip:port|" +
		"10 a sender without a datagram|11 the sender is not an ip:port|12 longer than any datagram"
	if s := strings.Join(bad, "|"); s != wantBad {
		t.Errorf("bad lines: got  %s\nwant %s", s, wantBad)
	}
}

func FuzzReadHex(f *testing.F) {
	f.Add("127.0.0.1:1 ff ff # x\nff\n")
	f.Fuzz(func(t *testing.T, in string) {
		lines, last := 0, 0
		all, err := readHex(strings.NewReader(in), func(line int, _ string, _ error) {
			lines++
			if line <= last {
				t.Errorf("line %d after line %d", line, last)
			}
			last = line
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			lines += len(s.datagrams)
		}
		if have := strings.Count(in, "\n") + 1; lines > have {
			t.Errorf("%d lines from a text of %d", lines, have)
		}
	})
}
