package census

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Filter returns a function that reports whether the Options choose a server. It returns
// an error if they name a malformed network.
func (o *Options) Filter() (func(*Server) bool, error) {
	var games []string
	for _, g := range o.Games {
		games = append(games, strings.ToLower(g))
	}
	var prefixes []netip.Prefix
	var asns []uint32
	for _, n := range o.Networks {
		digits, isAS := strings.CutPrefix(strings.ToUpper(n), "AS")
		if asn, err := strconv.ParseUint(digits, 10, 32); isAS && err == nil && asn > 0 {
			asns = append(asns, uint32(asn))
			continue
		}
		p, err := netip.ParsePrefix(n)
		if addr, bad := netip.ParseAddr(n); bad == nil {
			p, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("%q is neither a network such as 203.0.113.0/24 nor an autonomous system such as AS64496", n)
		}
		prefixes = append(prefixes, p)
	}
	return func(s *Server) bool {
		if len(games) > 0 && !slices.Contains(games, strings.ToLower(s.Game)) && !slices.Contains(games, strings.ToLower(s.GameName)) {
			return false
		}
		addr := s.Addr().Addr()
		return len(prefixes)+len(asns) == 0 || slices.Contains(asns, s.asn) ||
			slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
	}, nil
}
