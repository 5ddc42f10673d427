package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

// A status line is due once a second on a terminal, where it replaces the one
// before, and every ten seconds in a log.
const (
	statusOnTerminal = time.Second
	statusInLog      = 10 * time.Second
)

// progress makes status lines of one scan. It remembers the numbers of the
// line before, because rates are of the time since.
type progress struct {
	input func() (part float64, known bool) // how much of it was read
	given func() uint64                     // targets in that part
	last  scanner.Stats
}

// line is the status line for these numbers, in zmap's order: time, how far,
// sent, received, answered, and what is in the way.
func (p *progress) line(s scanner.Stats) string {
	since := (s.Elapsed - p.last.Elapsed).Seconds()
	parts := []string{
		p.howFar(s),
		flow("sent", s.DatagramsSent(), p.last.DatagramsSent(), since),
		flow("received", s.DatagramsReceived(), p.last.DatagramsReceived(), since),
		fmt.Sprintf("answered %d (%s)", s.Answered(), percent(s.Answered(), s.TargetsFinished()+uint64(s.Silent))),
		fmt.Sprintf("open %d", s.Open),
		fmt.Sprintf("drops %d", s.Socket.KernelDrops),
	}
	if s.Wait != scanner.WaitNothing {
		parts = append(parts, "waiting for "+s.Wait.String())
	}
	if s.Held > 0 {
		parts = append(parts, fmt.Sprintf("%d held back on %d addresses", s.Held, s.HeldAddrs))
	}
	if s.Silent > 0 {
		parts = append(parts, fmt.Sprintf("%d silent, for a second look", s.Silent))
	}
	p.last = s
	return strings.Join(parts, "; ")
}

// howFar is the time, and share and time left where the length of the input is
// known.
func (p *progress) howFar(s scanner.Stats) string {
	elapsed := clock(s.Elapsed)
	done, known := p.input()
	if !known {
		return elapsed
	}
	// Of what was read, this much is behind us.
	passed := s.TargetsFinished() + s.Unscannable + s.Excluded + s.Duplicate + s.OverLimit
	looked := float64(s.Silent) * 3 / 4 // of their asks one is still to come
	done *= (float64(passed) + looked) / float64(max(p.given(), s.Taken, 1))
	share := fmt.Sprintf("%s %.0f%%", elapsed, 100*done)
	if done < 0.01 || done == 1 {
		return share
	}
	left := time.Duration(float64(s.Elapsed) * (1 - done) / done)
	return share + " (" + clock(left) + " left)"
}

// flow says how many there are and how many come in a second.
func flow(word string, now, before uint64, seconds float64) string {
	if seconds <= 0 {
		return fmt.Sprintf("%s %d", word, now)
	}
	return fmt.Sprintf("%s %d, %s/s", word, now, short(float64(now-before)/seconds))
}

// percent is a share of all in whole percent, and – where there is nothing.
func percent(part, all uint64) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(all))
}

// clock writes a duration as 1:02 or 1:02:03.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// watch shows status lines of a scan until stop is called, from a goroutine of
// its own, so that a slow terminal holds nothing up.
func (t *terminal) watch(m *scanner.Monitor, p *progress) (stop func()) {
	return t.repeat(t.statusEvery(), func() string { return p.line(m.Stats()) })
}

func (t *terminal) statusEvery() time.Duration {
	if t.live {
		return statusOnTerminal
	}
	return statusInLog
}

// repeat shows a line now and then until stop is called.
func (t *terminal) repeat(every time.Duration, line func() string) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				t.show(line())
			}
		}
	}()
	return func() {
		close(done)
		<-gone
		t.clear()
	}
}
