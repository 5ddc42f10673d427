package scanner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/wire"
)

// TestSweep checks that a scan with SweepPort still knows its silent targets when they
// answer late, and that a source with another port is foreign.
func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) {
			switch addr >> 16 % 4 {
			case 0:
				s.answer(n, addr, req)
			case 1:
				n.reply(addr, 2500*time.Millisecond, s.info)
			case 2:
				n.reply(addr+1, 2500*time.Millisecond, s.info)
			}
		}
		got, st, err := run(n, Config{SweepPort: 27015, Questions: AskInfo, Attempts: 1}, addresses(400))
		if err != nil || len(got) != 400 {
			t.Fatal(len(got), err)
		}
		checkLedger(t, st, 400)
		if st.Received[session.Late] != 100 || st.Received[session.Foreign] != 100 || st.Finished[StatusOK] != 100 {
			t.Errorf("late %d, foreign %d, ok %d", st.Received[session.Late], st.Received[session.Foreign], st.Finished[StatusOK])
		}
	})
}
