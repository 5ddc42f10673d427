package census

import (
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// moves finds servers that moved: by their Steam IDs first, then by name, game and map.
func (d *differ) moves() {
	d.accept(d.match((*Server).persistentID, false), "steam_id")
	d.accept(d.match((*Server).placeless, true), "identity")
}

// placeless returns a hash of name, game and map, or 0 if they do not identify a
// server.
func (s *Server) placeless() uint64 {
	if s.fields&wire.HasName == 0 || !s.knows(wire.HasMap, game.KeyMap) || s.Game == "" || s.key == 0 || !s.answered() || len(s.Name) < leastName {
		return 0
	}
	return mix(mix(xxhash.Sum64String(s.Name), xxhash.Sum64String(s.Game)), xxhash.Sum64String(s.Map))
}

// Identities returns hashes by which a server is recognised at another address: of its
// persistent Steam ID, and of its name, game and map. Each is 0 if it identifies no server.
func (s *Server) Identities() (steamID, identity uint64) { return s.persistentID(), s.placeless() }

// match pairs each server of the old night with the server of the new night that
// has the same key at a different address. No other server of either night may have
// that key. If alone is set, no server may answer at either address on the other
// night: otherwise servers with the same name that rotate their maps would seem to
// change places.
func (d *differ) match(key func(*Server) uint64, alone bool) map[*Server]*Server {
	from, to := candidates(d.old, d.new, key, alone), candidates(d.new, d.old, key, alone)
	maps.DeleteFunc(from, func(k uint64, _ *Server) bool { return to[k] == nil })
	maps.DeleteFunc(to, func(k uint64, _ *Server) bool { return from[k] == nil })
	dropTwins(d.old, from, key)
	dropTwins(d.new, to, key)
	all := map[*Server]*Server{}
	for k, a := range from {
		b := to[k]
		if b == nil || a.key == b.key {
			continue
		}
		if x, y := a.persistentID(), b.persistentID(); x == 0 || y == 0 || x == y {
			all[a] = b
		}
	}
	return all
}

// candidates returns the servers of c by key. It leaves out a server if, on the other
// night, a server with the same key or, if alone is set, any server answers at its
// address.
func candidates(c, other *Census, key func(*Server) uint64, alone bool) map[uint64]*Server {
	all := map[uint64]*Server{}
	rest := other.servers
	for _, s := range c.servers {
		for len(rest) > 0 && rest[0].key < s.key {
			rest = rest[1:]
		}
		k := key(s)
		stays := len(rest) > 0 && rest[0].key == s.key && rest[0].answered() && (alone || key(rest[0]) == k)
		if k != 0 && !stays {
			all[k] = s
		}
	}
	return all
}

// dropTwins removes from found the keys that several servers of c have.
func dropTwins(c *Census, found map[uint64]*Server, key func(*Server) uint64) {
	if len(found) == 0 {
		return
	}
	for _, s := range c.servers {
		if k := key(s); found[k] != nil && found[k] != s {
			delete(found, k)
		}
	}
}

// accept keeps the moves that leave every address explained. The new address must
// have had no server, or a server that moved away; the old address must have no
// server now, or a server that moved there.
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
		// These moves were explained by this one, and may no longer be accepted.
		if was != nil {
			check = append(check, was)
		}
		if is != nil && d.movedFrom[is] != nil {
			check = append(check, d.movedFrom[is])
		}
	}
}
