package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
)

// Report says how true a census of a fleet is. Servers is the sum of
// AsTheyAre, Less, Wrong and Missing.
type Report struct {
	Servers   int // places that answer
	AsTheyAre int // the record says what a perfect scan finds, or may find where timing decides
	Less      int // the record lacks something, gives the reason, and what it says is true
	Wrong     int // the record says what is not so, or lacks something without a reason
	Missing   int // no record
	Twice     int // records after the first of a place
	Invented  int // records of places that never answer

	Examples []string // some of what is not as it is, for a person; terminal-safe
}

// maxExamples bounds Report.Examples.
const maxExamples = 20

// Compare holds a census of the fleet against the truth. Next returns its
// records one after the other, each a line of JSON, and io.EOF behind the last
// (as the Next of a sink.Reader does); asked are the questions of the scan.
//
// What depends on the clock, on the input or on the way there is left aside:
// times, counts, scan, tag and raw. The error says that the census can't be
// read; the Report is nothing then.
func Compare(c Config, asked scanner.Questions, next func() ([]byte, error)) (Report, error) {
	m, err := newModel(c)
	if err != nil {
		return Report{}, err
	}
	j := judge{m: m, asked: asked, seen: make([]uint64, (m.places()+63)/64)}
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
	return j.Report, nil
}

// judge is a comparison under way.
type judge struct {
	Report
	m     *model
	asked scanner.Questions
	seen  []uint64 // a bit for each place
	said  content
	enc   sink.Encoder
	line  []byte
}

// example keeps a sentence about the server at addr.
func (j *judge) example(addr uint64, format string, args ...any) {
	if len(j.Examples) >= maxExamples {
		return
	}
	kind := "nobody"
	if n, ok := j.m.nature(addr); ok {
		kind = n.kind.String()
	}
	text := fmt.Sprintf(format, args...)
	j.Examples = append(j.Examples, fmt.Sprintf("%v (%s): %s", unpack(addr), kind, text))
}

// fields are the keys of a record and what stands behind them.
type fields map[string]json.RawMessage

// leftAside are the keys that a comparison does not look at.
var leftAside = []string{
	"schema", "scan", "ip", "port", "tag", "time", "rtt_ms", "took_ms",
	"sent", "received", "sent_bytes", "received_bytes", "raw", "derived", "geo", "master",
}

// parse reads a record, and whose it is.
func parse(line []byte) (fields, netip.AddrPort, error) {
	var f fields
	if err := json.Unmarshal(line, &f); err != nil {
		return nil, netip.AddrPort{}, err
	}
	var ip netip.Addr
	var port uint16
	if err := json.Unmarshal(f["ip"], &ip); err != nil || !ip.Is4() {
		return nil, netip.AddrPort{}, errors.New("no IPv4 address under ip")
	}
	if err := json.Unmarshal(f["port"], &port); err != nil {
		return nil, netip.AddrPort{}, fmt.Errorf("port: %w", err)
	}
	for _, key := range leftAside {
		delete(f, key)
	}
	return f, netip.AddrPortFrom(ip, port), nil
}

// record judges one record.
func (j *judge) record(line []byte) error {
	got, at, err := parse(line)
	if err != nil {
		return err
	}
	addr := pack(at)
	if claimsNothing(got) {
		return nil
	}
	i, ok := j.m.index(addr)
	if !ok {
		j.Invented++
		j.example(addr, "outside the fleet")
		return nil
	}
	if j.seen[i/64]&(1<<(i%64)) != 0 {
		j.Twice++
		j.example(addr, "a second record")
		return nil
	}
	j.seen[i/64] |= 1 << (i % 64)
	return j.judge(addr, got)
}

// claimsNothing reports whether the record says that no answer came.
func claimsNothing(f fields) bool {
	s := string(f["status"])
	return s == `"no_reply"` || s == `"unreachable"`
}

// judge judges the first record of a place in the fleet.
func (j *judge) judge(addr uint64, got fields) error {
	n, ok := j.m.nature(addr)
	e := Expect{}
	if ok {
		e = n.expect(&j.said, j.asked)
	}
	if e.Result == nil {
		j.Invented++
		j.example(addr, "never answers, but has a record")
		return nil
	}
	want := j.truth(&e)
	differ := differing(got, want)
	if len(differ) == 0 {
		j.AsTheyAre++
		return nil
	}
	d := dispute{j: j, expect: &e, hostile: n.kind.Hostile()}
	why, err := d.settle(got, want)
	switch {
	case err != nil:
		return err
	case why != "":
		j.Wrong++
		j.example(addr, "%s; %s", why, show(differ, got, want))
	case e.Allowed != [len(e.Allowed)]ErrorSet{}:
		j.AsTheyAre++ // timing decides
	default:
		j.Less++
		j.example(addr, "less than there is; %s", show(differ, got, want))
	}
	return nil
}

// truth returns the record of a perfect scan.
func (j *judge) truth(e *Expect) fields {
	j.line = j.enc.Append(j.line[:0], "", e.Result)
	f, _, err := parse(j.line)
	if err != nil {
		panic("fleet: sink wrote a record that is none: " + err.Error())
	}
	return f
}

// missing counts the servers that have no record.
func (j *judge) missing() {
	for i := range j.m.places() {
		addr := j.m.place(i)
		n, ok := j.m.nature(addr)
		if !ok || n.kind == Silent || n.kind == OtherPort || n.kind == OtherAddress {
			continue
		}
		if !j.asked.Has(wire.QuestionInfo) && n.expect(&j.said, j.asked).Result == nil {
			continue // INFO alone is answered by all
		}
		j.Servers++
		if j.seen[i/64]&(1<<(i%64)) == 0 {
			j.Missing++
			j.example(addr, "no record")
		}
	}
}

// differing returns the keys in which two records differ, sorted.
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

// shown is how much of a value an example shows.
const shown = 70

// show names the keys that differ and shows the first values.
func show(keys []string, got, want fields) string {
	text := fmt.Sprintf("%d keys differ:", len(keys))
	for i, k := range keys {
		if i < 2 {
			text += fmt.Sprintf(" %s is %s, truth %s,", strconv.QuoteToASCII(k), short(got[k], want[k]), short(want[k], got[k]))
		} else {
			text += " " + strconv.QuoteToASCII(k)
		}
	}
	return text
}

// short returns v from a little before where it begins to differ from other,
// safe for a terminal.
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

// subset reports whether every entry of a is one of b.
func subset(a, b map[string]any) bool {
	for k, v := range a {
		if w, ok := b[k]; !ok || !equal(v, w) {
			return false
		}
	}
	return true
}

// without returns a copy of m that lacks a key.
func without(m map[string]any, key string) map[string]any {
	m = maps.Clone(m)
	delete(m, key)
	return m
}
