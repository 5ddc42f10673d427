package metrics

import (
	"io"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// TestPopulation: people and bots are counted separately. If the game reports its
// own number of players, that number counts.
func TestPopulation(t *testing.T) {
	m := newServer(console.New(io.Discard), Options{})
	handle := m.Begin(new(scanner.Monitor), func(*scanner.Result) {})
	handle(&scanner.Result{HasInfo: true, Info: wire.Info{Players: 12, Bots: 3}})
	handle(&scanner.Result{HasInfo: true, Info: wire.Info{Players: 86}, Game: &game.Game{Players: 547, Has: 1 << game.KeyPlayers}})
	handle(&scanner.Result{})
	families, err := m.registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, v := range f.GetMetric() {
			for _, l := range v.GetLabel() {
				got[f.GetName()+" "+l.GetValue()] = v.GetCounter().GetValue()
			}
			got[f.GetName()] += v.GetCounter().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"a2sscan_players_total people": 556, "a2sscan_players_total bots": 3, "a2sscan_servers_counted_elsewhere_total": 1,
	} {
		if got[name] != want {
			t.Errorf("%s %v, want %v", name, got[name], want)
		}
	}
}
