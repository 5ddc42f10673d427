package main

import (
	"errors"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// TestVerdict: of several reasons to end otherwise than well the gravest
// decides.
func TestVerdict(t *testing.T) {
	full := console.Fail(console.ExitOutput, "disk full")
	tests := []struct {
		job  *job
		sum  ledger.Summary
		want int
	}{
		{&job{}, ledger.Summary{Consistent: true}, console.ExitOK},
		{&job{}, ledger.Summary{Consistent: true, Interrupted: true}, console.ExitInterrupted},
		{&job{}, ledger.Summary{Interrupted: true}, console.ExitNumbers},
		{&job{written: full}, ledger.Summary{Interrupted: true}, console.ExitOutput},
		{&job{broken: errors.New("no network")}, ledger.Summary{}, console.ExitUsage},
	}
	for _, test := range tests {
		test.job.list = new(list.List)
		if got := console.ExitCode(test.job.verdict(&test.sum)); got != test.want {
			t.Errorf("%v: exit code %d, want %d", test.job.verdict(&test.sum), got, test.want)
		}
	}
}
