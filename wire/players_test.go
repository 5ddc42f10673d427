package wire_test

import (
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// record returns the bytes of a player whose index is 0, score 1 and duration 2.
func record(name string) string {
	return "\x00" + name + "\x00\x01\x00\x00\x00\x00\x00\x00\x40"
}

// records returns n players without names, ten bytes each (EC-79).
func records(n int) string { return strings.Repeat(record(""), n) }

// extras returns deaths and money of n players: 3 and 2500 each.
func extras(n int) string { return strings.Repeat("\x03\x00\x00\x00\xC4\x09\x00\x00", n) }

// players returns a PLAYER reply.
func players(announced byte, rest string) string {
	return single + "D" + string([]byte{announced}) + rest
}

func TestPlayersOutcome(t *testing.T) {
	const no, yes, unknown = wire.ShipNo, wire.ShipYes, wire.ShipUnknown
	const count, trailing = wire.NotePlayersCount, wire.NotePlayersTrailing
	cut := func(s string) string { return s[:len(s)-1] }
	for _, test := range []struct {
		name, msg string
		hint      wire.ShipHint
		count     int
		ships     int // players with deaths and money
		err       error
		notes     wire.Notes
	}{
		{"only the type byte", single + "D", no, 0, 0, wire.ErrEmpty, 0},
		{"another kind", single + "E\x00\x00", no, 0, 0, wire.ErrUnexpected, 0},
		{"no kind", single, no, 0, 0, wire.ErrMalformed, 0},
		{"none", players(0, ""), no, 0, 0, nil, 0},
		{"one", players(1, record("a")), no, 1, 0, nil, 0},
		{"EC-113 no header", "D\x01" + record("a"), no, 1, 0, nil, 0},
		{"EC-114 two headers", single + players(1, record("a")), no, 1, 0, nil, 0},
		{"EC-79 no names", players(107, records(107)), no, 107, 0, nil, 0},
		{"EC-81 255 announced, none there", players(255, ""), no, 0, 0, nil, count},
		{"EC-81 255 announced, 300 there",
			players(255, records(300)), no, 300, 0, nil, count},
		{"EC-82 300 modulo 256", players(44, records(300)), no, 300, 0, nil, count},
		{"EC-74 fewer than announced", players(19, records(6)), no, 6, 0, nil, count},
		{"none announced, one there", players(0, records(1)), no, 1, 0, nil, count},
		{"EC-84 EC-91 cut",
			players(3, records(2)+cut(records(1))), no, 2, 0, wire.ErrTruncated, 0},
		{"EC-84 cut after the index",
			players(2, records(1)+"\x00"), no, 1, 0, wire.ErrTruncated, 0},
		{"EC-84 cut in the name",
			players(2, records(1)+"\x00a long enough name"), no, 1, 0, wire.ErrTruncated, 0},
		{"EC-84 cut after more than announced",
			players(1, records(2)+"\x00"), no, 2, 0, wire.ErrTruncated, 0},
		{"bytes after the announced ones",
			players(2, records(2)+"\x00\x00"), no, 2, 0, nil, trailing},

		{"EC-75 The Ship", players(7, records(7)+extras(7)), yes, 7, 7, nil, 0},
		{"EC-75 The Ship, no INFO",
			players(7, records(7)+extras(7)), unknown, 7, 7, nil, 0},
		{"EC-74 the count is too high",
			players(19, records(6)+extras(6)), yes, 6, 6, nil, count},
		{"EC-74 the count is too high, no INFO",
			players(19, records(6)+extras(6)), unknown, 10, 0, wire.ErrTruncated, 0},
		{"EC-74 the count is too low",
			players(3, records(6)+extras(6)), yes, 6, 6, nil, count},
		{"EC-74 the count is zero",
			players(0, records(6)+extras(6)), yes, 6, 6, nil, count},
		{"The Ship without players", players(0, ""), yes, 0, 0, nil, 0},
		{"The Ship without players, one announced", players(1, ""), yes, 0, 0, nil, count},
		{"The Ship without deaths and money", players(2, records(2)), yes, 2, 0, nil, 0},
		// After four of the players, 32 bytes remain. They could be deaths and
		// money of four players, but all seven announced players are there.
		{"an ordinary list on The Ship",
			players(7, records(4)+record("ab")+records(2)), yes, 7, 0, nil, 0},
		{"the same with another count",
			players(8, records(4)+record("ab")+records(2)), yes, 4, 4, nil, count},
		{"the same without INFO",
			players(4, records(4)+record("ab")+records(2)), unknown, 4, 4, nil, 0},
		{"the same on another game",
			players(4, records(4)+record("ab")+records(2)), no, 7, 0, nil, count},
		{"deaths and money are cut",
			players(2, records(2)+extras(1)+"\x00"), yes, 2, 1, wire.ErrTruncated, 0},
		{"deaths and money of the first are cut",
			players(2, records(2)+"\x00"), yes, 2, 0, wire.ErrTruncated, 0},
		{"more players than announced, no INFO",
			players(1, records(2)), unknown, 2, 0, nil, count},
		{"cut, no INFO",
			players(2, records(1)+cut(records(1))), unknown, 1, 0, wire.ErrTruncated, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := readPlayers([]byte(test.msg), test.hint)
			if len(got.all) != test.count || got.err != test.err || got.notes != test.notes {
				t.Errorf("%d players, %v, %q, want %d, %v, %q", len(got.all), got.err,
					noteWords(got.notes), test.count, test.err, noteWords(test.notes))
			}
			ships := 0
			for _, p := range got.all {
				if p.Ship {
					ships++
				}
			}
			if ships != test.ships {
				t.Errorf("%d players have deaths and money, want %d", ships, test.ships)
			}
		})
	}
}

// TestPlayersCursor checks what the cursor returns before the first Next, between
// calls and after the last.
func TestPlayersCursor(t *testing.T) {
	var ps wire.Players
	if ps.Next() || ps.Err() != nil {
		t.Errorf("the zero cursor has a player or the error %v", ps.Err())
	}
	msg := []byte(players(1, records(2)))
	check(t, ps.Reset(msg, wire.ShipNo))
	for n := range 2 {
		if ps.Count() != n || !ps.Next() {
			t.Fatalf("count %d, error %v before player %d", ps.Count(), ps.Err(), n)
		}
	}
	for range 2 {
		if ps.Next() || ps.Count() != 2 || ps.Announced() != 1 || ps.Notes() != wire.NotePlayersCount {
			t.Errorf("after the end: %d of %d, %q", ps.Count(), ps.Announced(), noteWords(ps.Notes()))
		}
	}
	err := ps.Reset([]byte(single), wire.ShipYes)
	if err != wire.ErrMalformed || ps.Next() || ps.Err() != err {
		t.Errorf("error %v, then %v", err, ps.Err())
	}
	if ps.Count() != 0 || ps.Notes() != 0 || ps.Announced() != 0 {
		t.Errorf("%d of %d, %q are left over", ps.Count(), ps.Announced(), noteWords(ps.Notes()))
	}
}
