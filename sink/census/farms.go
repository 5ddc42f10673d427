package census

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/sink/record"
)

// Thresholds of the verdicts. Smaller numbers can have innocent causes.
const (
	// leastClones is the minimum number of servers with the same game, version,
	// name, map and capacity that count as clones. Honest operators put a number or
	// a location into each name, and hosting companies give the servers of one
	// customer different names.
	leastClones = 10
	// leastBare replaces leastClones for servers whose rules are unknown. If most
	// of the servers are empty, it is the minimum number of their IP addresses: one
	// idle process may serve many ports of an address with the same settings.
	leastBare = 25
	// leastSharing is the minimum number of servers with the same list of players
	// that count as sharing it. One server is often reached at two ports, or at the
	// addresses of its DDoS protection.
	leastSharing = 4
	// leastListed is the minimum number of named players, with as many different
	// times, in a list that two servers do not have by chance.
	leastListed = 3
	// leastStack and leastNetworkStack are the minimum numbers of servers in a
	// stack: on one address, and in a /24 network.
	leastStack, leastNetworkStack = 10, 50
	// leastName is the minimum length in bytes of a name that tells servers apart.
	leastName = 6
)

// farmFinding says which servers are in which farm.
type farmFinding struct {
	farm  []int32 // by row: index in farms, -1: none
	farms []farm
}

type farm struct {
	rows    []int // indices of rows, in order
	reasons []string
	clones  uint64 // key of the group, 0: none
	list    uint64 // hash of the list, 0: none
}

// of returns the farm of a row, -1 if it is in none.
func (f *farmFinding) of(i int) int32 {
	if f == nil || f.farm == nil {
		return -1
	}
	return f.farm[i]
}

// findFarms finds clones and shared lists. It reads the census once more if it has
// to compare lists.
func findFarms(c *Census, t *table) (*farmFinding, error) {
	groups := t.cloneGroups()
	lists := t.listGroups()
	if len(lists) > 0 {
		if err := confirmLists(c, t, lists); err != nil {
			return nil, err
		}
	}
	for hash, rows := range lists {
		groups = append(groups, farm{rows: rows, reasons: []string{ReasonSharedList}, list: hash})
	}
	return t.unite(groups), nil
}

// cloneGroups returns the groups of servers with the same game, version, name, map
// and capacity that are large enough for a verdict. It leaves out servers with a
// default name. As far as the rules are known, they must be the same too: names and
// maps alone can coincide.
func (t *table) cloneGroups() (groups []farm) {
	for key, rows := range t.runs(t.identity, leastClones) {
		rows = t.sameRules(rows)
		if t.hosts(rows) >= leastBare || len(rows) >= leastClones && t.occupied(rows)*2 >= len(rows) {
			groups = append(groups, farm{rows: rows, reasons: []string{ReasonClones}, clones: key})
		}
	}
	return groups
}

// sameRules returns the servers whose rules are unknown and, if there are at least
// leastClones, those with the most frequent rules. It returns nil if both sets are
// too small.
func (t *table) sameRules(rows []int) (same []int) {
	by := map[uint64]int{}
	unknown, best, most := 0, uint64(0), 0
	for _, i := range rows {
		r := t.rows[i]
		if r.has&hasRules == 0 {
			unknown++
			continue
		}
		n := by[r.rules] + 1
		by[r.rules] = n
		if n > most || n == most && r.rules < best {
			best, most = r.rules, n
		}
	}
	if most < leastClones && unknown < leastBare {
		return nil
	}
	for _, i := range rows {
		if r := t.rows[i]; r.has&hasRules == 0 || most >= leastClones && r.rules == best {
			same = append(same, i)
		}
	}
	return same
}

// runs yields each key that least or more servers have, with their rows. A server
// with key 0 is left out.
func (t *table) runs(key func(*row) uint64, least int) iter.Seq2[uint64, []int] {
	type pair struct {
		key uint64
		row int
	}
	var all []pair
	for i, r := range t.rows {
		if k := key(r); k != 0 {
			all = append(all, pair{k, i})
		}
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row)) })
	return func(yield func(uint64, []int) bool) {
		for start := 0; start < len(all); {
			end := start
			for end < len(all) && all[end].key == all[start].key {
				end++
			}
			if end-start >= least {
				rows := make([]int, 0, end-start)
				for _, p := range all[start:end] {
					rows = append(rows, p.row)
				}
				if !yield(all[start].key, rows) {
					return
				}
			}
			start = end
		}
	}
}

// occupied returns how many of the servers have people.
func (t *table) occupied(rows []int) (n int) {
	for _, i := range rows {
		if t.rows[i].people > 0 {
			n++
		}
	}
	return n
}

// hosts returns how many different IP addresses the servers have.
func (t *table) hosts(rows []int) int {
	seen := map[uint32]bool{}
	for _, i := range rows {
		seen[ipOf(t.rows[i].key)] = true
	}
	return len(seen)
}

// identity returns a hash of game, version, name, map and capacity. It returns 0 if
// the server did not answer, if one of name, map, capacity and game is unknown, or
// if the name or the address does not distinguish the server from those of other
// operators.
func (t *table) identity(r *row) uint64 {
	const all = hasName | hasMap | hasCapacity
	if r.key == 0 || r.has&all != all || r.game == 0 || !r.status.answered() || isLocal(r.key) {
		return 0
	}
	name := t.nameOf(r)
	if len(name) < leastName || t.isDefault(r, string(name)) {
		return 0
	}
	h := mix(xxhash.Sum64(name), xxhash.Sum64String(t.text(r.game)))
	h = mix(h, xxhash.Sum64String(t.text(r.level)))
	return mix(mix(h, xxhash.Sum64String(t.text(r.version))), uint64(r.capacity)) | 1
}

// isLocal reports whether an address belongs to a carrier's NAT or to Steam's relay,
// where one server may have many addresses.
func isLocal(key uint64) bool {
	a := addrOf(key).Addr()
	return netip.MustParsePrefix("100.64.0.0/10").Contains(a) || a.IsLinkLocalUnicast()
}

// isDefault reports whether a server still has the name that its game gave it: the name
// of the game, with or without numbers and defaultWords.
func (t *table) isDefault(r *row, name string) bool {
	rest := strings.ToLower(name)
	for _, word := range append([]string{t.text(r.gameText), t.text(r.game)}, defaultWords...) {
		if word != "" {
			rest = strings.ReplaceAll(rest, strings.ToLower(word), "")
		}
	}
	return strings.Trim(rest, " -_#!.:'\"()[]|0123456789") == ""
}

// defaultWords are what default names consist of besides the game's name. A word comes
// before the words that it contains.
var defaultWords = []string{
	"dedicated", "unnamed", "default", "private", "server", "public", "hosted", "local", "linux", "windows", "steam",
	"game", "host", "test", "half-life", "counter-strike", "my", "new", "the", "a ", "by",
}

// listGroups returns the groups of at least leastSharing servers whose lists of players
// have the same hash, by that hash.
func (t *table) listGroups() map[uint64][]int {
	return maps.Collect(t.runs(func(r *row) uint64 {
		if r.key == 0 || isLocal(r.key) {
			return 0
		}
		return r.players
	}, leastSharing))
}

// confirmLists reads the lists of the groups. In each group it keeps the largest
// set of servers whose lists are really the same, and too distinctive for a
// coincidence. It drops a group without such a set.
func confirmLists(c *Census, t *table, groups map[uint64][]int) error {
	want := map[uint64]int{}
	for _, rows := range groups {
		for _, i := range rows {
			want[t.rows[i].key] = i
		}
	}
	lists, err := c.lists(t, want)
	if err != nil {
		return err
	}
	for hash, rows := range groups {
		by := map[listDigest][]int{}
		for _, i := range rows {
			by[lists[i]] = append(by[lists[i]], i)
		}
		delete(groups, hash)
		for digest, same := range by {
			if digest.distinct && len(same) >= leastSharing && len(same) > len(groups[hash]) {
				groups[hash] = same
			}
		}
	}
	return nil
}

// listDigest identifies a list of players by a second hash: of the record's JSON, not
// of the reply's bytes.
type listDigest struct {
	hash     uint64
	distinct bool // two servers do not have it by chance
}

// lists returns the digests of the lists of the servers in want, by row. want maps
// their addresses to rows.
func (c *Census) lists(t *table, want map[uint64]int) (map[int]listDigest, error) {
	found := make([]map[int]listDigest, c.workers)
	for w := range found {
		found[w] = map[int]listDigest{}
	}
	err := c.eachBlock(func(w int, block []byte) error {
		return eachLine(block, func(line []byte) error {
			key, at := keyAndTime(line)
			if i, ok := want[key]; ok && key != 0 && t.rows[i].at == at {
				found[w][i] = digest(line)
			}
			return nil
		})
	})
	all := map[int]listDigest{}
	for _, one := range found {
		for i, d := range one {
			all[i] = d
		}
	}
	return all, err
}

// keyAndTime returns a record's address and time, from its beginning.
func keyAndTime(line []byte) (key uint64, at int64) {
	var c record.Cursor
	var ip netip.Addr
	var port uint64
	for c.Reset(line); c.Next(); {
		switch string(c.Key()) {
		case "ip":
			ip = parseIP(c.Quoted())
		case "port":
			port = c.Uint()
		case "time":
			return keyOf(netip.AddrPortFrom(ip, uint16(port))), parseTime(c.Quoted())
		case "status":
			return keyOf(netip.AddrPortFrom(ip, uint16(port))), 0
		}
	}
	return 0, 0
}

// digest returns the digest of a record's players.
func digest(line []byte) (d listDigest) {
	var c record.Cursor
	for c.Reset(line); c.Next(); {
		if string(c.Key()) != "players" {
			continue
		}
		named, times := 0, map[string]bool{}
		for c.Enter(); c.Next(); {
			name, duration, hash := player(&c)
			d.hash = mix(d.hash, hash)
			if name && duration != "" {
				named++
				times[duration] = true
			}
		}
		d.distinct = named >= leastListed && len(times) >= leastListed
	}
	return d
}

// player reads one player: whether there is a name, the duration ("" if it is unknown,
// 0 or -1), and a hash of all values.
func player(c *record.Cursor) (name bool, duration string, hash uint64) {
	for c.Enter(); c.Next(); {
		key := c.Key()
		raw := c.Raw()
		hash = mix(hash, xxhash.Sum64(raw))
		switch string(key) {
		case "name":
			name = len(raw) > len(`""`)
		case "duration":
			if s := string(raw); s != "0" && s != "null" && s != "-1" {
				duration = s
			}
		}
	}
	return name, duration, hash
}

// unite makes a farm of each group. Groups that have servers in common become one
// farm.
func (t *table) unite(groups []farm) *farmFinding {
	f := &farmFinding{}
	if len(groups) == 0 {
		return f
	}
	slices.SortFunc(groups, func(a, b farm) int { return cmp.Or(cmp.Compare(a.clones, b.clones), cmp.Compare(a.list, b.list)) })
	f.farm = slices.Repeat([]int32{-1}, len(t.rows))
	for _, g := range groups {
		f.add(g)
	}
	f.farms = slices.DeleteFunc(f.farms, func(one farm) bool { return len(one.rows) == 0 })
	slices.SortFunc(f.farms, func(a, b farm) int {
		return cmp.Or(cmp.Compare(len(b.rows), len(a.rows)), cmp.Compare(a.rows[0], b.rows[0]))
	})
	for n, one := range f.farms {
		for _, i := range one.rows {
			f.farm[i] = int32(n)
		}
	}
	return f
}

// add adds a farm with the servers of g, and merges the farms that share a server
// with g into it.
func (f *farmFinding) add(g farm) {
	n := int32(len(f.farms))
	one := farm{reasons: g.reasons, clones: g.clones, list: g.list}
	for _, i := range g.rows {
		old := f.farm[i]
		switch {
		case old == n:
			continue
		case old < 0:
			one.rows = append(one.rows, i)
			f.farm[i] = n
			continue
		}
		taken := &f.farms[old]
		for _, j := range taken.rows {
			f.farm[j] = n
		}
		one.rows = append(one.rows, taken.rows...)
		one.reasons = append(one.reasons, taken.reasons...)
		one.clones, one.list = cmp.Or(one.clones, taken.clones), cmp.Or(one.list, taken.list)
		*taken = farm{}
	}
	slices.Sort(one.rows)
	slices.Sort(one.reasons)
	one.reasons = slices.Compact(one.reasons)
	f.farms = append(f.farms, one)
}

// id returns a hash of the evidence: it is the same every night as long as the
// evidence is.
func (f *farm) id() string { return fmt.Sprintf("%016x", mix(f.clones, f.list)) }

// report describes the farms.
func (f *farmFinding) report(t *table) Farms {
	out := Farms{Found: uint64(len(f.farms)), Top: []Farm{}}
	for n := range f.farms {
		for _, i := range f.farms[n].rows {
			out.Sums.add(t.rows[i])
		}
		if n < MaxFarms {
			out.Top = append(out.Top, f.farms[n].describe(t))
		}
	}
	return out
}

func (f *farm) describe(t *table) Farm {
	first := t.rows[f.rows[0]]
	d := Farm{ID: f.id(), Reasons: f.reasons, Game: t.text(first.game), Members: []string{}}
	ips, nets := map[uint32]bool{}, map[uint32]bool{}
	for _, i := range f.rows {
		r := t.rows[i]
		d.Sums.add(r)
		ips[ipOf(r.key)], nets[networkOf(r.key)] = true, true
		if len(d.Members) < MaxMembers {
			d.Members = append(d.Members, addrOf(r.key).String())
		}
	}
	d.Addresses, d.Networks = uint64(len(ips)), uint64(len(nets))
	if f.clones != 0 {
		d.Name, d.Map, d.Capacity = t.shownName(first), shorten(t.text(first.level)), uint64(first.capacity)
		d.Evidence = append(d.Evidence, fmt.Sprintf(
			"%d servers have the same game, version, name, map, capacity and rules; %d of them have people", d.Servers, d.Occupied))
	}
	if f.list != 0 {
		d.Evidence = append(d.Evidence, fmt.Sprintf(
			"the same list of players, with names and times, at %d or more servers", leastSharing))
	}
	return d
}

// shownName returns the first MaxNameBytes of a server's name.
func (t *table) shownName(r *row) string { return shorten(t.fullName(r)) }

// fullName returns a server's name without the hex form that may follow it in nameOf.
func (t *table) fullName(r *row) string {
	name, _, _ := strings.Cut(string(t.nameOf(r)), "\x00")
	return name
}

// stacks returns the addresses with at least leastStack servers, and the /24
// networks with at least leastNetworkStack: those with the most servers first, at
// most MaxStacks.
func (t *table) stacks() []Stack {
	all := []Stack{}
	host := func(r *row) uint64 { return answeredKey(r) &^ 0xFFFF }
	for key, rows := range t.runs(host, leastStack) {
		all = append(all, Stack{ipText(ipOf(key)), t.sum(rows)})
	}
	network := func(r *row) uint64 { return answeredKey(r) &^ 0xFFFFFF }
	for key, rows := range t.runs(network, leastNetworkStack) {
		all = append(all, Stack{ipText(ipOf(key)) + "/24", t.sum(rows)})
	}
	slices.SortFunc(all, func(a, b Stack) int {
		return cmp.Or(cmp.Compare(b.Servers, a.Servers), strings.Compare(a.Network, b.Network))
	})
	return all[:min(len(all), MaxStacks)]
}

// answeredKey returns the key of a server that answered, else 0.
func answeredKey(r *row) uint64 {
	if !r.status.answered() {
		return 0
	}
	return r.key
}

func (t *table) sum(rows []int) (s Sums) {
	for _, i := range rows {
		s.add(t.rows[i])
	}
	return s
}

func ipText(ip uint32) string {
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}).String()
}

// accounts returns the Steam IDs that occur at several IP addresses: those at the
// most addresses first, at most MaxAccounts.
func (t *table) accounts() []Account {
	all := []Account{}
	for id, rows := range t.runs(persistentID, 2) {
		if one := t.account(id, rows); one.Addresses > 1 {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Account) int {
		return cmp.Or(cmp.Compare(b.Addresses, a.Addresses), cmp.Compare(b.Servers, a.Servers), strings.Compare(a.SteamID, b.SteamID))
	})
	return all[:min(len(all), MaxAccounts)]
}

func (t *table) account(id uint64, rows []int) Account {
	one := Account{SteamID: fmt.Sprint(id), Servers: uint64(len(rows)), Members: []string{}}
	ips := map[uint32]bool{}
	for _, i := range rows {
		r := t.rows[i]
		ips[ipOf(r.key)] = true
		if len(one.Members) < MaxMembers {
			one.Members = append(one.Members, addrOf(r.key).String())
		}
	}
	one.Addresses = uint64(len(ips))
	return one
}

// persistentID returns the Steam ID of a server that answered, if it belongs to a
// persistent game server account (type 3), else 0.
func persistentID(r *row) uint64 {
	if r.steam>>52&0xF != 3 || answeredKey(r) == 0 {
		return 0
	}
	return r.steam
}
