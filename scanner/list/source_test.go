package list

import (
	"errors"
	"fmt"
	"io"
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
		check(t, err)
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
	check(t, err)
	for range l.From(0) {
		t.Error("a target")
	}
	if got := fmt.Sprint(l.Err()); got != "the master: can't be read: gone" {
		t.Errorf("%s", got)
	}
}
