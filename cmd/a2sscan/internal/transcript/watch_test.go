package transcript

import (
	"slices"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

func TestChanges(t *testing.T) {
	was := []fact{{"verdict", "up"}, {"map", `"a"`}, {"players", "3 of 24"}}
	for _, test := range []struct {
		now, want []string
	}{
		{[]string{"up", `"a"`, "3 of 24"}, nil},
		{[]string{"up", `"b"`, "0 of 24"}, []string{`map "a" → "b"`, "players 3 of 24 → 0 of 24"}},
		{[]string{"silent"}, []string{"verdict up → silent"}},
	} {
		var now []fact
		for i, value := range test.now {
			now = append(now, fact{was[i].label, value})
		}
		if got := changes(was, now); !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	if got := changes(nil, was); !slices.Equal(got, []string{"verdict up", `map "a"`, "players 3 of 24"}) {
		t.Errorf("the first time: %q", got)
	}
}

// TestWatchedPeople: a watch counts people as their game does, and bots separately.
func TestWatchedPeople(t *testing.T) {
	s := &Session{Result: &scanner.Result{HasInfo: true, Info: wire.Info{Players: 12, MaxPlayers: 24, Bots: 3}}}
	got := s.facts(&Verdict{Word: Up})
	for _, want := range []fact{{"players", "9 of 24"}, {"bots", "3"}} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
