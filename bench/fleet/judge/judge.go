package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Report counts the results of comparing a census of a fleet with the truth.
// Servers is the sum of AsTheyAre, Less, Wrong and Missing.
type Report struct {
	Servers   int // addresses and ports that answer
	AsTheyAre int // the record is that of a perfect scan, or timing explains how it differs
	Less      int // the record lacks something but gives the reason; the rest is correct
	Wrong     int // the record has a false statement, or lacks something without a reason
	Missing   int // no record
	Twice     int // further records of an address and port
	Invented  int // records of addresses and ports that never answer

	Examples []string // some of the differences, the worst first; safe for a terminal
}

// maxExamples is the maximum length of Report.Examples.
const maxExamples = 20

// Compare compares a census of the fleet with the truth. next returns its records
// one after the other, each a line of JSON, and io.EOF after the last (like the
// Next of a sink.Reader). asked are the questions of the scan.
//
// Compare ignores what depends on the clock, on the input or on the network path:
// times, counts, scan, tag and raw. It returns an error if the census can't be
// read; the Report is empty then.
func Compare(c fleet.Config, asked scanner.Questions, next func() ([]byte, error)) (Report, error) {
	truth, err := fleet.NewCensus(c)
	if err != nil {
		return Report{}, err
	}
	j := judge{truth: truth, lossy: c.Loss > 0, asked: asked, seen: make([]uint64, (truth.Places()+63)/64)}
	for line := 1; ; line++ {
		rec, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = j.record(rec)
		}
		if err != nil {
			return Report{}, fmt.Errorf("record %d: %w", line, err)
		}
	}
	j.missing()
	j.Examples = append(j.lies, j.lacks...)
	j.Examples = j.Examples[:min(len(j.Examples), maxExamples)]
	return j.Report, nil
}

// judge is a comparison in progress.
type judge struct {
	Report
	truth *fleet.Census
	lossy bool
	asked scanner.Questions
	seen  []uint64 // a bit for each address and port
	lies  []string // examples of false statements
	lacks []string // examples of what is missing
	enc   record.Encoder
	line  []byte
	got   []member
	want  []member
}

// example adds a sentence about the server at addr to a list of examples.
func (j *judge) example(list *[]string, addr netip.AddrPort, format string, args ...any) {
	if len(*list) >= maxExamples {
		return
	}
	kind := "no server"
	if k, ok := j.truth.Kind(addr); ok {
		kind = k.String()
	}
	text := fmt.Sprintf(format, args...)
	*list = append(*list, fmt.Sprintf("%v (%s): %s", addr, kind, text))
}

// fields maps the keys of a record to their values.
type fields map[string]json.RawMessage

// leftAside lists the keys that are ignored when two records are compared: keys
// that depend on the clock, the input or the network path; addr, which repeats ip
// and port; and hashes, game and flags, which follow from the answers and are
// missing in recordings of earlier versions (judge.meaning checks these
// separately).
var leftAside = []string{
	"addr", "rtts_ms", "hashes", "game", "flags",
	"schema", "scan", "ip", "port", "tag", "time", "rtt_ms", "took_ms",
	"sent", "received", "sent_bytes", "received_bytes", "raw", "derived", "geo", "master",
}

// parse decodes a record without the keys in leftAside.
func parse(line []byte) (fields, error) {
	var f fields
	if err := json.Unmarshal(line, &f); err != nil {
		return nil, err
	}
	maps.DeleteFunc(f, func(key string, _ json.RawMessage) bool { return isLeftAside(key) })
	return f, nil
}

func isLeftAside(key string) bool { return slices.Contains(leftAside, key) }

// record checks one record, and counts it in the Report.
func (j *judge) record(line []byte) error {
	line, addr, status, err := identifyAny(line)
	if err != nil {
		return err
	}
	switch status {
	case scanner.StatusNoReply.String(), scanner.StatusUnreachable.String():
		return nil // claims nothing
	}
	i, ok := j.truth.Index(addr)
	if !ok {
		j.Invented++
		j.example(&j.lies, addr, "outside the fleet")
		return nil
	}
	if j.seen[i/64]&(1<<(i%64)) != 0 {
		j.Twice++
		j.example(&j.lies, addr, "a second record")
		return nil
	}
	j.seen[i/64] |= 1 << (i % 64)
	return j.judge(addr, line)
}

// judge checks the first record of an address and port of the fleet.
func (j *judge) judge(addr netip.AddrPort, line []byte) error {
	e := j.truth.Expect(addr, j.asked)
	if e.Result == nil {
		j.Invented++
		j.example(&j.lies, addr, "never answers, but has a record")
		return nil
	}
	if why, err := j.meaning(addr, line, &e); err != nil || why != "" {
		j.Wrong++
		j.example(&j.lies, addr, "%s", why)
		return err
	}
	if e.Meaning {
		e = j.truth.Expect(addr, j.asked) // compute it again: meaning has reused its memory
	}
	j.line = j.enc.Append(j.line[:0], "", e.Result)
	if j.identical(line, j.line) {
		j.AsTheyAre++
		return nil
	}
	return j.differs(addr, line, &e)
}

// identical reports whether two records are the same byte for byte, apart from
// ignored keys. Most records are, and comparing bytes takes a tenth of the time of
// decoding both.
func (j *judge) identical(got, want []byte) bool {
	var ok [2]bool
	j.got, ok[0] = members(j.got[:0], got)
	j.want, ok[1] = members(j.want[:0], want)
	if !ok[0] || !ok[1] || len(j.got) != len(j.want) {
		return false
	}
	for i := range j.got {
		g, w := &j.got[i], &j.want[i]
		if !bytes.Equal(g.key, w.key) || !bytes.Equal(g.value, w.value) {
			return false
		}
	}
	return true
}

// differs checks a record that differs from that of a perfect scan, or is only
// formatted differently.
func (j *judge) differs(addr netip.AddrPort, line []byte, e *fleet.Expect) error {
	got, err := parse(line)
	if err != nil {
		return err
	}
	want, err := parse(j.line)
	if err != nil {
		return err
	}
	differ := differing(got, want)
	if len(differ) == 0 {
		j.AsTheyAre++
		return nil
	}
	d := dispute{j: j, expect: e}
	why, err := d.fault(got, want)
	switch {
	case err != nil:
		return err
	case why != "":
		j.Wrong++
		j.example(&j.lies, addr, "%s; %s", why, show(differ, got, want))
	case e.Allowed != [len(e.Allowed)]fleet.ErrorSet{}:
		j.AsTheyAre++ // its errors depend on timing
	case e.Else != nil && j.lossy && slices.Equal(differ, []string{"info"}):
		j.AsTheyAre++ // one of two answers to one question was lost: either may be missing
	default:
		j.Less++
		j.example(&j.lacks, addr, "less than there is; %s", show(differ, got, want))
	}
	return nil
}

// missing counts the servers that have no record.
func (j *judge) missing() {
	for i := range j.truth.Places() {
		addr := j.truth.Place(i)
		if !j.truth.Answers(addr, j.asked) {
			continue
		}
		j.Servers++
		if j.seen[i/64]&(1<<(i%64)) == 0 {
			j.Missing++
			j.example(&j.lacks, addr, "no record")
		}
	}
}

// differing returns the keys whose values differ between two records, sorted.
func differing(a, b fields) (keys []string) {
	for k, v := range a {
		if w, ok := b[k]; !ok || !same(v, w) {
			keys = append(keys, k)
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// shown is the maximum length of a value in an example.
const shown = 70

// show returns a list of the keys that differ, with the values of the first two.
func show(keys []string, got, want fields) string {
	text := fmt.Sprintf("%d keys differ:", len(keys))
	for i, k := range keys {
		text += " " + strconv.QuoteToASCII(k)
		if i < 2 {
			text += " is " + short(got[k], want[k]) + ", truth " + short(want[k], got[k]) + ","
		}
	}
	return text
}

// short returns a part of v, escaped for a terminal: it begins shortly before the
// point at which v and other begin to differ. If v is nil, short returns "absent".
func short(v, other json.RawMessage) string {
	if v == nil {
		return "absent"
	}
	at := 0
	for at < len(v) && at < len(other) && v[at] == other[at] {
		at++
	}
	from := max(0, at-20)
	return strconv.QuoteToASCII(string(v[from:min(len(v), from+shown)]))
}

// subset reports whether b contains every entry of a.
func subset(a, b map[string]any) bool {
	for k, v := range a {
		if w, ok := b[k]; !ok || !equal(v, w) {
			return false
		}
	}
	return true
}

// without returns a copy of m without the given key.
func without(m map[string]any, key string) map[string]any {
	m = maps.Clone(m)
	delete(m, key)
	return m
}
