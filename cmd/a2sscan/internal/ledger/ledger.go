// Package ledger accounts for every target and datagram of a scan. summary.go has
// the summary, which is also the JSON file beside the output; closing.go prints the
// closing lines of a scan from it.
package ledger

import (
	"fmt"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/wire"
)

// Ledger accounts for every target of a scan. Its JSON is part of the summary file.
type Ledger struct {
	Read        uint64            `json:"read"`
	Invalid     uint64            `json:"invalid"`     // lines that name no server
	Unscannable uint64            `json:"unscannable"` // addresses that no server can have
	NoPort      uint64            `json:"no_port"`     // of the unscannable entries, those with port 0
	Excluded    uint64            `json:"excluded"`    // by special-purpose networks and --exclude
	Duplicate   uint64            `json:"duplicate"`
	OtherShard  uint64            `json:"other_shard"` // addresses that belong to other shards
	OverLimit   uint64            `json:"over_limit"`  // left out because of --max-per-address
	Stopped     uint64            `json:"stopped"`     // of the finished targets, those excluded after they were queried
	Finished    uint64            `json:"finished"`
	Unfinished  uint64            `json:"unfinished"`
	Unread      uint64            `json:"unread"`    // list entries that were not read; 0 if the size of the list is unknown
	By          map[string]uint64 `json:"by_status"` // finished targets per status
}

// New returns the ledger of a scan, from the counts of its list and of the scanner.
func New(list list.Stats, scan *scanner.Stats) Ledger {
	l := Ledger{
		Read:        list.Read,
		Invalid:     list.Invalid,
		Unscannable: list.Unscannable + scan.Unscannable,
		NoPort:      list.NoPort,
		Excluded:    list.Excluded + scan.Excluded,
		Duplicate:   list.Duplicate + scan.Duplicate,
		OtherShard:  list.OtherShard,
		OverLimit:   scan.OverLimit,
		Stopped:     scan.Stopped,
		Finished:    scan.TargetsFinished(),
		Unfinished:  scan.Unfinished,
		By:          map[string]uint64{},
	}
	for s := scanner.StatusOK; s < scanner.NumStatuses; s++ {
		l.By[s.String()] = scan.Finished[s]
	}
	return l
}

// OfList returns the ledger of a list that has not been scanned yet.
func OfList(s list.Stats) Ledger {
	return Ledger{
		Read: s.Read, Invalid: s.Invalid, Unscannable: s.Unscannable, Excluded: s.Excluded,
		Duplicate: s.Duplicate, OtherShard: s.OtherShard,
	}
}

// LeftOut returns how many entries were read but never queried.
func (l *Ledger) LeftOut() uint64 {
	return l.Invalid + l.Unscannable + l.Excluded + l.Duplicate + l.OtherShard + l.OverLimit
}

// String formats the ledger as one line. It omits zero counts, except the number of
// unfinished targets.
func (l *Ledger) String() string {
	s := console.Grouped(l.Read) + " read = "
	if l.Unread > 0 { // the scan ended before it had read the list
		s = console.Grouped(l.Read+l.Unread) + " = "
	}
	return s + l.Accounted() + console.Grouped(l.Unfinished+l.Unread) + " unfinished"
}

// Outcome describes what became of the targets, without zero counts.
func (l *Ledger) Outcome() string {
	s := console.Grouped(l.Finished) + " asked"
	by := map[string]uint64{"silent": l.By["no_reply"] + l.By["unreachable"]}
	for _, word := range []string{"ok", "partial", "error"} {
		by[word] = l.By[word]
	}
	if parts := console.Listed(by, []string{"ok", "partial", "error", "silent"}, ", "); parts != "" {
		s += ": " + parts
	}
	if n := l.Unfinished + l.Unread; n > 0 {
		s += "; " + console.Grouped(n) + " not finished"
	}
	if n := l.LeftOut(); n > 0 {
		s += "; " + console.Grouped(n) + " left out"
	}
	return s
}

// part is one count of the ledger.
type part struct {
	n    uint64
	word string
}

// parts returns all counts of the ledger except the unfinished. Together with the
// unfinished they add up to all entries read.
func (l *Ledger) parts() []part {
	return []part{
		{l.Invalid, "invalid"}, {l.Unscannable, "unscannable"}, {l.Excluded, "excluded"},
		{l.Duplicate, "duplicate"}, {l.OtherShard, "other shard"}, {l.OverLimit, "over limit"},
		{l.Finished, "finished"},
	}
}

// Accounted formats all nonzero counts except the unfinished as the beginning of a
// sum.
func (l *Ledger) Accounted() (s string) {
	for _, part := range l.parts() {
		if part.n > 0 {
			s += console.Grouped(part.n) + " " + part.word + " + "
		}
	}
	return s
}

// Undone describes how many targets were not finished.
func (l *Ledger) Undone() string {
	n := console.Grouped(l.Unfinished + l.Unread)
	if l.Unread > 0 {
		return fmt.Sprintf("%[2]s of %[1]s targets were not finished", console.Grouped(l.Read+l.Unread), n)
	}
	if l.Unfinished == 1 {
		return "1 target was not finished"
	}
	return n + " targets were not finished"
}

// Datagrams counts the datagrams of a scan by class and by kind.
type Datagrams struct {
	Sent          uint64            `json:"sent"`
	SentBytes     uint64            `json:"sent_bytes"`
	SentBy        map[string]uint64 `json:"sent_by_question"`
	Repeats       uint64            `json:"repeats"`    // requests that repeat an earlier request
	Pairs         uint64            `json:"sent_pairs"` // how many times segmentation offload sent two datagrams in one call
	PairsLost     bool              `json:"pairs_lost,omitempty"`
	SendErrors    uint64            `json:"send_errors"`
	SendFaults    map[string]uint64 `json:"send_errors_by_kind"`
	SendPutOff    uint64            `json:"send_put_off"` // times that the kernel was busy, and the scan sent the datagram later
	Received      uint64            `json:"received"`
	ReceivedBytes uint64            `json:"received_bytes"`
	ByClass       map[string]uint64 `json:"received_by_class"`
	ByKind        map[string]uint64 `json:"matched_by_kind"`
	Foreign       map[string]uint64 `json:"foreign_by_cause"`
	KernelDrops   uint64            `json:"kernel_drops"`

	ForeignReplies uint64   `json:"foreign_replies"`
	EarlyReplies   uint64   `json:"early_replies"`
	Conflicts      uint64   `json:"conflicts"`
	LateConflicts  uint64   `json:"late_conflicts"`
	LateServers    []string `json:"late_conflict_servers,omitempty"`
	Forged         bool     `json:"forged,omitempty"`
}

// CountDatagrams returns the datagram counts of a scan.
func CountDatagrams(s *scanner.Stats) Datagrams {
	d := Datagrams{
		Sent:          s.DatagramsSent(),
		SentBytes:     s.SentBytes,
		SentBy:        map[string]uint64{},
		Repeats:       s.Repeats,
		Pairs:         s.Socket.GSO,
		PairsLost:     s.GSOStopped > 0,
		SendErrors:    s.SendErrors,
		SendFaults:    map[string]uint64{},
		SendPutOff:    s.SendAgain,
		Received:      s.DatagramsReceived(),
		ReceivedBytes: s.RecvBytes,
		ByClass:       map[string]uint64{},
		ByKind:        map[string]uint64{},
		Foreign:       map[string]uint64{},
		KernelDrops:   s.Socket.KernelDrops,

		ForeignReplies: s.ForeignReplies,
		EarlyReplies:   s.EarlyReplies,
		Conflicts:      s.InfoConflicts,
		LateConflicts:  s.LateConflicts,
		Forged:         s.Forged(),
	}
	for q := range wire.Question(wire.NumRequests) {
		if n := s.Sent[q]; n > 0 || q < wire.NumQuestions {
			d.SentBy[q.String()] = n
		}
	}
	for f, n := range s.SendFaults {
		if n > 0 {
			d.SendFaults[scanner.SendFaults[f]] = n
		}
	}
	for i, class := range scanner.Classes {
		d.ByClass[class] = s.Received[i]
	}
	for i, cause := range scanner.ForeignCauses {
		d.Foreign[cause] = s.Foreign[i]
	}
	for i, kind := range scanner.ReplyKinds {
		d.ByKind[kind] = s.Kinds[i]
	}
	return d
}

// faults counts the errors of questions and replies, without zero counts.
func faults(s *scanner.Stats) map[string]uint64 {
	m := map[string]uint64{}
	for e := wire.Error(1); e < wire.NumErrors; e++ {
		if s.Errors[e] > 0 {
			m[e.String()] = s.Errors[e]
		}
	}
	return m
}

// contradictions describes the sums that should be equal but are not. Exit code 0
// promises that there are none.
func contradictions(l *Ledger, d *Datagrams, s *scanner.Stats) []string {
	var bad []string
	equal := func(what string, a, b uint64) {
		if a != b {
			bad = append(bad, fmt.Sprintf("%s: %d and %d", what, a, b))
		}
	}
	equal("targets read, and where they went", l.Read, l.LeftOut()+l.Finished+l.Unfinished)
	equal("targets finished, and their statuses", l.Finished, total(l.By))
	equal("datagrams sent, and what the socket counted", d.Sent, s.Socket.Sent)
	equal("datagrams received, and what the socket counted", d.Received, s.Socket.Received)
	equal("datagrams matched, and their kinds", d.ByClass["matched"], total(d.ByKind))
	return bad
}

func total(m map[string]uint64) (n uint64) {
	for _, v := range m {
		n += v
	}
	return n
}
