package list

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
)

// closer counts its Close calls.
type closer struct {
	io.Reader
	closed *int
}

func (c closer) Close() error { *c.closed++; return nil }

// TestSources checks that a Source is opened and closed once even if its name is
// "-", and that standard input is not read if there is a Source but no argument.
func TestSources(t *testing.T) {
	for _, inOrder := range []bool{true, false} {
		opened, closed := 0, 0
		const list = "8.0.0.1:1 a tag\nnonsense\n8.0.0.2:1\n"
		bad := ""
		l, err := Open(Config{
			InOrder: inOrder,
			Stdin:   strings.NewReader("8.0.0.9:9\n"),
			Sources: []Source{{Name: stdin, Size: int64(len(list)), Open: func() (io.ReadCloser, error) {
				opened++
				return closer{strings.NewReader(list), &closed}, nil
			}}},
			Invalid: func(v Invalid) { bad = v.Error() },
		})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for target := range l.From(0) {
			got[target.Addr.String()+target.Tag] = true
		}
		if len(got) != 2 || !got["8.0.0.1:1a tag"] || !got["8.0.0.2:1"] || opened != 1 || closed != 1 {
			t.Errorf("%v: %v, opened %d times, closed %d times", inOrder, got, opened, closed)
		}
		in := l.Inputs()
		if len(in) != 1 || in[0].Name != "-" || in[0].Targets != 2 || in[0].Invalid != 1 || in[0].Bytes != int64(len(list)) {
			t.Errorf("%v: %+v", inOrder, in)
		}
		if want := `-:2: not an IPv4 address: "nonsense"`; bad != want {
			t.Errorf("%s, want %s", bad, want)
		}
	}
}

// TestSourceFails checks that Err names a Source that can't be opened.
func TestSourceFails(t *testing.T) {
	l, err := Open(Config{Sources: []Source{{Name: "the master", Size: -1, Open: func() (io.ReadCloser, error) {
		return nil, errors.New("gone")
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	for range l.From(0) {
		t.Error("a target")
	}
	if got := fmt.Sprint(l.Err()); got != "the master: can't be read: gone" {
		t.Errorf("%s", got)
	}
}

// TestNoPort reads a list that contains port 0, a relay and 0.0.0.0, as master
// servers return them. They count as Unscannable and are not yielded. NoPort and
// LeftOut tell the reasons apart.
func TestNoPort(t *testing.T) {
	addrs := []string{"8.0.0.1:1", "8.0.0.1:0", "0.0.0.0:0", "169.254.0.1:5", "8.0.0.1:0", "8.0.0.2:2"}
	f := Format{Name: "test", Sniff: func([]byte) bool { return true },
		Read: func(_ io.Reader, yield func(Entry) bool) error {
			for i, a := range addrs {
				if !yield(Entry{Line: i + 1, Addr: netip.MustParseAddrPort(a)}) {
					break
				}
			}
			return nil
		}}
	for _, inOrder := range []bool{true, false} {
		l, err := Open(Config{InOrder: inOrder, Formats: []Format{f}, Stdin: strings.NewReader("x")})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for target := range l.From(0) {
			if target.Addr.Port() == 0 {
				t.Errorf("%v: %v", inOrder, target)
			}
			n++
		}
		want := Stats{Read: 6, Unscannable: 3, NoPort: 1, Duplicate: 1, Given: 2}
		if got := l.Stats(); got != want || n != 2 {
			t.Errorf("%v: %+v, want %+v", inOrder, got, want)
		}
		left := map[string]uint64{}
		for _, r := range leftOut(l) {
			left[r.Network] = r.Targets
		}
		if left["0.0.0.0/32"] != 1 || left["169.254.0.0/16"] != 1 {
			t.Errorf("%v: %v", inOrder, left)
		}
	}
}
