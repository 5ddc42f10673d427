package scanner

import (
	"iter"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// secondPass keeps the targets that stayed silent, 8 bytes each, until all others are
// finished; then each gets one more attempt. This tells servers that do not exist from
// servers whose datagrams were lost together: whatever made the scan lose datagrams is
// mostly over by then. The second pass has begun once plan.once is set.
type secondPass struct {
	wanted bool
	silent []uint64      // packed; elements never change, so that snapshots share them
	labels []SilentLabel // of the targets that have one; likewise
	next   int           // index into silent: the next target
	named  int           // index into labels: the first that is not before next
}

// SilentLabel is the label that a list gave a silent target.
type SilentLabel struct {
	Index       int    // in Snapshot.Silent
	Tag, Master string // as in Target
	InfoOnly    bool   // likewise
}

// SilentTargets returns the targets that wait for the second pass, with Tag and Master
// as in the list. Their Place is not set.
func (s *Snapshot) SilentTargets() iter.Seq[Target] {
	return func(yield func(Target) bool) {
		l := secondPass{silent: s.Silent, labels: s.SilentLabels, next: s.SecondPassed}
		for e, ok := l.pop(); ok; e, ok = l.pop() {
			if !yield(e.label.target(e.addr)) {
				return
			}
		}
	}
}

// push adds a target.
func (l *secondPass) push(addr uint64, lb *label) {
	if lb != nil {
		l.labels = append(l.labels, SilentLabel{len(l.silent), lb.tag, lb.master, lb.infoOnly})
	}
	l.silent = append(l.silent, addr)
}

// pop returns the next target.
func (l *secondPass) pop() (entry, bool) {
	if l.next == len(l.silent) {
		return entry{}, false
	}
	e := entry{addr: l.silent[l.next]}
	for l.named < len(l.labels) && l.labels[l.named].Index < l.next {
		l.named++
	}
	if l.named < len(l.labels) && l.labels[l.named].Index == l.next {
		lb := &l.labels[l.named]
		e.label = &label{tag: lb.Tag, master: lb.Master, challenge: wire.NoChallenge, infoOnly: lb.InfoOnly}
	}
	l.next++
	return e, true
}

// waiting returns how many targets still wait.
func (l *secondPass) waiting() int { return len(l.silent) - l.next }

// remember adds the silent targets of an earlier part of the scan.
func (l *secondPass) remember(silent iter.Seq[Target]) {
	if silent == nil {
		return
	}
	for t := range silent {
		l.push(udp.Pack(t.Addr), labelOf(&t))
	}
}

// attemptsBefore returns how many attempts a target has had before its current pass:
// none in the first pass.
func (p *plan) attemptsBefore() int {
	if !p.once {
		return 0
	}
	return 1 + p.schedule.Retries
}

// sentBefore returns how many datagrams, and bytes in all, a silent target was sent
// before the second pass. In the first pass it returns zeros.
func (p *plan) sentBefore() (datagrams, bytes uint16) {
	n := p.attemptsBefore()
	if n == 0 {
		return 0, 0
	}
	return p.sentTo(n)
}

// sentTo returns how many datagrams, and bytes in all, a silent target is sent in n
// attempts.
func (p *plan) sentTo(n int) (datagrams, bytes uint16) {
	for q := range each(lowest(p.questions)) {
		bytes = uint16(n * len(p.appendRequest(nil, q, wire.NoChallenge)))
		if p.tryPlayers && n > p.schedule.Retries {
			bytes += uint16(len(p.appendRequest(nil, wire.QuestionPlayers, wire.NoChallenge)))
			bytes -= uint16(len(p.appendRequest(nil, q, wire.NoChallenge)))
		}
	}
	return uint16(n), bytes
}
