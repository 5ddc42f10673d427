package ledger

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// TestObserver: a problem that persists is logged when it begins, and then at most
// once a minute.
func TestObserver(t *testing.T) {
	var b bytes.Buffer
	o := &Observer{Log: slog.New(console.NewLogHandler(&b)), Rate: 1000}
	var s scanner.Stats
	for second := range 361 {
		s.Elapsed, s.Rate = time.Duration(second)*time.Second, 1000
		switch {
		case second >= 250:
			s.Rate = 1100
		case second >= 100:
			s.Socket.KernelDrops += 2
			s.SendErrors++
			s.SendFaults[slices.Index(scanner.SendFaults[:], "forbidden")]++
		}
		o.sample(&s)
	}
	want := []string{
		`level=WARN msg="kernel drops" datagrams=2 in_all=2 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=1 in_all=1 kinds="1 forbidden"`,
		`level=WARN msg="kernel drops" datagrams=120 in_all=122 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=60 in_all=61 kinds="61 forbidden"`,
		`level=WARN msg="kernel drops" datagrams=120 in_all=242 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=60 in_all=121 kinds="121 forbidden"`,
		`level=INFO msg="rate changed" from=1k to=1.1k`,
		`level=WARN msg="kernel drops" datagrams=58 in_all=300 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=29 in_all=150 kinds="150 forbidden"`,
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		got = append(got, line)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
