package scanrun

import (
	"errors"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// TestVerdict: if there are several errors, the most serious decides the exit code.
func TestVerdict(t *testing.T) {
	full := console.Fail(console.ExitOutput, "disk full")
	tests := []struct {
		how  outcome
		sum  ledger.Summary
		want int
	}{
		{outcome{}, ledger.Summary{Consistent: true}, console.ExitOK},
		{outcome{}, ledger.Summary{Consistent: true, Interrupted: true}, console.ExitInterrupted},
		{outcome{}, ledger.Summary{Interrupted: true}, console.ExitNumbers},
		{outcome{output: full}, ledger.Summary{Interrupted: true}, console.ExitOutput},
		{outcome{broken: errors.New("no network")}, ledger.Summary{}, console.ExitUsage},
	}
	for _, test := range tests {
		s := &Run{list: new(list.List), how: test.how}
		if got := console.ExitCode(s.verdict(&test.sum)); got != test.want {
			t.Errorf("%v: exit code %d, want %d", s.verdict(&test.sum), got, test.want)
		}
	}
}
