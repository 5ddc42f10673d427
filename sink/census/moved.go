package census

import (
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// How a server that moved was recognised.
const (
	bySteamID  = 1
	byIdentity = 2
)

var movedWords = [...]string{"", "steam_id", "identity"}

// move holds the rows of a server that left one address and appeared at another:
// from in the old table, to in the new one.
type move struct{ from, to int }

// moves finds servers that moved.
func (d *differ) moves() {
	d.movedTo, d.movedFrom = map[int]int{}, map[int]int{}
	d.movedBy = map[int]uint8{}
	d.accept(d.match(persistentID, false), bySteamID)
	d.accept(d.match(d.placeless, true), byIdentity)
}

// placeless returns a hash of name, game and map, or 0 if they do not identify a
// server.
func (d *differ) placeless(r *row) uint64 {
	if r.has&hasName == 0 || r.has&hasMap == 0 || r.game == 0 || answeredKey(r) == 0 {
		return 0
	}
	name := d.tableOf(r).nameOf(r)
	if len(name) < leastName {
		return 0
	}
	return mix(xxhash.Sum64(name), uint64(r.game)<<32|uint64(r.level)) | 1
}

// tableOf returns the table of a row.
func (d *differ) tableOf(r *row) *table {
	if r.old {
		return d.old
	}
	return d.new
}

// match pairs each server of the old night with the server of the new night that
// has the same key at a different address. No other server of either night may have
// that key. If alone is set, no server may answer at either address on the other
// night: otherwise servers with the same name that rotate their maps would seem to
// change places.
func (d *differ) match(key func(*row) uint64, alone bool) []move {
	from, to := candidates(d.old, d.new, key, alone), candidates(d.new, d.old, key, alone)
	for k := range from {
		if _, ok := to[k]; !ok {
			delete(from, k)
		}
	}
	for k := range to {
		if _, ok := from[k]; !ok {
			delete(to, k)
		}
	}
	dropTwins(d.old, from, key)
	dropTwins(d.new, to, key)
	var all []move
	for k, i := range from {
		j, ok := to[k]
		if ok && d.old.rows[i].key != d.new.rows[j].key && sameAccount(d.old.rows[i], d.new.rows[j]) {
			all = append(all, move{i, j})
		}
	}
	return all
}

// sameAccount reports whether two rows may be one server, judging by their Steam IDs.
func sameAccount(a, b *row) bool {
	x, y := persistentID(a), persistentID(b)
	return x == 0 || y == 0 || x == y
}

// candidates returns the rows of t by key. It leaves out a server if, on the other
// night, a server with the same key or, if alone is set, any server answers at its
// address.
func candidates(t, other *table, key func(*row) uint64, alone bool) map[uint64]int {
	all := map[uint64]int{}
	j := 0
	for i, r := range t.rows {
		for j < len(other.rows) && other.rows[j].key < r.key {
			j++
		}
		k := key(r)
		if k == 0 {
			continue
		}
		if j < len(other.rows) && other.rows[j].key == r.key && other.rows[j].answered() {
			if alone || key(other.rows[j]) == k {
				continue
			}
		}
		all[k] = i
	}
	return all
}

// dropTwins removes from found the keys that several servers of t have.
func dropTwins(t *table, found map[uint64]int, key func(*row) uint64) {
	for i, r := range t.rows {
		if len(found) == 0 {
			return
		}
		k := key(r)
		if one, ok := found[k]; k != 0 && ok && one != i {
			delete(found, k)
		}
	}
}

// accept keeps the moves that leave every address explained. The new address must
// have had no server, or a server that moved away; the old address must have no
// server now, or a server that moved there.
func (d *differ) accept(all []move, by uint8) {
	for _, m := range all {
		if _, taken := d.movedTo[m.from]; taken {
			continue
		}
		if _, taken := d.movedFrom[m.to]; taken {
			continue
		}
		d.movedTo[m.from], d.movedFrom[m.to], d.movedBy[m.to] = m.to, m.from, by
	}
	check := slices.Collect(maps.Keys(d.movedTo))
	for len(check) > 0 {
		from := check[len(check)-1]
		check = check[:len(check)-1]
		to, ok := d.movedTo[from]
		old, now := d.old.rows[from].key, uint64(0)
		if ok {
			now = d.new.rows[to].key
		}
		if !ok || d.free(d.old, now, d.movedTo) && d.free(d.new, old, d.movedFrom) {
			continue
		}
		delete(d.movedTo, from)
		delete(d.movedFrom, to)
		delete(d.movedBy, to)
		check = append(check, d.dependent(old, now)...)
	}
}

// dependent returns the old rows of the servers whose moves were explained by a move
// from old to now: they may no longer be accepted.
func (d *differ) dependent(old, now uint64) (all []int) {
	if j, ok := d.new.index(old); ok {
		if from, moved := d.movedFrom[j]; moved {
			all = append(all, from)
		}
	}
	if i, ok := d.old.index(now); ok {
		all = append(all, i)
	}
	return all
}

// free reports whether a night has no server at an address, or only one that moved.
func (d *differ) free(t *table, key uint64, moved map[int]int) bool {
	i, ok := t.index(key)
	if !ok || !t.rows[i].status.answered() {
		return true
	}
	_, ok = moved[i]
	return ok
}
