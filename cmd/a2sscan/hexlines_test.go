package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestHexLines(t *testing.T) {
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
	var cs captures
	var bad []string
	err := cs.read(strings.NewReader(in), func(line int, text string, err error) {
		bad = append(bad, fmt.Sprintf("%d %v", line, err))
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cs.all {
		got = append(got, fmt.Sprintf("%v %x", c.from, c.datagrams))
	}
	wantGot := "invalid AddrPort [ffff41 44]|203.0.113.7:27015 [ffff42 45]|203.0.113.7:27016 [43]"
	if s := strings.Join(got, "|"); s != wantGot {
		t.Errorf("got  %s\nwant %s", s, wantGot)
	}
	wantBad := "7 not hexadecimal|8 not hexadecimal|9 the sender is not an ip:port|" +
		"10 a sender without a datagram|11 the sender is not an ip:port|12 longer than any datagram"
	if s := strings.Join(bad, "|"); s != wantBad {
		t.Errorf("bad lines: got  %s\nwant %s", s, wantBad)
	}
}

func FuzzHexLines(f *testing.F) {
	f.Add("127.0.0.1:1 ff ff # x\nff\n")
	f.Fuzz(func(t *testing.T, in string) {
		var cs captures
		lines, last := 0, 0
		err := cs.read(strings.NewReader(in), func(line int, _ string, _ error) {
			lines++
			if line <= last {
				t.Errorf("line %d after line %d", line, last)
			}
			last = line
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cs.all {
			lines += len(c.datagrams)
		}
		if have := strings.Count(in, "\n") + 1; lines > have {
			t.Errorf("%d lines made of %d", lines, have)
		}
	})
}
