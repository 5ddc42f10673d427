package scanner

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// TestScanTrace checks that Trace receives each datagram that the scan counts, in both
// directions, with its bytes and its time, including those of strangers.
func TestScanTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		ts := addresses(1)
		stranger := netip.MustParseAddrPort("127.9.9.9:1")
		n.reply(udp.Pack(stranger), testRTT/2, []byte("who?"))

		var got []string
		cfg := Config{Trace: func(now time.Duration, sent bool, addr netip.AddrPort, datagram []byte) {
			who := "stranger"
			if addr == ts[0].Addr {
				who = "target"
			}
			word := "<"
			if sent {
				word = ">"
			}
			// The time is truncated: the bucket of the rate starts empty, so the
			// first datagram goes out a moment after 0.
			got = append(got, fmt.Sprintf("%v %s %s %d",
				now.Truncate(testRTT/2), word, who, len(datagram)))
		}}
		_, st, err := run(n, cfg, ts)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"0s > target 25", "10ms < stranger 4", "20ms < target 9",
			"20ms > target 29", "20ms > target 9", "20ms > target 9",
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("traced %q, want %q first", got, want)
		}
		if counted := st.DatagramsSent() + st.DatagramsReceived(); uint64(len(got)) != counted {
			t.Errorf("traced %d datagrams, counted %d", len(got), counted)
		}
	})
}
