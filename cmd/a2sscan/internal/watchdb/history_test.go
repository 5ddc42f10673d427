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
		check(t, db.Flush(nil, nil, ended(hourOf(hour(h)), sample(3600, 0, 5), sample(1800, 1800, 3))...))
	}
	check(t, db.Prune(hour(72), 48*time.Hour, 400*24*time.Hour)) // the first day becomes a row
	check(t, db.Flush(nil, nil, Hour{Number: hourOf(hour(50)), Samples: []Sample{sample(600, 0, 7), sample(0, 600, 0)}}))

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
}

// TestTotals: totals are means of the minutes of a step, and are kept for a month.
func TestTotals(t *testing.T) {
	db := must(Open(""))(t)
	defer db.Close()
	for minute, up := range map[int]int{-32 * 24 * 60: 1, 0: 2, 3: 5, 5: 7} {
		check(t, db.Count(start.Add(time.Duration(minute)*time.Minute), up, 10*up))
	}
	check(t, db.Prune(start, time.Hour, time.Hour))
	got := must(db.Totals(start.AddDate(-1, 0, 0), 5*time.Minute))(t)
	if diff := cmp.Diff([]Total{{start.Unix(), 3.5, 35}, {start.Unix() + 300, 7, 70}}, got); diff != "" {
		t.Error(diff)
	}
	if got := must(db.Totals(start.Add(4*time.Minute), 5*time.Minute))(t); len(got) != 1 {
		t.Errorf("since a moment: %v", got)
	}
}

// TestEventsOf: the latest events of a server come first.
func TestEventsOf(t *testing.T) {
	db := must(Open(""))(t)
	defer db.Close()
	for id := range int64(10) {
		check(t, db.Flush([]Event{{ID: id + 1, Time: start, Addr: addr(id % 2).String(), Kind: "down"}}, nil))
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
	check(t, db.Flush(nil, []Server{{ID: 1, Status: Up, Answer: []byte(`{"a":1}`)}}))
	for id, want := range []string{"", `{"a":1}`, "", ""} {
		if got := must(db.Answer(int64(id)))(t); string(got) != want {
			t.Errorf("server %d: %q", id, got)
		}
	}
}
