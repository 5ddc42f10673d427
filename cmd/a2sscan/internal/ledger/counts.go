package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// Counts maps the names of counters in a section to their values. A counter with words
// has one value per word, under the name NAME.WORD. In JSON, Counts is an object of the
// summary file.
type Counts map[string]uint64

// Read returns the values of the counters in a section.
func Read(from *Source, in Section) Counts {
	c := Counts{}
	for i := range Table {
		if row := &Table[i]; row.Section == in {
			row.Each(from, func(v float64, word string) {
				c[strings.TrimSuffix(row.Name+"."+word, ".")] = uint64(v)
			})
		}
	}
	return c
}

// OfList returns the counts of targets for a list that has not been scanned yet.
func OfList(s list.Stats) Counts { return Read(&Source{Scan: &scanner.Stats{}, List: s}, Targets) }

// Each calls do with the current value of the counter, unless the value is unknown. If
// the counter has words, Each calls do for the value of each word.
func (row *Counter) Each(from *Source, do func(v float64, word string)) {
	switch {
	case row.Count != nil:
		do(float64(row.Count(from)), "")
	case row.Value != nil:
		if v := row.Value(from); !math.IsNaN(v) {
			do(v, "")
		}
	default:
		for i, n := range row.Parts(from) {
			if row.Words[i] != "" {
				do(float64(n), row.Words[i])
			}
		}
	}
}

// N returns the value with this name.
func (c Counts) N(name string) uint64 {
	rowOf(name)
	return c[name]
}

// rowOf returns the counter that has a value with this name.
func rowOf(name string) *Counter {
	counter, _, _ := strings.Cut(name, ".")
	for i := range Table {
		if Table[i].Name == counter {
			return &Table[i]
		}
	}
	panic("no counter " + counter)
}

// By returns the values of a counter with words, by word.
func (c Counts) By(name string) map[string]uint64 {
	by := map[string]uint64{}
	for key, n := range c {
		if word, ok := strings.CutPrefix(key, name+"."); ok {
			by[word] = n
		}
	}
	return by
}

// Add adds the counts of another shard of the same scan.
func (c Counts) Add(other Counts) {
	for key, n := range other {
		switch rowOf(key).Kind {
		case Sum:
			c[key] += n
		case Shared, Flag, Level:
			c[key] = max(c[key], n)
		case Own:
			c[key] = 0
		}
	}
}

// MarshalJSON encodes the counts in the order of Table. A counter with words becomes an
// object.
func (c Counts) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := range Table {
		row := &Table[i]
		n, ok := c[row.Name]
		switch by := c.By(row.Name); {
		case len(by) > 0:
			text, err := json.Marshal(by)
			if err != nil {
				return nil, err
			}
			b = fmt.Appendf(b, "%q:%s,", row.Name, text)
		case ok && row.Kind != Flag:
			b = fmt.Appendf(b, "%q:%d,", row.Name, n)
		case n > 0:
			b = fmt.Appendf(b, "%q:true,", row.Name)
		}
	}
	return append(bytes.TrimSuffix(b, []byte(",")), '}'), nil
}

// UnmarshalJSON decodes what MarshalJSON returned. It ignores keys that are not counters.
func (c *Counts) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*c = Counts{}
	for i := range Table {
		row := &Table[i]
		value, ok := all[row.Name]
		if !ok {
			continue
		}
		var err error
		switch {
		case row.Words != nil:
			var by map[string]uint64
			err = json.Unmarshal(value, &by)
			for word, n := range by {
				(*c)[row.Name+"."+word] = n
			}
		case row.Kind == Flag:
			(*c)[row.Name] = oneIf(string(value) == "true")
		default:
			var n uint64
			err = json.Unmarshal(value, &n)
			(*c)[row.Name] = n
		}
		if err != nil {
			return fmt.Errorf("%s: %w", row.Name, err)
		}
	}
	return nil
}

// leftOut lists the counters of entries that were read but never queried.
var leftOut = []string{"invalid", "unscannable", "excluded", "duplicate", "other_shard", "over_limit"}

// LeftOut returns how many entries were read but never queried.
func (c Counts) LeftOut() (n uint64) {
	for _, name := range leftOut {
		n += c[name]
	}
	return n
}

// Left returns how many targets were not finished.
func (c Counts) Left() uint64 { return c["unfinished"] + c["unread"] }

// Ledger formats the counts of targets as one line, in which the number read is the sum of
// all outcomes. It omits zero counts, except the number of unfinished targets.
func (c Counts) Ledger() string {
	s := console.Grouped(c["read"]) + " read = "
	if c["unread"] > 0 { // the scan ended before it had read the list
		s = console.Grouped(c["read"]+c["unread"]) + " = "
	}
	return s + c.Accounted() + console.Grouped(c.Left()) + " unfinished"
}

// Accounted formats the nonzero counts of all outcomes except unfinished, as the
// beginning of the sum in Ledger.
func (c Counts) Accounted() (s string) {
	for _, name := range append(slices.Clone(leftOut), "finished") {
		if n := c[name]; n > 0 {
			s += console.Grouped(n) + " " + strings.ReplaceAll(name, "_", " ") + " + "
		}
	}
	return s
}

// Outcome describes what became of the targets, without zero counts.
func (c Counts) Outcome() string {
	s := console.Grouped(c["finished"]) + " asked"
	by := c.By("by_status")
	by["silent"] = by["no_reply"] + by["unreachable"]
	if parts := console.Listed(by, []string{"ok", "partial", "error", "silent"}, ", "); parts != "" {
		s += ": " + parts
	}
	if n := c.Left(); n > 0 {
		s += "; " + console.Grouped(n) + " not finished"
	}
	if n := c.LeftOut(); n > 0 {
		s += "; " + console.Grouped(n) + " left out: " + strings.Join(c.reasons(), ", ")
	}
	return s + c.AtDefault()
}

// reasons lists why entries were not queried, with their counts.
func (c Counts) reasons() (all []string) {
	for _, name := range leftOut {
		n := c[name]
		if bad := min(n, c["bad_port"]); name == "invalid" && bad > 0 {
			all = append(all, console.Grouped(bad)+" with an invalid port")
			n -= bad
		}
		if n > 0 {
			all = append(all, console.Grouped(n)+" "+strings.ReplaceAll(name, "_", " "))
		}
	}
	return all
}

// AtDefault describes how many addresses had no port. It returns "" if every address had a
// port.
func (c Counts) AtDefault() (s string) {
	if n := c["default_port"]; n > 0 {
		s = "; " + console.Grouped(n) + " without a port, queried at 27015"
	}
	return s
}

// Undone describes how many targets were not finished.
func (c Counts) Undone() string {
	switch n := console.Grouped(c.Left()); {
	case c["unread"] > 0:
		return fmt.Sprintf("%s of %s targets were not finished", n, console.Grouped(c["read"]+c["unread"]))
	case n == "1":
		return "1 target was not finished"
	default:
		return n + " targets were not finished"
	}
}

// contradictions describes which sums should be equal but are not. Exit code 0 promises
// that there are no contradictions.
func contradictions(sum *Summary, from *Source) (bad []string) {
	l, d, socket := sum.Targets, sum.Datagrams, &from.Scan.Socket
	for _, c := range []struct {
		format string
		a, b   uint64
	}{
		{"%d targets read, but %d accounted for", l.N("read"), l.LeftOut() + l.N("finished") + l.N("unfinished")},
		{"%d targets finished, but %d have a status", l.N("finished"), total(l.By("by_status"))},
		{"%d datagrams sent, but the socket counted %d", d.N("sent"), socket.Sent},
		{"%d datagrams received, but the socket counted %d", d.N("received"), socket.Received},
		{"%d datagrams matched, but %d have a kind", d.N("received_by_class.matched"), total(d.By("matched_by_kind"))},
	} {
		if c.a != c.b {
			bad = append(bad, fmt.Sprintf(c.format, c.a, c.b))
		}
	}
	return bad
}

func total(m map[string]uint64) (n uint64) {
	for _, v := range m {
		n += v
	}
	return n
}
