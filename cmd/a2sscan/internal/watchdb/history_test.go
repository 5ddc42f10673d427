package watchdb

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestHistory: what a page shows of a server comes from days, hours, and hours that may still
// change.
func TestHistory(t *testing.T) {
	db := must(Open(""))(t)
	defer db.Close()
	check(t, db.Add([]netip.AddrPort{addr(1), addr(2)}))
	hour := func(h int) time.Time { return start.Add(time.Duration(h) * time.Hour) }
	sample := func(up, down, people uint32) Sample {
		return Sample{UpFor: up, DownFor: down, PeopleMin: 1, PeopleMax: 9, PeopleSum: people * 60, Counts: 60}
	}
	for h := range 50 {
		check(t, db.Flush(nil, Hour{Number: hourOf(hour(h)), Ended: true, Samples: []Sample{sample(3600, 0, 5), sample(1800, 1800, 3)}}))
	}
	check(t, db.Prune(hour(72), 48*time.Hour, 400*24*time.Hour)) // the first day becomes a row
	check(t, db.Flush(nil, Hour{Number: hourOf(hour(50)), Samples: []Sample{sample(600, 0, 7), sample(0, 600, 0)}}))

	got := must(db.History(2, hour(0), hour(72)))(t)
	if len(got) != 1+26+1 {
		t.Fatalf("%d periods", len(got))
	}
	want := []Period{
		{Time: hour(0), Hours: 24, Up: 720, Down: 720, People: &People{1, 9, 3}},
		{Time: hour(24), Hours: 1, Up: 30, Down: 30, People: &People{1, 9, 3}},
		{Time: hour(50), Hours: 1, Down: 10, People: &People{1, 9, 0}},
	}
	if diff := cmp.Diff(want, []Period{got[0], got[1], got[27]}); diff != "" {
		t.Error(diff)
	}
	if got := must(db.History(2, hour(40), hour(45)))(t); len(got) != 6+1 {
		t.Errorf("%d periods of a few hours", len(got))
	}
	if got := must(db.History(77, hour(0), hour(72)))(t); len(got) != 0 {
		t.Errorf("a server that is not there: %v", got)
	}
	for _, test := range []struct {
		start      time.Time
		length     time.Duration
		up, people float64
		asked      int
	}{
		{hour(30), time.Hour, 1.5, 6.5, 2},
		{hour(0), 24 * time.Hour, 1.5, 6.5, 2},
		{hour(50), time.Hour, 1, 7, 2},
		{hour(60), time.Hour, 0, 0, 0},
	} {
		up, people, asked, err := db.Total(test.start, test.length)
		if up != test.up || people != test.people || asked != test.asked || err != nil {
			t.Errorf("%v: %v servers, %v people, %v asked, %v", test.start, up, people, asked, err)
		}
	}
}

// TestEventsOf: the latest events of a server come first.
func TestEventsOf(t *testing.T) {
	db := must(Open(""))(t)
	defer db.Close()
	for id := range int64(10) {
		check(t, db.Append([]Event{{ID: id + 1, Time: start, Addr: addr(id % 2).String(), Kind: "down"}}))
	}
	got := must(db.EventsOf(addr(1), 3))(t)
	if len(got) != 3 || got[0].ID != 10 || got[2].ID != 6 || got[0].Addr != addr(1).String() {
		t.Errorf("%+v", got)
	}
}

// TestAnswer: an answer is there, or nil.
func TestAnswer(t *testing.T) {
	db := must(Open(""))(t)
	defer db.Close()
	check(t, db.Add([]netip.AddrPort{addr(1), addr(2)}))
	check(t, db.Flush([]Server{{ID: 1, Status: Up, Answer: []byte(`{"a":1}`)}}))
	for id, want := range []string{"", `{"a":1}`, "", ""} {
		if got := must(db.Answer(int64(id)))(t); string(got) != want {
			t.Errorf("server %d: %q", id, got)
		}
	}
}
