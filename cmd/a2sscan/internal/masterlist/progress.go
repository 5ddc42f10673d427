package masterlist

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/master"
)

type status struct {
	start time.Time
	mu    sync.Mutex
	last  master.Stats
	until time.Time // end of the current wait
}

func (p *status) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.last
	line := console.Clock(time.Since(p.start)) + "; " + counts(s)
	if s.Retries > 0 {
		line += "; " + console.Plural(s.Retries, "request") + " repeated"
	}
	if left := time.Until(p.until); left > 0 && s.Why != "" {
		line += fmt.Sprintf("; %s, %.0f s", s.Why, math.Ceil(left.Seconds()))
	}
	return line
}

func counts(s *master.Stats) string {
	where := "in " + console.Plural(int(s.Replies), "answer")
	if s.Replies == 0 && s.Servers > 0 {
		where = "from an answer that was not read completely"
	}
	return console.Plural(int(s.Servers), "server") + " " + where + ", " + console.Bytes(s.Bytes)
}

// maxCapped is the maximum number of incomplete answers that Report lists. An answer is
// incomplete if the master's cap cut it off.
const maxCapped = 10

// Report prints the counts of a list and what was unusual about the list. Its second
// argument, who, is the name of the master.
func Report(t *console.Terminal, who string, s *master.Stats) {
	t.Say("%s sent %s, after %s", who, counts(s), console.Plural(int(s.Requests), "request"))
	type amount struct {
		n    uint64
		what string // words after the number
	}
	for _, row := range []struct {
		what    string
		amounts []amount
	}{
		{"servers that cannot be queried", []amount{
			{s.Relays, "in 169.254.0.0/16, the network of Steam's relays"},
			{s.Unusable, "with address 0.0.0.0 or port 0"},
		}},
		{"left out", []amount{
			{s.Duplicates, "named more than once"}, {s.Elsewhere, "in other regions"}, {s.Invalid, "without an address"},
		}},
		{"unusual", []amount{
			{s.Retries, console.Things(s.Retries, "request") + " repeated"},
			{s.Truncated, console.Things(s.Truncated, "page") + " cut off"},
			{s.Repeated, console.Things(s.Repeated, "page") + " received twice"},
			{s.Foreign, console.Things(s.Foreign, "datagram") + " without a page"},
			{s.Odd, console.Things(s.Odd, "server") + " with a field of an unexpected type"},
		}},
	} {
		var parts []string
		for _, a := range row.amounts {
			if a.n > 0 {
				parts = append(parts, console.Grouped(a.n)+" "+a.what)
			}
		}
		if len(parts) > 0 {
			t.Say("%s: %s", row.what, strings.Join(parts, ", "))
		}
	}
	for i, c := range s.Capped {
		if i == maxCapped {
			t.Say("the list is incomplete, because the master limits its answers: %s", console.Plural(len(s.Capped)-maxCapped, "more answer"))
			break
		}
		t.Say("the list is incomplete, because the master limits its answers: %s", c)
	}
}
