package list

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/target"
)

// FuzzLine reads an arbitrary line. Exactly one of the counts in Stats must include
// it, or none if it is blank, a comment or names of columns; a network may be in up to
// four. If the targets that it yields are read as a list, they must be yielded again.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		"1.2.3.4:27015 tag", "1.2.3.4", "1.2.3.0/30,x", "# c", "::1", "127.0.0.1:1",
		"0.0.0.0:1", "1.2.3.4:0", "1.2.3.4:1 127.0.0.1:1,1.2.3.4:1", "1.2.3.4 1.2.3.5 # c", "steam://connect/1.2.3.4:1", "1.2.3.4 27016", "\xef\xbb\xbf1.2.3.4:1\r", "999.1.1.1", "\x00", "// c",
	} {
		f.Add([]byte(s))
	}
	ports := mustPorts(f, "27015,27016")
	f.Fuzz(func(t *testing.T, line []byte) {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		if bytes.HasPrefix(line, []byte("\xff\xfe")) || bytes.HasPrefix(line, []byte("\xfe\xff")) {
			return // the list would be decoded as UTF-16
		}
		if i := bytes.IndexByte(line, '/'); i >= 0 {
			line = append(bytes.Clone(line[:i+1]), "30"...) // keeps networks small
		}
		bad := 0
		l := mustOpen(t, Config{InOrder: true,
			Stdin: bytes.NewReader(line), Ports: ports,
			Invalid: func(v Invalid) {
				bad++
				if v.Line != 1 || v.Err == nil || strings.ContainsFunc(v.Text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
					t.Errorf("%+v", v)
				}
			},
		})
		var again strings.Builder
		given := texts(l.From(0))
		for _, s := range given {
			again.WriteString(s + "\n")
		}
		s := l.Stats()
		blank := len(bytes.TrimLeft(line, " \t\v\f\r\xef\xbb\xbf")) == 0 || bytes.ContainsAny(line, "#") || bytes.Contains(line, []byte("//"))
		for _, between := range "\t,;" {
			names := newTable(between)
			fields, _ := names.split(bytes.TrimPrefix(line, utf8BOM))
			blank = blank || names.header(fields)
		}
		ends, most := 0, 1
		words, _, _ := several(trimCommand(bytes.TrimSpace(bytes.TrimPrefix(line, utf8BOM))))
		if bytes.IndexByte(line, '/') >= 0 || len(words) > 1 {
			most = 4 // parts of a network, and several targets, may count differently
		}
		for _, n := range []uint64{s.Invalid, s.Unscannable, s.Excluded, s.Given} {
			if n > 0 {
				ends++
			}
		}
		if ends > most || ends == 0 && !blank || s.Duplicate > 0 && len(words) < 2 || s.Invalid != uint64(bad) || l.Err() != nil {
			t.Errorf("%q: %+v, %v", line, s, l.Err())
		}
		l = mustOpen(t, Config{InOrder: true, Stdin: strings.NewReader(again.String())})
		if got := texts(l.From(0)); fmt.Sprint(got) != fmt.Sprint(given) {
			t.Errorf("%q: %q, and then %q", line, given, got)
		}
	})
}

// lineReader returns a reader in input order whose targets are discarded, and its walk.
func lineReader(t testing.TB, ports string) (*reader, *walk) {
	l := mustOpen(t, Config{InOrder: true, Stdin: strings.NewReader(""), Ports: mustPorts(t, ports)})
	all := func(target.Target) bool { return true }
	w := &walk{giver: giver{cfg: &l.cfg, counts: &l.counts, yield: all}, ports: l.ports, seen: map[uint64]struct{}{}}
	return &reader{l: l, ctx: t.Context(), take: w.take, in: l.inputs[0]}, w
}

// numbered returns the address 1.0.0.0 + i and port 27015 as text, and overwrites b
// with it.
func numbered(b []byte, i uint32) []byte {
	return fmt.Appendf(b[:0], "1.%d.%d.%d:27015", i>>16&255, i>>8&255, i&255)
}

// TestLineAllocs checks that reading a line without a tag allocates no memory. A
// new target may cost one allocation on average, because the set of addresses
// grows.
func TestLineAllocs(t *testing.T) {
	r, w := lineReader(t, "")
	lines := make([][]byte, 20_000)
	for i := range lines {
		lines[i] = numbered(nil, uint32(i))
	}
	i := 0
	next := func() { r.text(line{text: lines[i%len(lines)]}); i++ }
	for range lines {
		next()
	}
	if got := testing.AllocsPerRun(1000, next); got != 0 {
		t.Errorf("a duplicate: %v allocations", got)
	}
	clear(w.seen)
	if got := testing.AllocsPerRun(1, func() {
		for range lines {
			next()
		}
	}); got > float64(len(lines)) {
		t.Errorf("%d new targets: %v allocations", len(lines), got)
	}
	for _, text := range []string{"# comment", "", "127.0.0.1:1", "1.2.3.4:0"} {
		l := line{text: []byte(text)}
		if got := testing.AllocsPerRun(1000, func() { r.text(l) }); got != 0 {
			t.Errorf("%q: %v allocations", text, got)
		}
	}
}
