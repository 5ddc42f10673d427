package list

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gaissmai/bart" // longest-prefix match
)

// Exclusions holds the addresses to which nothing may be sent: special-purpose networks,
// and the networks that the user excludes. All methods may be called from any goroutine
// at any time. Excluded never blocks.
type Exclusions struct {
	note func(string)
	ipv6 *source
	now  atomic.Pointer[bart.Table[*source]]

	mu      sync.Mutex // held while files are read, which may block
	sources []*source  // in this order: special-purpose networks, networks, files, IPv6
}

// Exclusion is a source of exclusions: a file, a network that is not from a file, or
// IPv6. Each excluded target is counted at one source: the source of the smallest network
// that contains the target. If several sources name this network, only the source whose
// rule applies counts it (see Reload).
type Exclusion struct {
	Network     string `json:"network,omitempty"`     // a.b.c.d/n, or a range a.b.c.d-e.f.g.h; empty for a file
	Reason      string `json:"reason,omitempty"`      // the network's name in IANA's registry, or "IPv6"; empty for a user's rule
	Source      string `json:"source"`                // such as "RFC 1918", "--exclude" or the name of a file
	Unscannable bool   `json:"unscannable,omitempty"` // the targets count as Unscannable, not as Excluded
	Targets     uint64 `json:"targets"`               // number of targets that From excluded
	Stopped     uint64 `json:"stopped"`               // how often Excluded reported true because of this source
}

// source is an Exclusion with its rules and its running counts.
type source struct {
	Exclusion
	rules            []span
	file             bool // the rules are from a file that Reload can read again
	targets, stopped atomic.Uint64
}

// NewExclusions excludes the special-purpose networks. If allowReserved is set, it
// excludes only those whose addresses no server can have. Its second argument holds further
// exclusions: addresses, networks a.b.c.d/n and ranges a.b.c.d-e.f.g.h.
// NewExclusions also reads files with one address, network or range per line; text after a
// '#' is a comment. If a file is a named pipe that has had no writer for a second,
// NewExclusions calls note, unless note is nil.
//
// It returns an *ArgError for an invalid network or a file that can't be read, and an
// Invalid for an invalid line of a file.
func NewExclusions(allowReserved bool, networks, files []string, note func(string)) (*Exclusions, error) {
	x := &Exclusions{note: note}
	for _, r := range specialPurpose {
		never := r[0] == "0.0.0.0/32" || r[0] == "169.254.0.0/16" // nothing on the internet has such an address
		if never || !allowReserved {
			x.sources = append(x.sources, &source{rules: []span{spanOf(netip.MustParsePrefix(r[0]))},
				Exclusion: Exclusion{Network: r[0], Reason: r[1], Source: r[2], Unscannable: never}})
		}
	}
	for _, name := range networks {
		s, f := parseSpan([]byte(name))
		if f != "" {
			return nil, &ArgError{
				Arg: show([]byte(name)), Problem: f.Error(), Err: f,
				Hint: "use an address, a network or a range, such as 203.0.113.7, 203.0.113.0/24 or 203.0.113.5-203.0.113.20",
			}
		}
		x.sources = append(x.sources, &source{rules: []span{s},
			Exclusion: Exclusion{Network: s.String(), Source: "--exclude"}})
	}
	for _, path := range files {
		x.sources = append(x.sources, &source{file: true, Exclusion: Exclusion{Source: path}})
	}
	x.ipv6 = &source{Exclusion: Exclusion{Network: "::/0", Reason: "IPv6", Source: "IPv4 only", Unscannable: true}}
	x.sources = append(x.sources, x.ipv6)
	_, err := x.Reload(false)
	return x, err
}

// Reload reads the files again, and returns how many rules are in force. If keep is set, all
// rules that are in force remain; this suits a file that somebody may still be writing. If
// Reload returns an error, the rules do not change. Rules from a pipe never change, because
// a pipe can't be read again. If several rules name the same network, the first one applies.
// But a user's rule replaces a special-purpose network that is not Unscannable.
func (x *Exclusions) Reload(keep bool) (rules int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	read, again := make([][]span, len(x.sources)), make([]bool, len(x.sources))
	for i, s := range x.sources {
		read[i] = s.rules
		if s.file {
			if read[i], again[i], err = x.read(s.Source, keep); err != nil {
				return 0, err
			}
			if keep {
				read[i] = append(read[i], s.rules...)
				slices.SortFunc(read[i], func(a, b span) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last)) })
				read[i] = slices.Compact(read[i])
			}
		}
	}
	table := new(bart.Table[*source])
	for i, s := range x.sources {
		s.rules, s.file = read[i], again[i]
		rules += len(s.rules)
		for _, rule := range s.rules {
			for p := range rule.prefixes() {
				old, there := table.Get(p)
				if !there || old.Reason != "" && !old.Unscannable && s.Reason == "" {
					table.Insert(p, s)
				}
			}
		}
	}
	x.now.Store(table)
	return rules, nil
}

// read returns the rules in the file at path, and whether the file can be read again. It
// ignores IPv6 addresses and networks, because a scan never sends to them, except those of
// IPv4-mapped addresses. If unfinished is set, somebody may still be writing the file, so read
// ignores a last line without a newline.
func (x *Exclusions) read(path string, unfinished bool) (rules []span, again bool, err error) {
	f, err := openPipe(context.Background(), path, x.note)
	if err != nil {
		return nil, false, unreadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	again = err == nil && info.Mode().IsRegular()
	for line := range eachLine(f, maxLine, &err) {
		text, _, _ := bytes.Cut(line.text, []byte("#"))
		text = bytes.TrimSpace(text)
		addr, notAddr := netip.ParseAddr(string(text))
		network, notNetwork := netip.ParsePrefix(string(text))
		switch {
		case addr.Is4In6():
			text = []byte(addr.Unmap().String())
		case network.Addr().Is4In6() && network.Bits() > 96: // ::ffff:0:0/96 itself is in lists of IPv6
			text = []byte(netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96).String())
		}
		s, fault := parseSpan(text)
		switch fault = cmp.Or(line.fault, fault); {
		case len(text) == 0 && line.fault == "", unfinished && line.last:
		case fault == faultIPv6 && (notAddr == nil || notNetwork == nil):
		case fault != "":
			return nil, false, Invalid{show([]byte(path)), line.number, show(bytes.TrimSpace(line.text)), fault}
		default:
			rules = append(rules, s)
		}
	}
	if err != nil {
		return nil, false, unreadable(path, err)
	}
	return rules, again, nil
}

func (x *Exclusions) find(ip uint32) *source {
	s, _ := x.now.Load().Lookup(addrOf(ip))
	return s
}

// Excluded reports whether an address is excluded, and if so counts it as Stopped. The
// sender of datagrams calls it. Only IPv4 addresses can be excluded.
func (x *Exclusions) Excluded(a netip.Addr) bool {
	if !a.Is4() {
		return false
	}
	s, found := x.now.Load().Lookup(a)
	if found {
		s.stopped.Add(1)
	}
	return found
}

// Digest returns the SHA-256 of the currently excluded networks, in hex. The digest does
// not depend on the order of the rules, nor on the files that contain them.
func (x *Exclusions) Digest() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var rules []uint64
	for _, s := range x.sources {
		for _, r := range s.rules {
			rules = append(rules, uint64(r.first)<<32|uint64(r.last))
		}
	}
	slices.Sort(rules)
	var b []byte
	for _, r := range slices.Compact(rules) {
		b = binary.BigEndian.AppendUint64(b, r)
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

// specialPurpose holds the entries of IANA's registry of IPv4 special-purpose
// addresses, as of 2025, and multicast. Some of these networks can be reached from
// anywhere, but the hosts there are infrastructure and not game servers.
var specialPurpose = [][3]string{ // network, name, and the document that reserves it
	{"0.0.0.0/8", "this network", "RFC 791"},
	{"0.0.0.0/32", "this host on this network", "RFC 1122"},
	{"10.0.0.0/8", "private use", "RFC 1918"},
	{"100.64.0.0/10", "shared address space", "RFC 6598"},
	{"127.0.0.0/8", "loopback", "RFC 1122"},
	{"169.254.0.0/16", "link local, and Steam's relays", "RFC 3927"},
	{"172.16.0.0/12", "private use", "RFC 1918"},
	{"192.0.0.0/24", "IETF protocol assignments", "RFC 6890"},
	{"192.0.0.0/29", "IPv4 service continuity prefix", "RFC 7335"},
	{"192.0.0.8/32", "IPv4 dummy address", "RFC 7600"},
	{"192.0.0.9/32", "port control protocol anycast", "RFC 7723"},
	{"192.0.0.10/32", "TURN anycast", "RFC 8155"},
	{"192.0.0.170/32", "NAT64/DNS64 discovery", "RFC 8880"},
	{"192.0.0.171/32", "NAT64/DNS64 discovery", "RFC 8880"},
	{"192.0.2.0/24", "documentation (TEST-NET-1)", "RFC 5737"},
	{"192.31.196.0/24", "AS112-v4", "RFC 7535"},
	{"192.52.193.0/24", "automatic multicast tunneling", "RFC 7450"},
	{"192.88.99.0/24", "deprecated (6to4 relay anycast)", "RFC 7526"},
	{"192.88.99.2/32", "6a44 relay anycast", "RFC 6751"},
	{"192.168.0.0/16", "private use", "RFC 1918"},
	{"192.175.48.0/24", "direct delegation AS112 service", "RFC 7534"},
	{"198.18.0.0/15", "benchmarking", "RFC 2544"},
	{"198.51.100.0/24", "documentation (TEST-NET-2)", "RFC 5737"},
	{"203.0.113.0/24", "documentation (TEST-NET-3)", "RFC 5737"},
	{"224.0.0.0/4", "multicast", "RFC 5771"},
	{"240.0.0.0/4", "reserved (class E)", "RFC 1112"},
	{"255.255.255.255/32", "limited broadcast", "RFC 919"},
}
