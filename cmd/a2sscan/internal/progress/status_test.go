package progress

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// TestWatchCounting: a long dry run shows its progress in the chosen kind of status
// line.
func TestWatchCounting(t *testing.T) {
	for kind, want := range map[Kind]string{
		Text: "counting the targets: 12,345,678 so far (25%)",
		JSON: `"phase":"counting","targets":12345678,"part":0.25}`,
		None: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			s := Status{Terminal: console.New(&b), Kind: kind}
			stop := s.WatchTargets(Counting, func() (uint64, float64, bool) { return 12345678, 0.25, true })
			time.Sleep(statusInLog + 1) // on the fake clock
			stop()
			if !strings.Contains(b.String(), want) || want == "" && b.Len() > 0 {
				t.Errorf("%s: %q, want %q", kind, &b, want)
			}
		})
	}
}

// TestInLog: in a log, lines come as seldom as a command wants.
func TestInLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := 0
		s := Status{Terminal: console.New(&bytes.Buffer{}), Kind: Text, InLog: time.Minute}
		stop := s.Watch(func() string { lines++; return "" }, nil)
		time.Sleep(3*time.Minute + 1)
		stop()
		if lines != 3 {
			t.Errorf("%d lines in three minutes, want 3", lines)
		}
	})
}
