package census

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/wire"
)

// Thresholds for farms and stacks. Smaller numbers can have innocent causes.
const (
	// So many servers with the same game, version, name, map and capacity are clones. Honest
	// operators put a number or a location into each name, and hosting companies give the
	// servers of one customer different names.
	leastClones = 10
	// leastBare replaces leastClones for servers whose rules are unknown. If most of the
	// servers are empty, they must have at least leastBare different IP addresses, because
	// one idle process may serve many ports of an address with the same settings.
	leastBare = 25
	// So many servers with the same list of players are a farm. One server is often reached
	// at two ports, or at the addresses of its DDoS protection.
	leastSharing = 4
	// Two servers do not have the same list by chance if it has so many players with names and
	// different times.
	leastListed = 3
	// The minimum numbers of servers in a stack: on one address, and in a /24 network.
	leastStack, leastNetworkStack = 10, 50
	// leastName is the minimum length in bytes of a name that tells servers apart.
	leastName = 6
)

type farm struct {
	servers []*Server // in the order of addresses
	clones  bool      // whether servers of the farm are clones
	list    bool      // whether servers of the farm share a list of players
	id      string    // see nameFarms
}

// findFarms sets c.farms, and Server.farm of each server. Whoever needs them calls it first.
func (c *Census) findFarms() { c.once.Do(c.compareAll) }

func (c *Census) compareAll() {
	var clones, lists map[uint64][]*Server
	var group sync.WaitGroup
	group.Go(func() { clones = c.alike(leastClones, (*Server).identity) })
	lists = c.alike(leastSharing, func(s *Server) uint64 {
		if !s.listed || !s.isPublic() {
			return 0
		}
		return s.hashes.players
	})
	group.Wait()
	var groups []farm
	for _, all := range clones {
		all = sameRules(all)
		if len(all) == 0 || isDefault(all[0]) {
			continue
		}
		occupied := 0
		for _, s := range all {
			if s.People > 0 {
				occupied++
			}
		}
		if distinct(all, 32) >= leastBare || len(all) >= leastClones && occupied*2 >= len(all) {
			groups = append(groups, farm{servers: all, clones: true})
		}
	}
	for _, all := range lists {
		groups = append(groups, farm{servers: all, list: true})
	}
	c.unite(groups)
}

// alike returns the groups of at least so many servers with the same key, each in the order of
// addresses. Servers with key 0 are in no group. Most keys occur once, so alike first sorts
// all keys, and makes only the groups that are large enough.
func (c *Census) alike(least int, key func(*Server) uint64) map[uint64][]*Server {
	keys := make([]uint64, len(c.loaded))
	for i, s := range c.loaded {
		keys[i] = key(s)
	}
	sorted := slices.Clone(keys)
	slices.Sort(sorted)
	groups := map[uint64][]*Server{}
	for i, n := 0, 0; i < len(sorted); i += n {
		for n = 1; i+n < len(sorted) && sorted[i+n] == sorted[i]; {
			n++
		}
		if n >= least && sorted[i] != 0 {
			groups[sorted[i]] = make([]*Server, 0, n)
		}
	}
	for i, s := range c.loaded {
		if all, ok := groups[keys[i]]; ok {
			groups[keys[i]] = append(all, s)
		}
	}
	for _, all := range groups {
		slices.SortFunc(all, (*Server).compare)
	}
	return groups
}

// identity returns a hash of game, version, name, map and capacity, or 0 if the server did not
// answer, one of them (except the version) is unknown, or the address is not public.
func (s *Server) identity() uint64 {
	h := s.placeless()
	if h == 0 || !s.HasPlaces() || !s.isPublic() {
		return 0
	}
	return mix(mix(h, xxhash.Sum64String(s.Version)), uint64(s.MaxPlayers)) | 1
}

// carrierNAT is the network that carriers use for NAT (RFC 6598).
var carrierNAT = netip.MustParsePrefix("100.64.0.0/10")

// isPublic reports whether the address of a server is public. It returns false for a
// carrier's NAT and for link-local addresses, which Steam's relays have: there one server
// may have many addresses.
func (s *Server) isPublic() bool {
	a := s.Addr().Addr()
	return a.IsValid() && !carrierNAT.Contains(a) && !a.IsLinkLocalUnicast()
}

// sameRules returns the servers that may be clones: those with unknown rules, and at least
// leastClones with the most frequent rules. Servers with other rules are no clones,
// because names and maps alone can coincide. It returns nil if there are neither
// leastClones with the same rules nor leastBare with unknown rules.
func sameRules(all []*Server) (same []*Server) {
	by := map[uint64]int{}
	unknown, best, most := 0, uint64(0), 0
	for _, s := range all {
		if !s.replies.complete.Has(wire.QuestionRules) {
			unknown++
			continue
		}
		n := by[s.hashes.rules] + 1
		by[s.hashes.rules] = n
		if n > most || n == most && s.hashes.rules < best {
			best, most = s.hashes.rules, n
		}
	}
	if most < leastClones && unknown < leastBare {
		return nil
	}
	for _, s := range all {
		if !s.replies.complete.Has(wire.QuestionRules) || most >= leastClones && s.hashes.rules == best {
			same = append(same, s)
		}
	}
	return same
}

// isDefault reports whether a server still has the name that its game gave it: the name
// of the game, with or without numbers and defaultWords.
func isDefault(s *Server) bool {
	rest := strings.ToLower(s.Name)
	for _, word := range append([]string{s.GameName, s.Game}, defaultWords...) {
		if word != "" {
			rest = strings.ReplaceAll(rest, strings.ToLower(word), "")
		}
	}
	return strings.Trim(rest, " -_#!.:'\"()[]|0123456789") == ""
}

// defaultWords are the words in default names of servers besides the name of the game.
// Longer words come before the words that they contain.
var defaultWords = []string{
	"dedicated", "unnamed", "default", "private", "server", "public", "hosted", "local", "linux", "windows", "steam",
	"game", "host", "test", "half-life", "counter-strike", "my", "new", "the", "a ", "by",
}

// distinct returns the number of different networks, with prefixes of so many bits, of the servers.
func distinct(all []*Server, bits int) uint64 {
	seen := map[uint64]bool{}
	for _, s := range all {
		seen[s.network(bits)] = true
	}
	return uint64(len(seen))
}

func (s *Server) network(bits int) uint64 { return s.key >> 16 >> (32 - bits) }

// unite makes a farm of each group, and one farm of groups that have servers in common.
func (c *Census) unite(groups []farm) {
	parent := make([]int32, len(groups)) // for each group, another group of its farm, or itself
	root := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]] // shortens the way for the next caller
			i = parent[i]
		}
		return i
	}
	for i, g := range groups {
		parent[i] = int32(i)
		for _, s := range g.servers {
			if s.farm == 0 {
				s.farm = int32(i + 1) // the first group of the server, until nameFarms
			} else {
				parent[root(s.farm-1)] = root(int32(i))
			}
		}
	}
	c.farms = make([]farm, len(groups))
	for i, g := range groups {
		one := &c.farms[root(int32(i))]
		one.clones, one.list = one.clones || g.clones, one.list || g.list
		for _, s := range g.servers {
			if s.farm == int32(i+1) {
				one.servers = append(one.servers, s)
			}
		}
	}
	c.farms = slices.DeleteFunc(c.farms, func(one farm) bool { return len(one.servers) == 0 })
	for _, one := range c.farms {
		slices.SortFunc(one.servers, (*Server).compare)
	}
	slices.SortFunc(c.farms, func(a, b farm) int {
		return cmp.Or(cmp.Compare(len(b.servers), len(a.servers)), cmp.Compare(a.servers[0].key, b.servers[0].key))
	})
	c.nameFarms()
}

// nameFarms gives each farm its Farm.ID. It does not depend on what changes overnight: maps,
// versions, players and addresses. But of several farms with the same game and name, the IDs
// of all but the largest depend on their lowest address.
func (c *Census) nameFarms() {
	taken := map[uint64]bool{}
	for n := range c.farms {
		f, count, id := &c.farms[n], map[uint64]int{}, uint64(0)
		for _, s := range f.servers {
			s.farm = int32(n + 1)
			count[mix(xxhash.Sum64String(s.Game), xxhash.Sum64String(s.Name))]++
		}
		for name, servers := range count {
			if servers > count[id] || servers == count[id] && name < id {
				id = name
			}
		}
		if taken[id] {
			id = mix(id, f.servers[0].key)
		}
		taken[id] = true
		f.id = fmt.Sprintf("%016x", id)
	}
}

// farm returns the Farm.ID of a server, or "" if it is in no farm.
func (c *Census) farm(s *Server) string {
	if s.farm == 0 {
		return ""
	}
	return c.farms[s.farm-1].id
}

func (c *Census) addFarms(s *Stats) {
	s.Farms.Top = []Farm{}
	for _, f := range c.farms {
		f.servers = slices.DeleteFunc(slices.Clone(f.servers), func(s *Server) bool { return s.other })
		if len(f.servers) == 0 {
			continue
		}
		s.Farms.Found++
		for _, one := range f.servers {
			s.Farms.Sums.add(one)
		}
		if s.Farms.Found <= maxFarms {
			s.Farms.Top = append(s.Farms.Top, f.describe())
		}
	}
}

func sumOf(servers []*Server) (all Sums) {
	for _, s := range servers {
		all.add(s)
	}
	return all
}

func members(servers []*Server) []string {
	all := []string{}
	for _, s := range servers[:min(len(servers), maxMembers)] {
		all = append(all, s.Addr().String())
	}
	return all
}

func (f *farm) describe() Farm {
	first := f.servers[0]
	d := Farm{ID: f.id, Game: first.Game, Sums: sumOf(f.servers), Members: members(f.servers)}
	d.Addresses, d.Networks = distinct(f.servers, 32), distinct(f.servers, 24)
	if f.clones {
		d.Name, d.Map, d.Capacity = first.shownName(), shorten(first.Map), uint64(first.MaxPlayers)
		d.Reasons = append(d.Reasons, "clones")
		d.Evidence = append(d.Evidence, fmt.Sprintf(
			"%d servers have the same game, version, name, map, capacity and rules; %d of them have people", d.Servers, d.Occupied))
	}
	if f.list {
		d.Reasons = append(d.Reasons, "shared_list")
		d.Evidence = append(d.Evidence, fmt.Sprintf(
			"at least %d servers have the same list of players, with names and times", leastSharing))
	}
	return d
}

// stacks returns at most maxStacks addresses and /24 networks, those with the most servers first.
func (c *Census) stacks() []Stack {
	all := []Stack{}
	for _, size := range []struct{ bits, least int }{{32, leastStack}, {24, leastNetworkStack}} {
		for _, servers := range c.alike(size.least, func(s *Server) uint64 {
			if s.other || !s.answered() {
				return 0
			}
			return s.network(size.bits)
		}) {
			network, _ := servers[0].Addr().Addr().Prefix(size.bits) // can't fail: the address is IPv4
			all = append(all, Stack{Network: strings.TrimSuffix(network.String(), "/32"), Sums: sumOf(servers)})
		}
	}
	slices.SortFunc(all, func(a, b Stack) int {
		return cmp.Or(cmp.Compare(b.Servers, a.Servers), strings.Compare(a.Network, b.Network))
	})
	return all[:min(len(all), maxStacks)]
}

// accounts returns at most maxAccounts Steam IDs that occur at several IP addresses.
func (c *Census) accounts() []account {
	all := []account{}
	for id, servers := range c.alike(2, func(s *Server) uint64 {
		if s.other {
			return 0
		}
		return s.persistentID()
	}) {
		one := account{SteamID: fmt.Sprint(id), Servers: uint64(len(servers)), Addresses: distinct(servers, 32), Members: members(servers)}
		if one.Addresses > 1 {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b account) int {
		return cmp.Or(cmp.Compare(b.Addresses, a.Addresses), cmp.Compare(b.Servers, a.Servers), strings.Compare(a.SteamID, b.SteamID))
	})
	return all[:min(len(all), maxAccounts)]
}
