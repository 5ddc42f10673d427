package simulation

import (
	"testing"

	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
)

func TestProof(t *testing.T) {
	tests := []struct {
		name   string
		report fleetjudge.Report
		want   string
		proven bool
	}{
		{"perfect", fleetjudge.Report{Servers: 9000, AsTheyAre: 9000},
			"9,000 servers: 9,000 recorded correctly, 0 wrong, 0 missing", true},
		{"wrong", fleetjudge.Report{Servers: 9000, AsTheyAre: 8999, Wrong: 1},
			"9,000 servers: 8,999 recorded correctly, 1 wrong, 0 missing", false},
		{"missing", fleetjudge.Report{Servers: 9000, AsTheyAre: 8999, Missing: 1},
			"9,000 servers: 8,999 recorded correctly, 0 wrong, 1 missing", false},
		{"lost on the way", fleetjudge.Report{Servers: 9000, AsTheyAre: 8999, Less: 1},
			"9,000 servers: 8,999 recorded correctly, 0 wrong, 0 missing, 1 incomplete, with the reason in the record", false},
		{"invented", fleetjudge.Report{Servers: 9000, AsTheyAre: 9000, Invented: 1},
			"9,000 servers: 9,000 recorded correctly, 0 wrong, 0 missing, 0 repeated, 1 invented", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Proof(test.report); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if got := Proven(test.report); got != test.proven {
				t.Errorf("proven: %v, want %v", got, test.proven)
			}
		})
	}
}
