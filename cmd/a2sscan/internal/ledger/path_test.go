package ledger

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

// TestPathReported: the summary has what the path carried and why the rate changed.
// If the rate was given, it has no path.
func TestPathReported(t *testing.T) {
	x := scanner.PathRate{On: true, Most: 50_000, Now: 40_000, Raised: 3, Unrelated: 1}
	x.Changes[0] = scanner.RateChange{At: 3 * time.Second, From: 20_000, To: 40_000, Why: "clear"}
	x.Changes[1] = scanner.RateChange{At: 2 * time.Second, From: 10_000, To: 20_000, Why: "few_answers"}
	const clear = "carried all, up to 40k/s; the rate rose 3 times and fell 0 times, last to 40k/s: " +
		"no more loss than at the lower rate; other loss did not follow the rate"
	if got := newPath(&x).String(); got != clear {
		t.Errorf("%q", got)
	}
	if c := newPath(&x).Changes; len(c) != 2 || c[0].To != 20_000 || c[0].Why != "few_answers" || c[1].Second != 3 {
		t.Errorf("%+v", c)
	}
	x.Carried, x.Lost, x.Slowed, x.Now, x.Unrelated = 20_000, 0.05, 1, 19_400, 0
	x.Changes[0] = scanner.RateChange{At: 4 * time.Second, From: 20_000, To: 19_400, Why: "loss"}
	const full = "carried 20k/s when it was full, and lost 5% beyond that; the rate rose 3 times and fell once, " +
		"last to 19.4k/s: the path lost more at the higher rate"
	if got := newPath(&x).String(); got != full {
		t.Errorf("%q", got)
	}
	if r := NewRates(&scanner.Stats{Rate: 50_000, Path: x}); r.String() != "19.4k/s found, at most 50k/s" {
		t.Errorf("%q", r.String())
	}
	b, err := json.Marshal(&Summary{Path: newPath(&scanner.PathRate{})})
	var keys map[string]any
	if err != nil || json.Unmarshal(b, &keys) != nil || keys["path"] != nil {
		t.Errorf("%v, %v", keys["path"], err)
	}
}
