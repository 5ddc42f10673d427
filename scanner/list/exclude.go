package list

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gaissmai/bart"
)

// ExclusionConfig names the addresses to which nothing may be sent.
type ExclusionConfig struct {
	AllowReserved bool     // don't exclude the special-purpose networks
	Networks      []string // addresses, networks a.b.c.d/n and ranges a.b.c.d-e.f.g.h
	Files         []string // lists of those; a reason may follow a '#'

	// Waiting is called when a file is a named pipe that has had no writer for a
	// second. It may be nil.
	Waiting func(name string)
}

// Exclusions holds the addresses to which nothing may be sent: special-purpose
// networks, and the networks that a user or an owner wants excluded. All methods
// may be called from any goroutine at any time; those that look up an address never
// wait.
type Exclusions struct {
	cfg   ExclusionConfig
	fixed []*rule // rules that do not come from a file
	now   atomic.Pointer[ruleSet]

	reload sync.Mutex        // held while files are read, which may take long
	once   map[string][]rule // rules from pipes, which can't be read again

	mu   sync.Mutex // held while rules change
	gone []*rule    // rules that have excluded something but are no longer in any file
}

// NewExclusions reads the files of cfg. It returns an *ArgError for a bad name or
// file, and a *LineError for a bad line in a file.
func NewExclusions(cfg ExclusionConfig) (*Exclusions, error) {
	x := &Exclusions{cfg: cfg, once: map[string][]rule{}}
	for _, r := range specialPurpose {
		if !cfg.AllowReserved || r.kind == unusable {
			first, last := bounds(r.network)
			x.fixed = append(x.fixed, &rule{
				first: first, last: last, reason: r.name, source: r.source,
				kind: r.kind, counts: new(ruleCounts),
			})
		}
	}
	for _, name := range cfg.Networks {
		first, last, f := parseSpan([]byte(name))
		if f != 0 {
			return nil, &ArgError{
				Arg: show([]byte(name)), Problem: f.Error(), Err: f, Hint: exclusionHint,
			}
		}
		x.fixed = append(x.fixed, &rule{first: first, last: last, kind: named, counts: new(ruleCounts)})
	}
	return x, x.Reload()
}

const exclusionHint = "an address, a network or a range is wanted, " +
	"such as 203.0.113.7, 203.0.113.0/24 or 203.0.113.5-203.0.113.20"

// Reload reads the files again. If one of them can't be read or has a bad line, it
// returns an error and the rules stay as they are. A rule that the files still
// contain keeps its counts. Rules from a pipe stay.
func (x *Exclusions) Reload() error {
	x.reload.Lock()
	defer x.reload.Unlock()
	var named []rule
	for _, path := range x.cfg.Files {
		more, err := x.read(path)
		if err != nil {
			return err
		}
		named = append(named, more...)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	rules := slices.Clone(x.fixed)
	known := x.counted()
	for i := range named {
		r := &named[i]
		r.counts = new(ruleCounts)
		if old := known[r.key()]; old != nil {
			r.counts = old.counts
			delete(known, r.key()) // if rules are equal, the first counts
		}
		rules = append(rules, r)
	}
	old := x.now.Swap(newRuleSet(rules))
	x.retire(old, rules)
	return nil
}

// counted returns the present and past rules from files, by key, so that their
// counts can be kept.
func (x *Exclusions) counted() map[ruleKey]*rule {
	known := map[ruleKey]*rule{}
	for _, r := range slices.Backward(x.gone) {
		known[r.key()] = r
	}
	if set := x.now.Load(); set != nil {
		for _, r := range slices.Backward(set.rules[len(x.fixed):]) {
			known[r.key()] = r
		}
	}
	return known
}

// retire remembers the rules of old that are no longer in force but have excluded
// something.
func (x *Exclusions) retire(old *ruleSet, now []*rule) {
	here := map[*ruleCounts]bool{}
	for _, r := range now {
		here[r.counts] = true
	}
	before := x.gone
	if old != nil {
		before = append(before, old.rules...)
	}
	x.gone = nil
	for _, r := range before {
		if !here[r.counts] && !r.counts.nothing() {
			here[r.counts] = true
			x.gone = append(x.gone, r)
		}
	}
}

// Excluded reports whether a is excluded. It is for the sender of datagrams: an
// excluded address counts as Stopped. Only IPv4 addresses can be excluded.
func (x *Exclusions) Excluded(a netip.Addr) bool {
	_, excluded := x.Stop(a)
	return excluded
}

// Stop is Excluded, but also returns the rule.
func (x *Exclusions) Stop(a netip.Addr) (rule RuleID, excluded bool) {
	if !a.Is4() {
		return RuleID{}, false
	}
	r, found := x.now.Load().table.Lookup(a)
	if found {
		r.counts.stopped.Add(1)
	}
	return RuleID{r}, found
}

// Len returns the current number of rules.
func (x *Exclusions) Len() int { return len(x.now.Load().rules) }

// Digest returns the SHA-256 of the currently excluded networks, in hex. It does
// not depend on where and in which order the rules are written.
func (x *Exclusions) Digest() string {
	var spans []uint64
	for _, r := range x.now.Load().rules {
		spans = append(spans, uint64(r.first)<<32|uint64(r.last))
	}
	slices.Sort(spans)
	var b []byte
	for _, s := range slices.Compact(spans) {
		b = binary.BigEndian.AppendUint64(b, s)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Rule is an exclusion with the number of targets that it excluded. A target counts
// for the smallest network that contains it, and for the first rule that names that
// network.
type Rule struct {
	Network     string // a.b.c.d/n, or a range a.b.c.d-e.f.g.h
	Reason      string // from the file, if it has one; hostile text
	Source      string // where the rule comes from: "RFC 1918", a file and line, "--exclude"
	Unscannable bool   // its targets count as Unscannable, not as Excluded
	Gone        bool   // the file no longer contains it
	Targets     uint64 // excluded before From yielded them
	Stopped     uint64 // excluded by the sender, after From had yielded them
}

// Rules returns the rules that have excluded something so far, in the order in
// which they were named.
func (x *Exclusions) Rules() (out []Rule) {
	x.mu.Lock()
	defer x.mu.Unlock()
	here := x.now.Load().rules
	for i, r := range slices.Concat(here, x.gone) {
		if !r.counts.nothing() {
			s := RuleID{r}.Rule()
			s.Gone, s.Targets, s.Stopped = i >= len(here), r.counts.targets.Load(), r.counts.stopped.Load()
			out = append(out, s)
		}
	}
	return out
}

// Add adds the counts of an earlier part of a scan, or of another machine, as Rules
// returned them there. A rule that does not exist here is added as Gone.
func (x *Exclusions) Add(past []Rule) {
	x.mu.Lock()
	defer x.mu.Unlock()
	here := map[string]*rule{}
	for _, r := range slices.Backward(slices.Concat(x.now.Load().rules, x.gone)) {
		here[RuleID{r}.Rule().Key()] = r // of several rules with this key the first counts
	}
	for i := range past {
		p := &past[i]
		r := here[p.Key()]
		if r == nil {
			r = p.rule()
			here[p.Key()] = r
			x.gone = append(x.gone, r)
		}
		r.counts.targets.Add(p.Targets)
		r.counts.stopped.Add(p.Stopped)
	}
}

// Key identifies a rule, even across runs: it is the network and the source without
// the line number.
func (r Rule) Key() string {
	source := r.Source
	if i := strings.LastIndexByte(source, ':'); i >= 0 && strings.Trim(source[i+1:], "0123456789") == "" {
		source = source[:i]
	}
	return r.Network + " " + source
}

// rule returns a rule that is known only by its description.
func (r *Rule) rule() *rule {
	kind := named
	if r.Unscannable {
		kind = unusable
	}
	return &rule{described: r, kind: kind, reason: r.Reason, source: r.Source, counts: new(ruleCounts)}
}

// RuleID identifies a rule of Exclusions. When a file is read again, its rules get
// new RuleIDs.
type RuleID struct{ r *rule }

// Rule describes the rule, without its counts.
func (id RuleID) Rule() Rule {
	r := id.r
	if r.described != nil {
		s := *r.described
		s.Targets, s.Stopped = 0, 0
		return s
	}
	return Rule{Network: r.span(), Reason: r.reason, Source: r.where(), Unscannable: r.unscannable()}
}

// rule is an exclusion of consecutive addresses.
type rule struct {
	first, last uint32
	kind        ruleKind
	line        int // in the file that source names; 0: in no file
	reason      string
	source      string
	counts      *ruleCounts
	described   *Rule // set if only an earlier part of the scan had the rule
}

// ruleCounts counts what a rule excluded.
type ruleCounts struct{ targets, stopped atomic.Uint64 }

func (n *ruleCounts) nothing() bool { return n.targets.Load() == 0 && n.stopped.Load() == 0 }

// ruleKey identifies a rule from a file.
type ruleKey struct {
	file        string
	first, last uint32
}

func (r *rule) key() ruleKey { return ruleKey{r.source, r.first, r.last} }

// unscannable reports whether no server can have these addresses, as opposed to
// addresses that must not be queried.
func (r *rule) unscannable() bool { return r.kind == unusable }

// span returns the addresses as a network or a range.
func (r *rule) span() string {
	if p, ok := prefixOf(r.first, r.last); ok {
		return p.String()
	}
	return addrOf(r.first).String() + "-" + addrOf(r.last).String()
}

func (r *rule) where() string {
	switch {
	case r.line > 0:
		return r.source + ":" + strconv.Itoa(r.line)
	case r.kind == named:
		return "--exclude"
	}
	return r.source
}

// ruleSet finds the rule of an address. It is immutable.
type ruleSet struct {
	rules    []*rule
	table    bart.Table[*rule]
	segments []segment // all addresses, in order
}

// segment is the addresses from first to last, and the rule that applies to them.
type segment struct {
	first, last uint32
	rule        *rule // nil: not excluded
}

func (s *segment) len() uint64 { return uint64(s.last-s.first) + 1 }

// newRuleSet returns a set of rules. If several rules name the same network, the
// first one counts, except that a user's rule takes precedence over a
// special-purpose network.
func newRuleSet(rules []*rule) *ruleSet {
	rs := &ruleSet{rules: rules}
	for _, r := range rules {
		for p := range prefixes(r.first, r.last) {
			old, there := rs.table.Get(p)
			if !there || old.kind == reserved && r.kind == named {
				rs.table.Insert(p, r)
			}
		}
	}
	rs.segments = rs.cut()
	return rs
}

// find returns the rule that excludes ip, or nil.
func (rs *ruleSet) find(ip uint32) *rule {
	r, _ := rs.table.Lookup(addrOf(ip))
	return r
}

// cut divides the address space into segments: no rule begins or ends inside a
// segment, so all of its addresses have the same rule.
func (rs *ruleSet) cut() []segment {
	starts := []uint32{0}
	for _, r := range rs.rules {
		starts = append(starts, r.first)
		for p := range prefixes(r.first, r.last) {
			if _, last := bounds(p); last+1 != 0 {
				starts = append(starts, last+1)
			}
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	segs := make([]segment, 0, len(starts))
	for i, first := range starts {
		last := ^uint32(0)
		if i+1 < len(starts) {
			last = starts[i+1] - 1
		}
		r := rs.find(first)
		if n := len(segs); n > 0 && segs[n-1].rule == r {
			segs[n-1].last = last
			continue
		}
		segs = append(segs, segment{first, last, r})
	}
	return slices.Clip(segs)
}

// within appends the segments of the addresses from first to last.
func (rs *ruleSet) within(segs []segment, first, last uint32) []segment {
	i, _ := slices.BinarySearchFunc(rs.segments, first, func(s segment, ip uint32) int {
		return cmp.Compare(s.last, ip)
	})
	for ; i < len(rs.segments) && rs.segments[i].first <= last; i++ {
		s := rs.segments[i]
		s.first, s.last = max(s.first, first), min(s.last, last)
		segs = append(segs, s)
	}
	return segs
}

// LineError is the error for a bad line in a file of exclusions.
type LineError struct {
	File string // made printable
	Line int    // from 1
	Text string // the line, or its beginning; made printable
	Err  error  // a Fault
}

// Error returns file, line, fault and text.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %v: %q", e.File, e.Line, e.Err, e.Text)
}

// Unwrap returns e.Err.
func (e *LineError) Unwrap() error { return e.Err }

// read returns the rules of a file.
func (x *Exclusions) read(path string) ([]rule, error) {
	if rules, ok := x.once[path]; ok {
		return rules, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	rules, err := readRules(path, x.cfg.Waiting)
	if err == nil && !info.Mode().IsRegular() {
		x.once[path] = rules
	}
	return rules, err
}

func readRules(path string, waiting func(string)) (rules []rule, err error) {
	f, err := openPipe(context.Background(), path, waiting)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	for line := range eachLine(f, MaxLine, &err) {
		r, f := parseRule(line.text)
		switch {
		case line.long:
			f = FaultLong
		case f == 0 && r == nil:
			continue
		}
		if f != 0 {
			return nil, &LineError{show([]byte(path)), line.number, show(trimRight(line.text)), f}
		}
		r.source, r.line = path, line.number
		rules = append(rules, *r)
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	return rules, nil
}

// parseRule reads "network # reason". It returns nil for a line without a network,
// and for an IPv6 network, because nothing is ever sent to IPv6 addresses.
func parseRule(text []byte) (*rule, Fault) {
	name, reason := text, []byte(nil)
	if i := slices.Index(text, '#'); i >= 0 {
		name, reason = text[:i], trimRight(trimLeft(text[i+1:]))
	}
	name = trimRight(trimLeft(name))
	if len(name) == 0 {
		return nil, 0
	}
	first, last, f := parseSpan(name)
	if f == FaultIPv6 && isOnlyIPv6(name) {
		return nil, 0
	}
	return &rule{first: first, last: last, kind: named, reason: string(reason)}, f
}

// isOnlyIPv6 reports whether b is an IPv6 address or network and nothing else.
func isOnlyIPv6(b []byte) bool {
	if a, err := netip.ParseAddr(string(b)); err == nil {
		return a.Is6()
	}
	p, err := netip.ParsePrefix(string(b))
	return err == nil && p.Addr().Is6()
}
