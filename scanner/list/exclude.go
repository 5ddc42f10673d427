package list

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gaissmai/bart" // longest-prefix match, for whole lists of networks
)

// Exclusions holds the addresses to which nothing may be sent: special-purpose
// networks, and the networks that a user or their owners want excluded. All methods
// may be called from any goroutine at any time. Excluded never blocks.
type Exclusions struct {
	files []string
	note  func(string)
	fixed []span // of the sources that are no files, in the order of sources
	ipv6  *source
	now   atomic.Pointer[ruleSet]

	mu      sync.Mutex // held while files are read, which may block
	sources []*source  // special-purpose networks, networks, files, IPv6, then those that Add added
	once    map[string][]span
}

// Exclusion is a source of exclusions and counts the targets that it excluded: a
// file, a network that is not from a file, or IPv6, to which nothing is sent. A target
// counts for the smallest network that contains it and, if several sources have that
// network, for the first of them.
type Exclusion struct {
	Network     string `json:"network,omitempty"`     // a.b.c.d/n, or a range a.b.c.d-e.f.g.h; empty for a file
	Reason      string `json:"reason,omitempty"`      // from the registry; empty for a file
	Source      string `json:"source"`                // "RFC 1918", "--exclude", or the name of the file
	Unscannable bool   `json:"unscannable,omitempty"` // the targets count as Unscannable, not as Excluded
	Gone        bool   `json:"gone,omitempty"`        // only an earlier part of the scan had this source
	Targets     uint64 `json:"targets"`               // number of targets excluded before From yielded them
	Stopped     uint64 `json:"stopped"`               // number excluded by the sender, after From had yielded them
}

// source counts what an Exclusion describes.
type source struct {
	Exclusion
	kind             ruleKind
	targets, stopped atomic.Uint64
}

// ruleSet maps addresses to the sources that exclude them. It is immutable.
type ruleSet struct {
	table bart.Table[*source]
	spans []span // of all rules
}

// NewExclusions excludes the special-purpose networks, unless allowReserved is set, and
// networks: addresses, networks a.b.c.d/n and ranges a.b.c.d-e.f.g.h. It also reads
// files of these, one per line; a comment may follow a '#'. note, if it is not nil, is
// called if a file is a named pipe that has had no writer for a second.
//
// It returns an *ArgError for an invalid network or a file that can't be read, and an
// Invalid for an invalid line of a file.
func NewExclusions(allowReserved bool, networks, files []string, note func(string)) (*Exclusions, error) {
	x := &Exclusions{files: files, note: note, once: map[string][]span{}}
	for _, r := range specialPurpose {
		if !allowReserved || r.kind == unusable {
			x.fixed = append(x.fixed, spanOf(r.network))
			x.sources = append(x.sources, &source{kind: r.kind, Exclusion: Exclusion{
				Network: r.network.String(), Reason: r.name, Source: r.source, Unscannable: r.kind == unusable,
			}})
		}
	}
	for _, name := range networks {
		s, f := parseSpan([]byte(name))
		if f != "" {
			return nil, &ArgError{
				Arg: show([]byte(name)), Problem: f.Error(), Err: f,
				Hint: "an address, a network or a range is wanted, such as 203.0.113.7, 203.0.113.0/24 or 203.0.113.5-203.0.113.20",
			}
		}
		x.fixed = append(x.fixed, s)
		x.sources = append(x.sources, &source{kind: named, Exclusion: Exclusion{Network: s.String(), Source: "--exclude"}})
	}
	for _, path := range files {
		x.sources = append(x.sources, &source{kind: named, Exclusion: Exclusion{Source: path}})
	}
	x.ipv6 = &source{Exclusion: Exclusion{Network: "::/0", Reason: "IPv6", Source: "IPv4 only", Unscannable: true}}
	x.sources = append(x.sources, x.ipv6)
	_, err := x.Reload()
	return x, err
}

// Reload reads the files again. If a file can't be read or has an invalid line,
// Reload returns an error and the rules stay as they are. Rules from a pipe stay,
// because it can't be read again. Reload returns how many rules are in force.
func (x *Exclusions) Reload() (rules int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	next := &ruleSet{}
	for i, s := range x.fixed {
		next.add(s, x.sources[i])
	}
	for i, path := range x.files {
		spans, err := x.read(path)
		if err != nil {
			return 0, err
		}
		for _, s := range spans {
			next.add(s, x.sources[len(x.fixed)+i])
		}
	}
	x.now.Store(next)
	return len(next.spans), nil
}

// add adds a rule. If several rules name the same network, the first one applies,
// except that a user's rule takes precedence over a special-purpose network that
// allowReserved would allow.
func (rs *ruleSet) add(s span, from *source) {
	rs.spans = append(rs.spans, s)
	for p := range s.prefixes() {
		old, there := rs.table.Get(p)
		if !there || old.kind == reserved && from.kind == named {
			rs.table.Insert(p, from)
		}
	}
}

// find returns the source that excludes ip, or nil.
func (rs *ruleSet) find(ip uint32) *source {
	s, _ := rs.table.Lookup(addrOf(ip))
	return s
}

// Excluded reports whether a is excluded, and counts that as Stopped. It is for the
// sender of datagrams. Only IPv4 addresses can be excluded.
func (x *Exclusions) Excluded(a netip.Addr) bool {
	if !a.Is4() {
		return false
	}
	s, found := x.now.Load().table.Lookup(a)
	if found {
		s.stopped.Add(1)
	}
	return found
}

// Digest returns the SHA-256 of the currently excluded networks, in hex. It does
// not depend on the files in which the rules are written, nor on their order.
func (x *Exclusions) Digest() string {
	var spans []uint64
	for _, s := range x.now.Load().spans {
		spans = append(spans, uint64(s.first)<<32|uint64(s.last))
	}
	slices.Sort(spans)
	var b []byte
	for _, s := range slices.Compact(spans) {
		b = binary.BigEndian.AppendUint64(b, s)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Counts returns all sources with their counts, which may be zero. The order of the
// sources never changes.
func (x *Exclusions) Counts() []Exclusion {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := make([]Exclusion, len(x.sources))
	for i, s := range x.sources {
		all[i] = s.Exclusion
		all[i].Targets, all[i].Stopped = s.targets.Load(), s.stopped.Load()
	}
	return all
}

// Add adds the counts of an earlier part of the scan, or of another machine, as
// returned by Counts there. A source that x does not have is added as Gone.
func (x *Exclusions) Add(past []Exclusion) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range past {
		i := slices.IndexFunc(x.sources, func(s *source) bool { return s.Network == p.Network && s.Source == p.Source })
		if i < 0 {
			i = slices.IndexFunc(x.sources, func(s *source) bool { return s.Network == "" && s.Source == withoutLine(p.Source) })
		}
		if i < 0 {
			i = len(x.sources)
			x.sources = append(x.sources, &source{Exclusion: p})
			x.sources[i].Gone = true
		}
		x.sources[i].targets.Add(p.Targets)
		x.sources[i].stopped.Add(p.Stopped)
	}
}

// withoutLine returns the file of "file:line", as earlier versions named the source of
// each rule.
func withoutLine(source string) string {
	i := strings.LastIndexByte(source, ':')
	if i < 0 || strings.Trim(source[i+1:], "0123456789") != "" {
		return source
	}
	return source[:i]
}

// read returns the rules in the file at path. A file that is not regular, such as a
// pipe, is read only once.
func (x *Exclusions) read(path string) (spans []span, err error) {
	if spans, ok := x.once[path]; ok {
		return spans, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	f, err := openPipe(context.Background(), path, x.note)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	for line := range eachLine(f, maxLine, &err) {
		s, there, f := parseRule(line.text)
		if line.fault != "" {
			f = line.fault
		}
		if f != "" {
			return nil, Invalid{show([]byte(path)), line.number, show(bytes.TrimSpace(line.text)), f}
		}
		if there {
			spans = append(spans, s)
		}
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		x.once[path] = spans
	}
	return spans, nil
}

// parseRule parses a line "network # comment". there is false for a line without a
// network, and for an IPv6 network, because nothing is ever sent to IPv6 addresses.
func parseRule(text []byte) (s span, there bool, f fault) {
	if i := slices.Index(text, '#'); i >= 0 {
		text = text[:i]
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return span{}, false, ""
	}
	s, f = parseSpan(text)
	if f == faultIPv6 && isOnlyIPv6(text) {
		return span{}, false, ""
	}
	return s, f == "", f
}

// isOnlyIPv6 reports whether b as a whole is a valid IPv6 address or network.
func isOnlyIPv6(b []byte) bool {
	if a, err := netip.ParseAddr(string(b)); err == nil {
		return a.Is6()
	}
	p, err := netip.ParsePrefix(string(b))
	return err == nil && p.Addr().Is6()
}
