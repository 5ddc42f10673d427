package ledger

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// TestTallyJSON: a tally keeps its counts when it is encoded and decoded. Servers that are
// counted later do not change a clone. Only a server that answered counts.
func TestTallyJSON(t *testing.T) {
	var ta Tally
	for _, r := range []*scanner.Result{
		oneServer(), oneServer(), {Status: scanner.StatusError, Ask: 2, Received: 1}, {Status: scanner.StatusError},
		{Status: scanner.StatusNoReply}, {Status: scanner.StatusUnreachable},
	} {
		ta.Add(r)
	}
	saved := ta.Clone()
	ta.Add(oneServer())
	b, err := json.Marshal(&saved)
	check(t, err)
	var got Tally
	check(t, json.Unmarshal(b, &got))
	if got.Servers != 3 || got.Players != 2 || got.Bots != 2 || !slices.Equal(got.AtAsk, []uint64{2, 1}) || got.Trips.Quantiles().Servers != 2 {
		t.Errorf("%+v", got)
	}
	got.Add(oneServer())
	if got.Servers != 4 || got.Trips.Quantiles().Servers != 3 {
		t.Errorf("a restored tally counts wrongly: %+v", got)
	}
}

// TestPeople: people and bots are counted separately. If the game reports its own
// number of players, that number counts.
func TestPeople(t *testing.T) {
	own := oneServer()
	own.Game = &game.Game{Players: 547, Has: 1 << game.KeyPlayers}
	other := oneServer()
	other.Game = &game.Game{Queue: 9, Has: 1 << game.KeyQueue}
	odd := oneServer()
	odd.Info.Players, odd.Info.Bots = 1, 5
	var ta Tally
	for _, r := range []*scanner.Result{own, other, odd} {
		ta.Add(r)
	}
	if ta.Players != 547+1+0 || ta.Bots != 1+1+5 || ta.Corrected != 1 {
		t.Errorf("%d people, %d bots, %d corrected", ta.Players, ta.Bots, ta.Corrected)
	}
}

// TestEstimateEdges: there is an estimate only if the counts allow one.
func TestEstimateEdges(t *testing.T) {
	tests := []struct {
		atAsk []uint64
		lost  float64 // -1: no estimate
	}{
		{nil, -1},
		{[]uint64{0, 0, 0}, -1},
		{[]uint64{1000}, -1},
		{[]uint64{1000, 0, 0}, 0},
		{[]uint64{10, 10, 10}, -1},
		{[]uint64{1, 10, 100}, -1},
		{[]uint64{0, 0, 5}, -1},
		{[]uint64{750, 187, 47}, 15.6},
	}
	for _, test := range tests {
		_, lost, ok := estimateMissed(test.atAsk)
		if ok != (test.lost >= 0) || ok && math.Abs(lost-test.lost) > 0.5 {
			t.Errorf("%v: %v, %v; want %v", test.atAsk, lost, ok, test.lost)
		}
	}
	fa := newFirstAnswers([]uint64{750, 187, 47}, 3)
	if s := fa.String(); s != "750 at the first request, 187 at the second, 47 at the third; datagrams that got lost hid about 16 more" {
		t.Error(s)
	}
	fa = newFirstAnswers([]uint64{7}, 1)
	if s := fa.String(); s != "7 at the first request" || fa.Missed != nil {
		t.Error(s)
	}
}

func TestRoundTrips(t *testing.T) {
	var rt roundTrips
	if rt.Quantiles() != nil {
		t.Error("an empty histogram has quantiles")
	}
	for i := range 10_000 {
		rt.add(time.Duration(i+1) * 10 * time.Microsecond)
	}
	rt.add(time.Hour)
	rt.add(time.Nanosecond)
	b, err := json.Marshal(rt)
	check(t, err)
	var back roundTrips
	check(t, json.Unmarshal(b, &back))
	for _, q := range []*Quantiles{rt.Quantiles(), back.Quantiles()} {
		near := func(got, want float64) bool { return math.Abs(got-want) <= want*0.011 }
		if q.Servers != 10_002 || q.Min > 0.0011 || !near(q.P50, 50) || !near(q.P90, 90) || !near(q.P99, 99) || !near(q.Max, 600e3) {
			t.Errorf("%+v", q)
		}
	}
	if len(b) > 8<<10 {
		t.Errorf("%d bytes in a checkpoint", len(b))
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
