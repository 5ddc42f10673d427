package list

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exclusionConfig is the arguments of NewExclusions.
type exclusionConfig struct {
	AllowReserved   bool
	Networks, Files []string
}

func newExclusions(cfg exclusionConfig) (*Exclusions, error) {
	return NewExclusions(cfg.AllowReserved, cfg.Networks, cfg.Files, nil)
}

// leftOut returns the sources that have excluded targets of l.
func leftOut(l *List) []Exclusion {
	return slices.DeleteFunc(l.cfg.Exclusions.Counts(), func(x Exclusion) bool { return x.Targets+x.Stopped == 0 })
}

func mustExclude(t testing.TB, cfg exclusionConfig) *Exclusions {
	t.Helper()
	x, err := newExclusions(cfg)
	check(t, err)
	return x
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// TestSpecialPurpose checks that specialPurpose contains every network of IANA's
// registry, that no entry is incomplete, and that addresses outside these networks
// are not excluded.
func TestSpecialPurpose(t *testing.T) {
	registry := strings.Fields(`0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10
		127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29
		192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32
		192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24
		192.88.99.2/32 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
		198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 255.255.255.255/32`)
	have := map[string]bool{}
	for _, r := range specialPurpose {
		have[r[0]] = true
		if p := netip.MustParsePrefix(r[0]); p != p.Masked() || r[1] == "" || r[2] == "" {
			t.Errorf("%v", r)
		}
	}
	for _, network := range registry {
		if !have[network] {
			t.Errorf("%s is not in the table", network)
		}
	}
	x := mustExclude(t, exclusionConfig{})
	for _, s := range []string{"8.8.8.8", "1.1.1.1", "192.0.1.0", "192.88.98.255", "223.255.255.255"} {
		if x.Excluded(addr(s)) {
			t.Errorf("%s is left out", s)
		}
	}
}

// TestFind compares find with a search of all rules for the smallest network that
// contains an address. Of equal networks the first rule applies, but a user's rule
// precedes a special-purpose network that AllowReserved would allow. It compares
// at both ends of every rule, at the addresses next to them, and at random addresses.
func TestFind(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		var cfg exclusionConfig
		for range r.IntN(30) {
			first := r.Uint32N(4)<<30 | r.Uint32N(256)
			last := first + r.Uint32N(200)
			cfg.Networks = append(cfg.Networks, fmt.Sprintf("%v-%v", addrOf(first), addrOf(last)))
		}
		cfg.Networks = append(cfg.Networks, "10.0.0.0/8", "0.0.0.0", "169.254.7.0/24", "255.255.255.255")
		x := mustExclude(t, cfg)
		check := func(ip uint32) {
			var want *source
			bits := -1
			for _, s := range x.sources {
				for _, rule := range s.rules {
					for p := range rule.prefixes() {
						same := p.Bits() == bits && want.Reason != "" && !want.Unscannable && s.Reason == ""
						if p.Contains(addrOf(ip)) && (p.Bits() > bits || same) {
							want, bits = s, p.Bits()
						}
					}
				}
			}
			if got := x.find(ip); got != want {
				t.Fatalf("seed %d, %v: %+v, want %+v", seed, addrOf(ip), got, want)
			}
		}
		for _, s := range x.sources {
			for _, rule := range s.rules {
				for _, ip := range []uint32{rule.first - 1, rule.first, rule.last, rule.last + 1} {
					check(ip)
				}
			}
		}
		for range 500 {
			check(r.Uint32())
		}
	}
}

func TestExclusions(t *testing.T) {
	file := writeFile(t, "nets.txt", "\xef\xbb\xbf# owners who asked\r\n\n"+
		"8.8.8.0/24 # asked on Monday \x1b[2J\r\n"+
		" 9.9.9.9#no space\n"+
		"7.0.0.5 - 7.0.0.9\n"+
		"2001:db8::/32 # nothing is sent there anyway\n"+
		"8.8.8.8/30")
	x := mustExclude(t, exclusionConfig{
		Networks: []string{"1.2.3.4", "10.1.0.0/16", "5.0.0.1-5.0.0.6"},
		Files:    []string{file},
	})
	tests := []struct {
		addr string
		from string // network, reason, source
	}{
		{"1.2.3.4", "1.2.3.4/32||--exclude"},
		{"1.2.3.5", ""},
		{"10.1.9.9", "10.1.0.0/16||--exclude"},
		{"10.2.0.0", "10.0.0.0/8|private use|RFC 1918"},
		{"5.0.0.0", ""},
		{"5.0.0.1", "5.0.0.1-5.0.0.6||--exclude"},
		{"5.0.0.6", "5.0.0.1-5.0.0.6||--exclude"},
		{"5.0.0.7", ""},
		{"8.8.8.255", "||" + file},
		{"8.8.8.11", "||" + file},
		{"9.9.9.9", "||" + file},
		{"7.0.0.9", "||" + file},
		{"7.0.0.10", ""},
		{"2001:db8::1", ""},
	}
	for _, test := range tests {
		before := x.Counts()
		if got := x.Excluded(addr(test.addr)); got != (test.from != "") {
			t.Errorf("%s: excluded %v", test.addr, got)
		}
		got := ""
		for _, r := range x.Counts() {
			if !slices.Contains(before, r) {
				got = r.Network + "|" + r.Reason + "|" + r.Source
			}
		}
		if got != test.from {
			t.Errorf("%s: %q, want %q", test.addr, got, test.from)
		}
	}
}

func TestExclusionErrors(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, text string
		want       string
		fault      fault
	}{
		{"network", "8.8.8.0/24\n# c\n8.8.8.0/33 # why", `:3: the prefix length is not a number from 0 to 32: "8.8.8.0/33 # why"`, faultNetwork},
		{"name", "example.com\r\n", `:1: not an IPv4 address: "example.com"`, faultAddress},
		{"port", "1.2.3.4:27015", `:1: an exclusion applies to all ports of an address: omit the port: "1.2.3.4:27015"`, faultNoPort},
		{"backwards", "1.2.3.4-1.2.3.3", `:1: the range ends before it begins: "1.2.3.4-1.2.3.3"`, faultRange},
		{"half a range", "1.2.3.4-", `:1: not an IPv4 address: "1.2.3.4-"`, faultAddress},
		{"range of networks", "1.2.3.4-1.2.4.0/24", `:1: not an IPv4 address: "1.2.3.4-1.2.4.0/24"`, faultAddress},
		{"no comment", "1.2.3.0/24 somebody", `:1: the prefix length is not a number from 0 to 32: "1.2.3.0/24 somebody"`, faultNetwork},
		{"IPv6", "2001:db8::/129", `:1: IPv6 addresses are not supported: "2001:db8::/129"`, faultIPv6},
		{"hostile", "\x1b[2J", `:1: not an IPv4 address: "\\x1b[2J"`, faultAddress},
		{"long", "1.2.3.4 #" + strings.Repeat("x", maxLine), `:1: the line is too long: at most 64 KiB, or 9 MiB for JSON: "`, faultLong},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(dir, "list")
			check(t, os.WriteFile(path, []byte(test.text), 0o600))
			_, err := newExclusions(exclusionConfig{Files: []string{path}})
			var line Invalid
			if !errors.As(err, &line) || !strings.HasPrefix(err.Error(), show([]byte(path))+test.want) {
				t.Fatalf("%v\nwant %s", err, test.want)
			}
			if line.Err != test.fault {
				t.Errorf("%v is not %v", err, test.fault)
			}
		})
	}
	for _, cfg := range []exclusionConfig{{Files: []string{"no-such-file"}}, {Files: []string{dir}}} {
		var path *fs.PathError
		if _, err := newExclusions(cfg); !errors.As(err, &path) {
			t.Errorf("%q: %v", cfg.Files, err)
		}
	}
	_, err := newExclusions(exclusionConfig{Networks: []string{"1.2.3.4", "1.2.3.0/40"}})
	var arg *ArgError
	if !errors.As(err, &arg) || arg.Arg != "1.2.3.0/40" || arg.Hint == "" || !errors.Is(err, faultNetwork) {
		t.Error(err)
	}
}

func rewrite(t testing.TB, path, text string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(text), 0o600))
}

// fileCounts returns how many targets From and the sender excluded because of each
// file.
func fileCounts(x *Exclusions) (out []string) {
	for _, r := range x.Counts() {
		if r.Network == "" {
			out = append(out, fmt.Sprintf("%s %d %d", filepath.Base(r.Source), r.Targets, r.Stopped))
		}
	}
	return out
}

func TestReload(t *testing.T) {
	a := writeFile(t, "a.txt", "1.0.0.0/24\n2.0.0.0/24\n")
	b := writeFile(t, "b.txt", "3.0.0.0/24")
	x := mustExclude(t, exclusionConfig{Files: []string{a, b}})
	ask := func(want bool, addrs ...string) {
		t.Helper()
		for _, s := range addrs {
			if got := x.Excluded(addr(s)); got != want {
				t.Errorf("%s: excluded %v", s, got)
			}
		}
	}
	ask(true, "1.0.0.1", "2.0.0.1", "2.0.0.2", "3.0.0.3")

	rewrite(t, a, "# moved\n2.0.0.0/24\n4.0.0.0/24\n")
	if _, err := x.Reload(false); err != nil {
		t.Fatal(err)
	}
	ask(true, "2.0.0.9", "4.0.0.1", "3.0.0.3")
	ask(false, "1.0.0.1")
	want := []string{"a.txt 0 5", "b.txt 0 2"} // of every version of the file
	if got := fileCounts(x); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}

	// An invalid line or a missing file makes Reload fail, and the rules stay as
	// they are.
	rewrite(t, a, "1.0.0.0/24\nnonsense\n")
	var line Invalid
	if _, err := x.Reload(false); !errors.As(err, &line) || line.Line != 2 {
		t.Errorf("%v", err)
	}
	rewrite(t, a, "1.0.0.0/24\n")
	check(t, os.Remove(b))
	if _, err := x.Reload(false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	ask(true, "2.0.0.9", "4.0.0.1", "3.0.0.3")
	ask(false, "1.0.0.1")

	rewrite(t, b, "")
	if _, err := x.Reload(false); err != nil {
		t.Fatal(err)
	}
	ask(true, "1.0.0.1")
	ask(false, "2.0.0.1", "3.0.0.3")
	if got := fileCounts(x); !slices.Equal(got, []string{"a.txt 0 8", "b.txt 0 3"}) {
		t.Errorf("%q", got)
	}
}

// TestExtend checks that Reload can keep the rules that are in force, each once, and does not
// take the beginning of a line for a rule.
func TestExtend(t *testing.T) {
	a := writeFile(t, "a.txt", "1.0.0.0/24\n")
	x := mustExclude(t, exclusionConfig{Files: []string{a}})
	before, err := x.Reload(false)
	check(t, err)
	rewrite(t, a, "2.0.0.0/24\n200.0.113.0/2")
	for range 3 {
		_, err := x.Reload(true)
		check(t, err)
	}
	for s, want := range map[string]bool{"1.0.0.1": true, "2.0.0.1": true, "200.1.1.1": false} {
		if got := x.Excluded(addr(s)); got != want {
			t.Errorf("%s: excluded %v", s, got)
		}
	}
	rewrite(t, a, "2.0.0.0/24\n")
	if n, err := x.Reload(true); err != nil || n != before+1 {
		t.Errorf("%d rules, want %d: %v", n, before+1, err)
	}
}

// TestMapped checks that rules for IPv4-mapped addresses exclude the IPv4 addresses.
func TestMapped(t *testing.T) {
	x := mustExclude(t, exclusionConfig{Files: []string{writeFile(t, "a.txt", "::ffff:8.0.0.7 # opt-out\n::ffff:9.0.0.0/120\n2001:db8::1\n::ffff:0:0/96\n")}})
	for s, want := range map[string]bool{"8.0.0.7": true, "8.0.0.8": false, "9.0.0.255": true, "9.0.1.0": false} {
		if got := x.Excluded(addr(s)); got != want {
			t.Errorf("%s: excluded %v", s, got)
		}
	}
}

// TestListReload checks that a rule that Reload adds while All yields targets
// excludes the targets after that.
func TestListReload(t *testing.T) {
	path := writeFile(t, "list", "")
	x := mustExclude(t, exclusionConfig{Files: []string{path}})
	l := mustOpen(t, Config{
		InOrder: true,
		Stdin:   strings.NewReader("1.0.0.1:1\n2.0.0.1:1\n1.0.0.2:1\n3.0.0.1:1\n"), Exclusions: x,
	})
	var got []string
	for tg := range l.From(0) {
		got = append(got, text(tg))
		rewrite(t, path, "1.0.0.0/24\n")
		if _, err := x.Reload(false); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"1.0.0.1:1", "2.0.0.1:1", "3.0.0.1:1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if s := l.Stats(); s != (Stats{Read: 4, Excluded: 1, Given: 3}) {
		t.Errorf("%+v", s)
	}
	if got := fileCounts(x); !slices.Equal(got, []string{"list 1 0"}) {
		t.Errorf("%q", got)
	}
}

// FuzzSpan checks that prefixes covers a span without a gap or an overlap, and that
// the span is read again as it is written.
func FuzzSpan(f *testing.F) {
	for _, s := range []string{"1.2.3.4", "1.2.3.0/24", "1.2.3.4-1.2.4.9", "::1", "-", "1.2.3.4-"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, fault := parseSpan(b)
		if fault != "" {
			return
		}
		next := s.first
		for p := range s.prefixes() {
			part := spanOf(p)
			if part.first != next || p != p.Masked() || part.last > s.last {
				t.Fatalf("%q: %v", b, p)
			}
			next = part.last + 1
		}
		if next != s.last+1 {
			t.Fatalf("%q ends at %v", b, addrOf(next-1))
		}
		if again, fault := parseSpan([]byte(s.String())); fault != "" || again != s {
			t.Fatalf("%q is written %v", b, s)
		}
	})
}
