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

// ExclusionConfig says which addresses are excluded, that is, never sent anything.
type ExclusionConfig struct {
	AllowReserved bool     // don't exclude the special-purpose networks
	Networks      []string // addresses, networks a.b.c.d/n and ranges a.b.c.d-e.f.g.h
	Files         []string // files of these, one per line; a reason may follow a '#'

	// Waiting is called with the name of a file that is a named pipe, if the pipe
	// has had no writer for a second. It may be nil.
	Waiting func(name string)
}

// Exclusions holds the addresses to which nothing may be sent: special-purpose
// networks, and the networks that a user or their owners want excluded. All methods
// may be called from any goroutine at any time. Excluded and Stop never block.
type Exclusions struct {
	cfg   ExclusionConfig
	fixed []*rule // rules that do not come from a file
	now   atomic.Pointer[ruleSet]

	reload sync.Mutex        // held while files are read, which may block
	once   map[string][]rule // by path: rules from pipes, which can't be read again

	mu   sync.Mutex // held while rules change
	gone []*rule    // rules that have excluded something but are no longer in force
}

// NewExclusions reads the files of cfg. It returns an *ArgError for an invalid
// network or a file that can't be read, and a *LineError for an invalid line of a
// file.
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

// Reload reads the files again. If a file can't be read or has an invalid line,
// Reload returns an error and the rules stay as they are. A rule that is still in
// the same file keeps its counts. Rules from a pipe stay, because it can't be read
// again.
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
			delete(known, r.key()) // of several equal rules the first keeps the counts
		}
		rules = append(rules, r)
	}
	old := x.now.Swap(newRuleSet(rules))
	x.retire(old, rules)
	return nil
}

// counted returns the current and former rules from files, by key, so that Reload
// can keep their counts.
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

// retire sets gone to the rules of old and gone that have excluded something but
// are not in now.
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

// Excluded reports whether a is excluded, and counts that as Stopped. It is for the
// sender of datagrams. Only IPv4 addresses can be excluded.
func (x *Exclusions) Excluded(a netip.Addr) bool {
	_, excluded := x.Stop(a)
	return excluded
}

// Stop does what Excluded does, and also returns the rule.
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
// not depend on the files in which the rules are written, nor on their order.
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

// Rule describes an exclusion and counts the targets that it excluded. A target
// counts for the smallest network that contains it and, if several rules name that
// network, for the first of them.
type Rule struct {
	Network     string // a.b.c.d/n, or a range a.b.c.d-e.f.g.h
	Reason      string // from the file or the registry; may be empty; hostile text
	Source      string // where the rule comes from: "RFC 1918", file:line, "--exclude"
	Unscannable bool   // the targets count as Unscannable, not as Excluded
	Gone        bool   // the rule is no longer in force
	Targets     uint64 // number of targets excluded before From yielded them
	Stopped     uint64 // number excluded by the sender, after From had yielded them
}

// Rules returns the rules that have excluded something so far: those in force in
// the order in which they were named, then those that are Gone.
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

// Add adds the counts of an earlier part of the scan, or of another machine, as
// returned by Rules there. A rule that does not exist in x is added as Gone.
func (x *Exclusions) Add(past []Rule) {
	x.mu.Lock()
	defer x.mu.Unlock()
	here := map[string]*rule{}
	for _, r := range slices.Backward(slices.Concat(x.now.Load().rules, x.gone)) {
		// If several rules have this key, the first gets the counts.
		here[RuleID{r}.Rule().Key()] = r
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

// Key identifies a rule, even across runs. It consists of the network and the
// source without its line number.
func (r Rule) Key() string {
	source := r.Source
	if i := strings.LastIndexByte(source, ':'); i >= 0 && strings.Trim(source[i+1:], "0123456789") == "" {
		source = source[:i]
	}
	return r.Network + " " + source
}

// rule returns an internal rule for a description that came from an earlier part of
// the scan or another machine.
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

// Rule returns the description of the rule; all its counts are zero.
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
	line        int // line in the file named by source; 0: not from a file
	reason      string
	source      string
	counts      *ruleCounts
	described   *Rule // set only for a rule that Add added
}

// ruleCounts counts the targets that a rule excluded: see Rule.Targets and
// Rule.Stopped.
type ruleCounts struct{ targets, stopped atomic.Uint64 }

func (n *ruleCounts) nothing() bool { return n.targets.Load() == 0 && n.stopped.Load() == 0 }

// ruleKey identifies a rule from a file, regardless of its line and reason.
type ruleKey struct {
	file        string
	first, last uint32
}

func (r *rule) key() ruleKey { return ruleKey{r.source, r.first, r.last} }

// unscannable reports whether no server can have the addresses of the rule, as
// opposed to addresses that must not be queried.
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

// ruleSet maps addresses to the rules that exclude them. It is immutable.
type ruleSet struct {
	rules    []*rule
	table    bart.Table[*rule]
	segments []segment // of the complete IPv4 address space, in ascending order
}

// segment is the addresses from first to last, and the rule that applies to them.
type segment struct {
	first, last uint32
	rule        *rule // nil: not excluded
}

func (s *segment) len() uint64 { return uint64(s.last-s.first) + 1 }

// newRuleSet returns a ruleSet of the given rules. If several rules name the same
// network, the first one applies, except that a user's rule takes precedence over a
// special-purpose network that AllowReserved would allow.
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

// cut divides the address space into segments such that all addresses of a segment
// have the same rule, and neighbouring segments have different ones.
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

// within appends to segs the segments from address first to last. The outermost
// segments are cut at these addresses.
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

// LineError is the error for an invalid line in a file of exclusions.
type LineError struct {
	File string // made printable
	Line int    // from 1
	Text string // the line, or its beginning; made printable
	Err  error  // a Fault
}

// Error returns the file, line, fault and text in one line.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %v: %q", e.File, e.Line, e.Err, e.Text)
}

// Unwrap returns e.Err.
func (e *LineError) Unwrap() error { return e.Err }

// read returns the rules in the file at path. A file that is not regular, such as a
// pipe, is read only once.
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

// parseRule parses a line "network # reason". It returns nil for a line without a
// network, and for an IPv6 network, because nothing is ever sent to IPv6 addresses.
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

// isOnlyIPv6 reports whether b as a whole is a valid IPv6 address or network.
func isOnlyIPv6(b []byte) bool {
	if a, err := netip.ParseAddr(string(b)); err == nil {
		return a.Is6()
	}
	p, err := netip.ParsePrefix(string(b))
	return err == nil && p.Addr().Is6()
}
