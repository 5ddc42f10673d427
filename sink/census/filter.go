package census

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// filter chooses servers.
type filter struct {
	games    []string
	prefixes []netip.Prefix
	asns     []uint32
}

// Check returns an error if o names a malformed network.
func (o *Options) Check() error {
	_, err := newFilter(o)
	return err
}

// newFilter returns the filter for the games and networks of o.
func newFilter(o *Options) (*filter, error) {
	f := &filter{}
	for _, g := range o.Games {
		f.games = append(f.games, strings.ToLower(g))
	}
	for _, n := range o.Networks {
		if digits, found := strings.CutPrefix(strings.ToUpper(n), "AS"); found {
			asn, err := strconv.ParseUint(digits, 10, 32)
			if err != nil || asn == 0 {
				return nil, fmt.Errorf("%q is not the number of an autonomous system", n)
			}
			f.asns = append(f.asns, uint32(asn))
			continue
		}
		p, err := netip.ParsePrefix(n)
		if addr, bad := netip.ParseAddr(n); bad == nil {
			p, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("%q is neither a network such as 203.0.113.0/24 nor one such as AS64496", n)
		}
		f.prefixes = append(f.prefixes, p)
	}
	return f, nil
}

// matches reports whether the games and networks of the filter include a server.
func (f *filter) matches(s *Server) bool {
	if len(f.games) > 0 && !slices.Contains(f.games, strings.ToLower(s.Game)) && !slices.Contains(f.games, strings.ToLower(s.GameName)) {
		return false
	}
	if len(f.prefixes)+len(f.asns) == 0 {
		return true
	}
	return slices.Contains(f.asns, s.asn) ||
		slices.ContainsFunc(f.prefixes, func(p netip.Prefix) bool { return p.Contains(s.Addr().Addr()) })
}
