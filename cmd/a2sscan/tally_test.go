package main

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

// TestTallyJSON: a tally comes back from a checkpoint as it was, with names
// that are not UTF-8, and what is counted later does not change the copy.
func TestTallyJSON(t *testing.T) {
	ta := tally{Servers: 1, Players: 2, Bots: 3, Games: games{"a\xff": 1, "a\xfe": 2, "": 3}}
	server := &scanner.Result{Status: scanner.StatusOK, Ask: 2, RTT: time.Millisecond,
		Addr: netip.MustParseAddrPort("203.0.113.7:27015")}
	ta.add(server)
	saved := ta.clone()
	ta.addGame([]byte("a\xff"))
	ta.add(server)
	b, err := json.Marshal(&saved)
	if err != nil {
		t.Fatal(err)
	}
	var got tally
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if top := got.Busy.top(9); len(top) != 1 || top[0].Servers != 1 || got.Trips.quantiles().Servers != 1 {
		t.Errorf("%+v, %+v", got.Busy, got.Trips.quantiles())
	}
	got.Busy, got.Trips = busiest{}, roundTrips{}
	want := tally{Servers: 2, Players: 2, Bots: 3, Games: games{"a\xff": 1, "a\xfe": 2, "": 3}, AtAsk: []uint64{0, 1}}
	if !reflect.DeepEqual(got, want) || ta.Games["a\xff"] != 2 {
		t.Errorf("%+v, want %+v", got, want)
	}
}
