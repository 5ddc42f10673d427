package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/wire"
)

// Counts are the counts of the summary. Table has their names.
type Counts struct {
	Targets   TargetCounts   `json:"targets"`
	Datagrams DatagramCounts `json:"datagrams"`
}

// TargetCounts counts what became of the targets of a scan:
//
//	Read = Invalid + Unscannable + Excluded + Duplicate + OtherShard + OverLimit + Finished + Unfinished
//
// In JSON, it is an object of the summary.
type TargetCounts struct {
	Read        uint64
	Invalid     uint64 // lines that name no server
	Unscannable uint64 // addresses that no server can have
	NoPort      uint64 // unscannable entries that have port 0
	BadPort     uint64 // invalid lines whose port was not understood
	DefaultPort uint64 // addresses without a port
	Excluded    uint64
	Duplicate   uint64
	OtherShard  uint64
	OverLimit   uint64 // targets skipped because of --max-per-address
	Stopped     uint64 // finished targets that were excluded after the scan had queried them
	Overdue     uint64 // finished targets that a2sscan forgot for a time, because of a bug
	Finished    uint64
	Unfinished  uint64
	Unread      uint64 // entries of the list that were not read
	ByStatus    [scanner.NumStatuses]uint64
}

// DatagramCounts counts the datagrams of a scan. In JSON, it is an object of the summary.
type DatagramCounts struct {
	Sent             uint64
	SentBytes        uint64
	SentByQuestion   [wire.NumRequests]uint64
	Repeats          uint64
	SentPairs        uint64 // how many times segmentation offload sent two datagrams in one call
	PairsLost        uint64 // 1 if segmentation offload was switched off
	Received         uint64
	ReceivedBytes    uint64
	ReceivedByClass  [len(scanner.Classes)]uint64
	MatchedByKind    [len(scanner.ReplyKinds)]uint64
	ForeignByCause   [len(scanner.ForeignCauses)]uint64
	KernelDrops      uint64
	SendErrors       uint64
	SendErrorsByKind [len(scanner.SendFaults)]uint64
	Outages          uint64
	OutageMS         uint64 // total time of the outages
	SendPutOff       uint64
	Conflicts        uint64
}

func (from *Source) count() {
	s, l := from.Scan, &from.List
	from.Targets = TargetCounts{
		Read: l.Read, Invalid: l.Invalid, NoPort: l.NoPort, BadPort: l.BadPort, DefaultPort: l.DefaultPort,
		Unscannable: l.Unscannable + s.Unscannable, Excluded: l.Excluded + s.Excluded,
		Duplicate: l.Duplicate + s.Duplicate, OtherShard: l.OtherShard, OverLimit: s.OverLimit,
		Stopped: s.Stopped, Overdue: s.Overdue, Finished: s.TargetsFinished(), Unfinished: s.Unfinished,
		Unread: from.Unread, ByStatus: s.Finished,
	}
	from.Datagrams = DatagramCounts{
		Sent: s.DatagramsSent(), SentBytes: s.SentBytes, SentByQuestion: s.Sent, Repeats: s.Repeats,
		SentPairs: s.Socket.GSO, PairsLost: s.GSOStopped,
		Received: s.DatagramsReceived(), ReceivedBytes: s.RecvBytes, ReceivedByClass: s.Received,
		MatchedByKind: s.Kinds, ForeignByCause: s.Foreign, KernelDrops: s.Socket.KernelDrops,
		SendErrors: s.SendErrors, SendErrorsByKind: s.SendFaults, Outages: s.Outages,
		OutageMS: s.OutageTime / 1000, SendPutOff: s.SendAgain, Conflicts: s.Conflicts,
	}
}

// OfList returns the counts of targets for a list from which no target was queried yet.
func OfList(s list.Stats) *TargetCounts {
	from := &Source{Scan: &scanner.Stats{}, List: s}
	from.count()
	return &from.Targets
}

// Each calls do() for every counter, with its current value, unless the value is unknown.
// If a counter has words, Each calls do() for each word.
func Each(from *Source, do func(row *Counter, v float64, word string)) {
	from.count()
	for i := range Table {
		row := &Table[i]
		for word, n := range row.Counts(from) {
			do(row, float64(*n), word)
		}
		if row.Value == nil {
			continue
		}
		if v := row.Value(from); !math.IsNaN(v) {
			do(row, v, "")
		}
	}
}

// Counts yields each word of the counter with its count. A counter without words has one
// count, with the word "".
func (row *Counter) Counts(s *Source) iter.Seq2[string, *uint64] {
	return func(yield func(string, *uint64) bool) {
		if row.Count != nil {
			yield("", row.Count(s))
		} else if row.Parts != nil {
			parts := row.Parts(s)
			for i := range parts {
				if row.Words[i] != "" && !yield(row.Words[i], &parts[i]) {
					return
				}
			}
		}
	}
}

// Differences describes the counts that should be the same in two shards of a scan, but
// differ. The last two arguments are the names of the shards.
func Differences(one, two *Counts, a, b string) (all []string) {
	for i := range Table {
		if row := &Table[i]; row.Kind == Shared {
			n, m := *row.Count(&Source{Counts: *one}), *row.Count(&Source{Counts: *two})
			if n != m {
				all = append(all, fmt.Sprintf("the count %q of targets is %d in %s, but %d in %s", row.Name, n, a, m, b))
			}
		}
	}
	return all
}

// By returns a map from words to counts. It omits a count whose word is empty.
func By(words []string, counts []uint64) map[string]uint64 {
	by := map[string]uint64{}
	for i, n := range counts {
		if words[i] != "" {
			by[words[i]] = n
		}
	}
	return by
}

// Add adds the counts of another shard of the same scan.
func (c *Counts) Add(other *Counts) {
	to, from := &Source{Counts: *c}, &Source{Counts: *other}
	for i := range Table {
		row := &Table[i]
		if row.Section == NoSection {
			continue
		}
		more := maps.Collect(row.Counts(from))
		for word, n := range row.Counts(to) {
			switch row.Kind {
			case Sum:
				*n += *more[word]
			case Shared, Flag:
				*n = max(*n, *more[word])
			case Own:
				*n = 0
			}
		}
	}
	*c = to.Counts
}

// MarshalJSON encodes the counts in the order of Table.
func (t TargetCounts) MarshalJSON() ([]byte, error) { return encode(InTargets, Counts{Targets: t}) }

// MarshalJSON encodes the counts in the order of Table.
func (d DatagramCounts) MarshalJSON() ([]byte, error) {
	return encode(InDatagrams, Counts{Datagrams: d})
}

// UnmarshalJSON decodes what MarshalJSON returned. It ignores keys that are not counters.
func (t *TargetCounts) UnmarshalJSON(text []byte) error {
	c, err := decode(InTargets, text)
	*t = c.Targets
	return err
}

// UnmarshalJSON decodes what MarshalJSON returned. It ignores keys that are not counters.
func (d *DatagramCounts) UnmarshalJSON(text []byte) error {
	c, err := decode(InDatagrams, text)
	*d = c.Datagrams
	return err
}

// encode encodes the counts of a section. A counter with words becomes an object.
func encode(in Section, c Counts) ([]byte, error) {
	s, b := &Source{Counts: c}, []byte{'{'}
	for i := range Table {
		row := &Table[i]
		var value any
		switch {
		case row.Section != in:
			continue
		case row.Words != nil:
			value = By(row.Words, row.Parts(s))
		case row.Kind != Flag:
			value = *row.Count(s)
		case *row.Count(s) > 0:
			value = true
		default:
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		b = fmt.Appendf(b, "%q:%s,", row.Name, text)
	}
	return append(bytes.TrimSuffix(b, []byte(",")), '}'), nil
}

func decode(in Section, text []byte) (Counts, error) {
	var s Source
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return Counts{}, err
	}
	for i := range Table {
		row := &Table[i]
		value, err := all[row.Name], error(nil)
		switch {
		case row.Section != in || value == nil:
		case row.Words != nil:
			var by map[string]uint64
			err = json.Unmarshal(value, &by)
			for word, n := range row.Counts(&s) {
				*n = by[word]
			}
		case row.Kind == Flag:
			*row.Count(&s) = oneIf(string(value) == "true")
		default:
			err = json.Unmarshal(value, row.Count(&s))
		}
		if err != nil {
			return Counts{}, fmt.Errorf("%s: %w", row.Name, err)
		}
	}
	return s.Counts, nil
}

func (t *TargetCounts) leftOut() []reason {
	return []reason{
		{"invalid", t.Invalid}, {"unscannable", t.Unscannable}, {"excluded", t.Excluded},
		{"duplicate", t.Duplicate}, {"other shard", t.OtherShard}, {"over limit", t.OverLimit},
	}
}

type reason struct {
	words string
	n     uint64
}

// LeftOut returns how many entries were read but never queried.
func (t *TargetCounts) LeftOut() (n uint64) {
	for _, r := range t.leftOut() {
		n += r.n
	}
	return n
}

// Statuses returns the counts of finished targets by the word for their status.
func (t *TargetCounts) Statuses() map[string]uint64 { return By(statuses, t.ByStatus[:]) }

// Left returns how many targets were not finished.
func (t *TargetCounts) Left() uint64 { return t.Unfinished + t.Unread }

// Ledger formats the counts of targets as one line, in which the number read is the sum of
// all outcomes. It omits zero counts, except the number of unfinished targets.
func (t *TargetCounts) Ledger() string {
	s := console.Grouped(t.Read) + " read = "
	if t.Unread > 0 { // the scan ended before it had read the complete list
		s = console.Grouped(t.Read+t.Unread) + " = "
	}
	return s + t.Accounted() + console.Grouped(t.Left()) + " unfinished"
}

// Accounted formats the nonzero counts of all outcomes except unfinished, as the
// beginning of the sum in Ledger.
func (t *TargetCounts) Accounted() (s string) {
	for _, r := range append(t.leftOut(), reason{"finished", t.Finished}) {
		if r.n > 0 {
			s += console.Grouped(r.n) + " " + r.words + " + "
		}
	}
	return s
}

// Outcome describes what became of the targets, without zero counts.
func (t *TargetCounts) Outcome() string {
	s := console.Grouped(t.Finished) + " asked"
	by := t.Statuses()
	by["silent"] = t.ByStatus[scanner.StatusNoReply] + t.ByStatus[scanner.StatusUnreachable]
	if parts := console.Listed(by, []string{"ok", "partial", "error", "silent"}, ", "); parts != "" {
		s += ": " + parts
	}
	if n := t.Left(); n > 0 {
		s += "; " + console.Grouped(n) + " not finished"
	}
	if n := t.LeftOut(); n > 0 {
		var reasons []string
		bad := min(t.Invalid, t.BadPort)
		if bad > 0 {
			reasons = append(reasons, console.Grouped(bad)+" with an invalid port")
		}
		for _, r := range t.leftOut() {
			if r.words == "invalid" {
				r.n -= bad
			}
			if r.n > 0 {
				reasons = append(reasons, console.Grouped(r.n)+" "+r.words)
			}
		}
		s += "; " + console.Grouped(n) + " left out: " + strings.Join(reasons, ", ")
	}
	return s + t.AtDefault()
}

// AtDefault describes how many addresses had no port. It returns "" if every address had a
// port.
func (t *TargetCounts) AtDefault() (s string) {
	if t.DefaultPort > 0 {
		s = "; " + console.Grouped(t.DefaultPort) + " without a port, queried at 27015"
	}
	return s
}

// Undone reports, in words, how many targets were not finished.
func (t *TargetCounts) Undone() string {
	switch n := console.Grouped(t.Left()); {
	case t.Unread > 0:
		return fmt.Sprintf("%s of %s targets left unfinished", n, console.Grouped(t.Read+t.Unread))
	case n == "1":
		return "1 target was not finished"
	default:
		return n + " targets were not finished"
	}
}

// contradictions describes the counts that should be equal but are not.
func contradictions(sum *Summary, from *Source) (bad []string) {
	t, d, socket := &sum.Targets, &sum.Datagrams, &from.Scan.Socket
	for _, c := range []struct {
		format string
		a, b   uint64
	}{
		{"targets: %d read, but %d accounted for", t.Read, t.LeftOut() + t.Finished + t.Unfinished},
		{"targets: %d finished, but %d with a status", t.Finished, total(t.ByStatus[:])},
		{"datagrams: %d sent, but %d counted by the socket", d.Sent, socket.Sent},
		{"datagrams: %d received, but %d counted by the socket", d.Received, socket.Received},
		{"datagrams: %d matched, but %d with a kind", By(scanner.Classes[:], d.ReceivedByClass[:])["matched"], total(d.MatchedByKind[:])},
	} {
		if c.a != c.b {
			bad = append(bad, fmt.Sprintf(c.format, c.a, c.b))
		}
	}
	return bad
}

func total(counts []uint64) (n uint64) {
	for _, v := range counts {
		n += v
	}
	return n
}
