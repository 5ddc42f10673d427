package census

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// filter chooses the changes that Diff reports.
type filter struct {
	kinds    kinds
	named    kinds // in DiffOptions.Kinds: reported even if volatile
	games    []string
	prefixes []netip.Prefix
	asns     []uint32
}

// Check returns an error if o names an unknown kind or a malformed network.
func (o *DiffOptions) Check() error {
	_, err := newFilter(o)
	return err
}

func newFilter(o *DiffOptions) (*filter, error) {
	f := &filter{kinds: 1<<len(Kinds) - 1}
	for i, k := range o.Kinds {
		if !slices.Contains(Kinds, k) {
			return nil, fmt.Errorf("there is no kind of change %q", string(k))
		}
		if i == 0 {
			f.kinds = 0
		}
		f.kinds |= bit(k)
		f.named |= bit(k)
	}
	for _, g := range o.Games {
		f.games = append(f.games, strings.ToLower(g))
	}
	for _, n := range o.Networks {
		if err := f.network(n); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// network adds a network to the filter: a prefix, an address, or an autonomous
// system.
func (f *filter) network(s string) error {
	if digits, found := strings.CutPrefix(strings.ToUpper(s), "AS"); found {
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || n == 0 {
			return fmt.Errorf("%q is not the number of an autonomous system", s)
		}
		f.asns = append(f.asns, uint32(n))
		return nil
	}
	if a, err := netip.ParseAddr(s); err == nil {
		f.prefixes = append(f.prefixes, netip.PrefixFrom(a, a.BitLen()))
		return nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return fmt.Errorf("%q is neither a network such as 203.0.113.0/24 nor one such as AS64496", s)
	}
	f.prefixes = append(f.prefixes, p)
	return nil
}

// matches reports whether the games and networks of the filter include a server.
func (f *filter) matches(d *differ, r *row) bool {
	if len(f.games) > 0 {
		id, name := strings.ToLower(d.new.text(r.game)), strings.ToLower(d.new.text(r.gameText))
		if !slices.Contains(f.games, id) && !slices.Contains(f.games, name) {
			return false
		}
	}
	if len(f.prefixes)+len(f.asns) == 0 {
		return true
	}
	addr := addrOf(r.key).Addr()
	return slices.Contains(f.asns, r.asn) ||
		slices.ContainsFunc(f.prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}
