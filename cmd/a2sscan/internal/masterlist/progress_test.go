package masterlist

import (
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/master"
)

// TestProgress: the status line fits into 80 columns, and the remaining wait is
// rounded up, so that it is never shown as 0 s.
func TestProgress(t *testing.T) {
	p := &status{start: time.Now()}
	p.start = p.start.Add(-75 * time.Second)
	for why, want := range map[string]string{
		"keeping the master's limits": "; keeping the master's limits, 1 s",
		"the master asked to wait":    "; the master asked to wait, 1 s",
	} {
		now := master.Stats{Wait: 400 * time.Millisecond, Why: why}
		now.Servers, now.Replies, now.Bytes = 12_345, 54, 75_000
		p.last, p.until = now, time.Now().Add(now.Wait)
		if got := p.line(); !strings.HasSuffix(got, want) || len(got) >= 80 {
			t.Errorf("%d columns: %s", len(got), got)
		}
	}
}
