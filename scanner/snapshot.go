package scanner

import (
	"iter"
	"slices"
	"time"
)

// Snapshot is the state of a scan from which another scan can resume.
type Snapshot struct {
	// Position is the number of targets that the scan has taken from the sequence. Each of
	// these targets is finished, or is in Open or in Silent, or gets no Result (see Scan).
	Position uint64
	// Place is where to resume the sequence: one more than the Place of the last
	// target taken from it.
	Place uint64
	// Open holds the targets that are being queried or wait for the limit of their address,
	// in no particular order. Their Place is not set.
	Open []Target
	// Silent holds the targets that have stayed silent in the first pass so far, as
	// address<<16 | port. The targets before index SecondPassed have begun their second pass
	// and are finished or open. Later Snapshots share this memory and append to it, so the
	// elements must not be changed.
	Silent []uint64
	// SecondPassed is how many targets in Silent have begun their second pass.
	SecondPassed int
	// SilentLabels has what the list gave for targets in Silent besides their addresses,
	// ordered by Index.
	SilentLabels []SilentLabel
	// Stats are the statistics at the time of the snapshot.
	Stats Stats
}

// SilentLabel is what the list gave for a silent target besides its address.
type SilentLabel struct {
	Index       int    // index of the target in Snapshot.Silent
	Tag, Master string // as in Target
	InfoOnly    bool   // as in Target
}

// SilentTargets returns the targets that wait for the second pass, without their Place and
// Challenge.
func (s *Snapshot) SilentTargets() iter.Seq[Target] {
	return func(yield func(Target) bool) {
		l := secondPass{silent: s.Silent, labels: s.SilentLabels, next: s.SecondPassed}
		for l.waiting() > 0 {
			if !yield(targetOf(l.pop())) {
				return
			}
		}
	}
}

func (e *engine) snapshot() *Snapshot {
	e.publish()
	stats := e.stats // for the run that resumes, an outage of now is past
	stats.OutageTime += uint64(stats.AwayFor / time.Microsecond)
	stats.Away, stats.AwayFor = 0, 0
	open := make([]Target, 0, e.open.slots.n+len(e.open.held))
	for i := range e.open.slots.all() {
		addr := e.open.slots.at(i).source()
		open = append(open, targetOf(addr, e.open.labels[addr]))
	}
	for addr := range e.open.held {
		open = append(open, targetOf(addr, e.open.labels[addr]))
	}
	second := &e.supply.second
	return &Snapshot{
		Position: e.stats.Taken,
		Place:    e.supply.list.place,
		Open:     open,
		Stats:    stats,

		Silent:       slices.Clip(second.silent),
		SilentLabels: slices.Clip(second.labels),
		SecondPassed: second.next,
	}
}
