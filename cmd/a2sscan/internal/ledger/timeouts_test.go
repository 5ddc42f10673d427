package ledger

import (
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

func TestTimeoutsReported(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		x    scanner.Timeouts
		want string
	}{
		{scanner.Timeouts{Now: time.Second}, ""},
		{scanner.Timeouts{Learned: true, Now: 270 * ms, Least: 270 * ms, Most: 270 * ms}, "270 ms at the end, learned"},
		{scanner.Timeouts{Learned: true, Now: 270 * ms, Least: 150 * ms, Most: time.Second, Blocks: 1, Reopened: 12},
			"270 ms at the end, learned (150 to 1000 ms); 1 /8 network apart; 12 targets answered after being given up"},
	} {
		got := ""
		if sum := newTimeouts(&test.x); sum != nil {
			got = sum.String()
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.x, got, test.want)
		}
	}
}
