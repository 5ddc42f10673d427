package main

import (
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

func TestStatusLine(t *testing.T) {
	read, known, given := 0.0, false, uint64(0)
	p := &progress{
		input: func() (float64, bool) { return read, known },
		given: func() uint64 { return given },
	}

	var s scanner.Stats
	s.Elapsed = time.Second
	s.Sent[0], s.Received[scanner.ClassMatched] = 5000, 4000
	s.Open = 700
	s.Wait = scanner.WaitInFlight
	check := func(want string) {
		t.Helper()
		if got := p.line(s); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	check("0:01; sent 5000, 5k/s; received 4000, 4k/s; answered 0 (–); open 700; drops 0; " +
		"waiting for answers, too many targets are open")

	// The length of the input is known now: half of it was read, and half of
	// that is finished.
	read, known = 0.5, true
	s.Taken = 5000
	s.Elapsed = 3 * time.Second
	s.Sent[1], s.Received[scanner.ClassForeign] = 3000, 1000
	s.Finished[scanner.StatusOK], s.Finished[scanner.StatusNoReply] = 1500, 1000
	s.Wait = scanner.WaitAddress
	s.Held, s.HeldAddrs, s.Socket.KernelDrops = 12, 3, 9
	check("0:03 25% (0:09 left); sent 8000, 1.5k/s; received 5000, 500/s; answered 1500 (60%); " +
		"open 700; drops 9; waiting for addresses at their limit; 12 held back on 3 addresses")

	// The same moment again: no rate can be told.
	s.Wait, s.Held = scanner.WaitNothing, 0
	check("0:03 25% (0:09 left); sent 8000; received 5000; answered 1500 (60%); open 700; drops 9")

	// The list is read ahead of the scan: that is no progress.
	read, given = 1, 10_000
	check("0:03 25% (0:09 left); sent 8000; received 5000; answered 1500 (60%); open 700; drops 9")

	// The silent are mostly asked, and no answer, though they may yet give one.
	s.Silent = 1000
	check("0:03 32% (0:06 left); sent 8000; received 5000; answered 1500 (43%); open 700; drops 9; " +
		"1000 silent, for a second look")
}

func TestClock(t *testing.T) {
	tests := map[time.Duration]string{
		0:                             "0:00",
		1900 * time.Millisecond:       "0:01",
		754 * time.Second:             "12:34",
		25*time.Hour + 61*time.Second: "25:01:01",
	}
	for in, want := range tests {
		if got := clock(in); got != want {
			t.Errorf("clock(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	tests := map[uint64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_234_567: "1.2 MB", 5e9: "5.0 GB"}
	for in, want := range tests {
		if got := size(in); got != want {
			t.Errorf("size(%d) = %q, want %q", in, got, want)
		}
	}
}
