package census

import (
	"cmp"
	"time"
)

// Join calls do for each address that either census has, in the order of addresses. A
// Server is nil if that census has no record of the address. A silent server has a
// record too, so look at Answered. If an address has several records, do gets the one
// that Diff compares. Records without an address are left out.
//
// Both Servers are valid until do returns. An error of do ends Join, which returns it.
func Join(before, after *Census, do func(before, after *Server) error) error {
	ids := newTexts()
	a, err := before.load(ids)
	if err != nil {
		return err
	}
	b, err := after.load(ids)
	if err != nil {
		return err
	}
	var x, y Server
	return join(a, b, func(i, j int) error {
		r := a.at(i)
		if r == nil {
			r = b.at(j)
		}
		if r.key == 0 {
			return nil
		}
		return do(a.fill(&x, i), b.fill(&y, j))
	})
}

// join goes through two tables in the order of addresses. For each address it calls do
// with the indices of its rows; -1 means that a table has none.
func join(a, b *table, do func(i, j int) error) (err error) {
	for i, j := 0, 0; err == nil && (i < len(a.rows) || j < len(b.rows)); {
		switch c := order(a, b, i, j); {
		case c < 0:
			err = do(i, -1)
			i++
		case c > 0:
			err = do(-1, j)
			j++
		default:
			err = do(i, j)
			i, j = i+1, j+1
		}
	}
	return err
}

// order compares the addresses of two rows. The end of a table comes after all rows.
func order(a, b *table, i, j int) int {
	switch {
	case i == len(a.rows):
		return 1
	case j == len(b.rows):
		return -1
	}
	return cmp.Compare(a.rows[i].key, b.rows[j].key)
}

// fill sets s to the server of row i and returns s. It returns nil if i is -1.
func (t *table) fill(s *Server, i int) *Server {
	r := t.at(i)
	if r == nil {
		return nil
	}
	*s = Server{
		Addr: addrOf(r.key), Scan: []byte(t.text(r.scan)), Status: statusWords[r.status],
		Game: t.text(r.game), GameName: []byte(t.text(r.gameText)), Name: []byte(t.fullName(r)), Map: []byte(t.text(r.level)),
		Version: []byte(t.text(r.version)), Mode: []byte(t.text(r.mode)), ASN: r.asn,
		People: r.people, Bots: r.bots, MaxPlayers: r.capacity, RTT: time.Duration(r.rtt) * time.Microsecond,
		SteamID: r.steam, Password: r.has&hasPassword != 0, HasInfo: r.has&hasInfo != 0, Flags: flagWords(r.flags),
	}
	if r.at != 0 {
		s.Time = time.UnixMilli(r.at).UTC()
	}
	if r.has&hasSystem != 0 {
		s.System = []byte(systemName(r.system))
	}
	if r.country[0] != 0 {
		s.Country = r.country[:]
	}
	if r.asn != 0 {
		s.Org = []byte(t.text(t.orgs[r.asn]))
	}
	return s
}
