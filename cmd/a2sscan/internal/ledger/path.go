package ledger

import (
	"fmt"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Path is the part of a summary about the rate that the scan found (--rate auto).
// In a resumed scan, the rates and changes are those of the last run.
type Path struct {
	Rate      float64      `json:"rate"`              // datagrams per second, at the end of the scan
	Most      float64      `json:"rate_max"`          // the highest rate that was allowed
	Carried   float64      `json:"carried,omitempty"` // datagrams per second that the path carried when it was last full; absent: it never was
	Lost      float64      `json:"lost,omitempty"`    // fraction of first requests that was lost then
	Raised    uint64       `json:"raised"`            // how many times the rate rose
	Slowed    uint64       `json:"slowed"`            // how many times the rate fell
	Unrelated uint64       `json:"unrelated"`         // how many times loss increased but did not follow the rate
	Changes   []PathChange `json:"changes"`           // the last changes, oldest first
}

// PathChange is one change of the rate and its reason.
type PathChange struct {
	Second float64 `json:"second"` // seconds since the scan began
	From   float64 `json:"from"`   // datagrams per second
	To     float64 `json:"to"`
	Why    string  `json:"why"`
}

// whyTexts describe the reasons for a change of the rate.
var whyTexts = map[string]string{
	"clear": "no more loss than at the lower rate", "loss": "the path lost more at the higher rate",
	"drops_here":  "this machine dropped datagrams",
	"few_answers": "too few servers answer to see loss",
}

// newPath returns the Path of a scan, or nil if the scan did not find its rate
// itself.
func newPath(x *scanner.PathRate) *Path {
	if !x.On {
		return nil
	}
	p := &Path{
		Rate: x.Now, Most: x.Most, Carried: x.Carried, Lost: x.Lost,
		Raised: x.Raised, Slowed: x.Slowed, Unrelated: x.Unrelated, Changes: []PathChange{},
	}
	for _, c := range slices.Backward(x.Changes[:]) {
		if c.At > 0 {
			p.Changes = append(p.Changes, PathChange{c.At.Seconds(), c.From, c.To, c.Why})
		}
	}
	return p
}

// String formats what the path carried, and why the rate last changed, as one line.
func (p *Path) String() string {
	s := "carried all, up to " + console.Short(p.Rate) + "/s"
	if p.Carried > 0 {
		s = fmt.Sprintf("carried %s/s when it was full, and lost %.0f%% beyond that", console.Short(p.Carried), 100*p.Lost)
	}
	s += fmt.Sprintf("; the rate rose %s and fell %s", times(p.Raised), times(p.Slowed))
	if n := len(p.Changes); n > 0 {
		c := &p.Changes[n-1]
		s += fmt.Sprintf(", last to %s/s: %s", console.Short(c.To), whyTexts[c.Why])
	}
	if p.Unrelated > 0 {
		s += "; other loss did not follow the rate"
	}
	return s
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return console.Grouped(n) + " times"
}
