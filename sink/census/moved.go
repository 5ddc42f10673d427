package census

import (
	"maps"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// placeless returns a hash of name, game and map, or 0 if they do not identify a
// server.
func (s *Server) placeless() uint64 {
	if s.fields&wire.HasName == 0 || !s.knows(wire.HasMap, game.KeyMap) || s.Game == "" || s.key == 0 || !s.answered() || len(s.Name) < leastName {
		return 0
	}
	return mix(mix(xxhash.Sum64String(s.Name), xxhash.Sum64String(s.Game)), xxhash.Sum64String(s.Map))
}

// Identities returns the numbers by which a server is recognised at another address: its
// persistent Steam ID, and a hash of its name, game and map. A number is 0 if it is not known,
// or does not identify the server.
func (s *Server) Identities() (steamID, identity uint64) { return s.persistentID(), s.placeless() }

// match pairs each server of the old census with the server of the new census that has the
// same key at a different address. No other server in either census may have that key. If
// alone is set, no server may answer at the old address now, or have answered at the new
// address. Otherwise servers with the same name that rotate their maps would seem to move.
func (d *differ) match(key func(*Server) uint64, alone bool) map[*Server]*Server {
	all := map[*Server]*Server{}
	var from, to map[uint64]*Server
	var group sync.WaitGroup
	group.Go(func() { from = d.old.unique(key) })
	to = d.new.unique(key)
	group.Wait()
	for k, a := range from {
		b := to[k]
		if a == nil || b == nil || a.key == b.key || alone && (d.new.find(a.key).answered() || d.old.find(b.key).answered()) {
			continue
		}
		if x, y := a.persistentID(), b.persistentID(); x == 0 || y == 0 || x == y {
			all[a] = b
		}
	}
	return all
}

// unique returns the servers by key. If several servers have the same key, the value for
// this key is nil.
func (c *Census) unique(key func(*Server) uint64) map[uint64]*Server {
	all := map[uint64]*Server{}
	for _, s := range c.loaded {
		if k := key(s); k != 0 {
			if _, twin := all[k]; twin {
				s = nil
			}
			all[k] = s
		}
	}
	return all
}

// accept adds moves, and keeps only those that explain what happened at both addresses.
// The new address must have had no server, or a server that moved away; the old address
// must have no server now, or a server that moved there.
func (d *differ) accept(all map[*Server]*Server, by string) {
	for from, to := range all {
		if d.movedTo[from] == nil && d.movedFrom[to] == nil {
			d.movedTo[from], d.movedFrom[to], d.movedBy[to] = to, from, by
		}
	}
	check := slices.Collect(maps.Keys(d.movedTo))
	for len(check) > 0 {
		from := check[len(check)-1]
		check = check[:len(check)-1]
		to := d.movedTo[from]
		if to == nil {
			continue
		}
		was, is := d.old.find(to.key), d.new.find(from.key)
		if (!was.answered() || d.movedTo[was] != nil) && (!is.answered() || d.movedFrom[is] != nil) {
			continue
		}
		delete(d.movedTo, from)
		delete(d.movedFrom, to)
		delete(d.movedBy, to)
		// Moves that need the rejected move may now be impossible, so check them again.
		if was != nil {
			check = append(check, was)
		}
		if is != nil && d.movedFrom[is] != nil {
			check = append(check, d.movedFrom[is])
		}
	}
}
