package ledger

import (
	"fmt"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Timeouts is the part of a summary about timeouts that were learned from the round
// trips. In a resumed scan, they are those of the last run.
type Timeouts struct {
	Last     float64 `json:"last_ms"` // timeout of the first attempt, at the end of the scan
	Least    float64 `json:"least_ms"`
	Most     float64 `json:"most_ms"`
	Networks int     `json:"networks"` // /8 networks that had a timeout of their own at the end
	Reopened uint64  `json:"reopened"` // targets that answered after the scan had given them up
	Dropped  uint64  `json:"dropped,omitempty"`
}

// newTimeouts returns the Timeouts of a scan, or nil if the scan learned no
// timeouts.
func newTimeouts(x *scanner.Timeouts) *Timeouts {
	if !x.Learned {
		return nil
	}
	return &Timeouts{milliseconds(x.Now), milliseconds(x.Least), milliseconds(x.Most), x.Blocks, x.Reopened, x.Dropped}
}

func milliseconds(d time.Duration) float64 { return float64(d.Milliseconds()) }

// String formats the timeouts as one line.
func (x *Timeouts) String() string {
	parts := []string{fmt.Sprintf("%.0f ms at the end, learned", x.Last)}
	if x.Least != x.Most {
		parts[0] += fmt.Sprintf(" (%.0f to %.0f ms)", x.Least, x.Most)
	}
	if x.Networks > 0 {
		parts = append(parts, console.Plural(x.Networks, "/8 network")+" apart")
	}
	if x.Reopened > 0 {
		parts = append(parts, console.Plural(int(x.Reopened), "target")+" answered after being given up")
	}
	return strings.Join(parts, "; ")
}
