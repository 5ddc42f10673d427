package list

import (
	"cmp"
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

// ExclusionConfig says which addresses are to be sent nothing.
type ExclusionConfig struct {
	AllowReserved bool     // the special-purpose networks are no reason
	Networks      []string // addresses, networks a.b.c.d/n and ranges a.b.c.d-e.f.g.h
	Files         []string // lists of those, with a reason behind a '#'
}

// Exclusions are the addresses that are sent nothing: those of special purpose,
// and what a user or the owner of a network wants left out. All methods may be
// called by any goroutine at any time; those that look an address up never
// wait.
type Exclusions struct {
	cfg   ExclusionConfig
	fixed []*rule // which no file names
	now   atomic.Pointer[ruleSet]

	reload sync.Mutex        // held while files are read, which may take its time
	once   map[string][]rule // what came from a pipe, which can't be read again

	mu   sync.Mutex // held while rules change
	gone []*rule    // which a file named before, and which left something out
}

// NewExclusions reads the files of cfg. Its errors say what is wrong where: an
// *ArgError for a name or a file, a *LineError for a line of a file.
func NewExclusions(cfg ExclusionConfig) (*Exclusions, error) {
	x := &Exclusions{cfg: cfg, once: map[string][]rule{}}
	for _, r := range specialPurpose {
		if !cfg.AllowReserved || r.kind == nobody {
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

// Reload reads the files again. If one of them can't be read or has a bad line
// the rules stay as they are, and the error says why. A rule that is still
// there keeps its numbers. What was read from a pipe stays.
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
			delete(known, r.key()) // of several that are named twice the first counts
		}
		rules = append(rules, r)
	}
	old := x.now.Swap(newRuleSet(rules))
	x.retire(old, rules)
	return nil
}

// counted are the rules of files, now and before, whose numbers are to be kept.
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

// retire remembers the rules of old that left something out and are no more.
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

// Excluded reports whether a is to be sent nothing. It is what the sender of
// datagrams asks: an address for which the answer is yes counts as Stopped.
// Anything but an IPv4 address is not excluded.
func (x *Exclusions) Excluded(a netip.Addr) bool {
	_, excluded := x.Stop(a)
	return excluded
}

// Stop is Excluded, and says by which rule.
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

// Len returns how many rules there are at the moment.
func (x *Exclusions) Len() int { return len(x.now.Load().rules) }

// Rule is an exclusion and what it left out. A target counts for the smallest
// network that it is in, and for the first rule that names it.
type Rule struct {
	Network     string // a.b.c.d/n, or a range a.b.c.d-e.f.g.h
	Reason      string // what it is for; as the file says, so it may be hostile text
	Source      string // where that is written: "RFC 1918", a file and line, "--exclude"
	Unscannable bool   // its targets are counted so, and not as excluded
	Gone        bool   // the file does not name it any more
	Targets     uint64 // left out when they were to be given out
	Stopped     uint64 // told to the sender: taken before they were excluded
}

// Rules returns the rules that left something out so far, in the order in
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

// Add counts what rules left out in an earlier part of a scan, or at another
// machine, as Rules told it there. A rule that is not here any more is Gone.
func (x *Exclusions) Add(past []Rule) {
	x.mu.Lock()
	defer x.mu.Unlock()
	here := map[string]*rule{}
	for _, r := range slices.Backward(slices.Concat(x.now.Load().rules, x.gone)) {
		here[RuleID{r}.Rule().Key()] = r // of several the first counts
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

// Key tells rules apart, also those of two runs: the network, and where that is
// written, without the line.
func (r Rule) Key() string {
	source := r.Source
	if i := strings.LastIndexByte(source, ':'); i >= 0 && strings.Trim(source[i+1:], "0123456789") == "" {
		source = source[:i]
	}
	return r.Network + " " + source
}

// rule is a rule that is known from what was said of it only.
func (r *Rule) rule() *rule {
	kind := named
	if r.Unscannable {
		kind = nobody
	}
	return &rule{said: r, kind: kind, reason: r.Reason, source: r.Source, counts: new(ruleCounts)}
}

// RuleID is a rule of Exclusions. Rules are equal if their RuleIDs are; one that
// was read again has another.
type RuleID struct{ r *rule }

// Rule describes the rule, without its numbers.
func (id RuleID) Rule() Rule {
	r := id.r
	if r.said != nil {
		s := *r.said
		s.Targets, s.Stopped = 0, 0
		return s
	}
	return Rule{Network: r.span(), Reason: r.reason, Source: r.where(), Unscannable: r.unscannable()}
}

// rule says why some addresses are left out.
type rule struct {
	first, last uint32
	kind        ruleKind
	line        int    // in the file that source names; 0: of no file
	reason      string //
	source      string
	counts      *ruleCounts
	said        *Rule // of a rule that an earlier part had; nil: of no other
}

// ruleCounts counts what a rule excluded.
type ruleCounts struct{ targets, stopped atomic.Uint64 }

func (n *ruleCounts) nothing() bool { return n.targets.Load() == 0 && n.stopped.Load() == 0 }

// ruleKey tells the rules of files apart.
type ruleKey struct {
	file        string
	first, last uint32
}

func (r *rule) key() ruleKey { return ruleKey{r.source, r.first, r.last} }

// unscannable reports whether the addresses can't be asked, rather than mustn't.
func (r *rule) unscannable() bool { return r.kind == nobody }

// span is how the addresses are written.
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

// ruleSet finds the rule of an address. It doesn't change.
type ruleSet struct {
	rules    []*rule
	table    bart.Table[*rule]
	segments []segment // all addresses, in order
}

// segment are the addresses from first to last, and what becomes of them.
type segment struct {
	first, last uint32
	rule        *rule // that leaves them out; nil: given out
}

func (s *segment) len() uint64 { return uint64(s.last-s.first) + 1 }

// newRuleSet makes a set of rules. Of those that name the same network the
// first counts, but what somebody named is said before what we know.
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

// find returns the rule that leaves ip out, or nil.
func (rs *ruleSet) find(ip uint32) *rule {
	r, _ := rs.table.Lookup(addrOf(ip))
	return r
}

// cut finds the segments: between two neighbouring ends of rules, one rule is
// that of all addresses.
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

// LineError is a bad line of a file of exclusions.
type LineError struct {
	File string // made fit to be shown
	Line int    // from 1
	Text string // the line, or how it begins; made fit to be shown
	Err  error  // a Fault
}

// Error is file, line, what is wrong, and the text.
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
	rules, err := readRules(path)
	if err == nil && !info.Mode().IsRegular() {
		x.once[path] = rules
	}
	return rules, err
}

func readRules(path string) (rules []rule, err error) {
	f, err := os.Open(path)
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

// parseRule reads "network # reason". It is nil for a line without a network,
// and for an IPv6 network: nothing is ever sent there.
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
	if f == FaultIPv6 && wholeIPv6(name) {
		return nil, 0
	}
	return &rule{first: first, last: last, kind: named, reason: string(reason)}, f
}

// wholeIPv6 reports whether b is an address or network of IPv6 and nothing else.
func wholeIPv6(b []byte) bool {
	if a, err := netip.ParseAddr(string(b)); err == nil {
		return a.Is6()
	}
	p, err := netip.ParsePrefix(string(b))
	return err == nil && p.Addr().Is6()
}
