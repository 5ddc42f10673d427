package transcript

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// TestWatchedPeople: a watch counts people as their game does, and bots separately.
func TestWatchedPeople(t *testing.T) {
	s := &Session{Result: &scanner.Result{HasInfo: true, Info: wire.Info{Players: 12, MaxPlayers: 24, Bots: 3}}}
	if got := s.values(false); got[3] != "9 of 24" || got[4] != "3" {
		t.Errorf("%q", got)
	}
}

// TestWatchOnTerminal: each change gets a line of its own, not the end of the status
// line. With brief, only the verdict counts.
func TestWatchOnTerminal(t *testing.T) {
	for _, test := range []struct {
		brief bool
		want  []string
	}{
		{false, []string{`verdict up, name "", map "a", players 0 of 0, bots 0, version ""`, `map "a" → "b"`, `verdict up → silent`}},
		{true, []string{"verdict up", "verdict up → silent"}},
	} {
		var screen strings.Builder
		term := console.New(&screen)
		term.Interactive = true
		ctx, stop := context.WithCancel(t.Context())
		n := 0
		err := Watch(ctx, term, term.Beside(&screen), 1, test.brief, func() (*Session, error) {
			s := &Session{Result: &scanner.Result{HasInfo: true}, Verdict: Verdict{Word: Up}}
			s.Result.Info.Map = []byte("aab")[min(n, 2) : min(n, 2)+1]
			switch n++; n {
			case 4:
				s = &Session{Result: &scanner.Result{}, Verdict: Verdict{Word: silent}}
			case 5:
				stop()
				return nil, errors.New("interrupted")
			}
			return s, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range regexp.MustCompile(`(?m)(?:^|\x1b\[K)\d\d:\d\d:\d\d  (.*)$`).FindAllStringSubmatch(screen.String(), -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("brief %v: %q on %q", test.brief, got, screen.String())
		}
	}
}
