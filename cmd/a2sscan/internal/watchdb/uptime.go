package watchdb

import (
	"database/sql"
	"net/netip"
	"slices"
	"time"
)

// Uptime is how a server fared in a period.
type Uptime struct {
	Addr             netip.AddrPort
	Game, Name       string // as in its latest answer; "": unknown
	Status           Status
	Since            time.Time // since when it has its status
	Up, Down, Unseen int64     // minutes
	Outages          int64     // events of the kind "down"
	People           *People   // nil: it never said
}

// People is how many people were on a server.
type People struct {
	Min  int64   `json:"fewest"`
	Max  int64   `json:"most"`
	Mean float64 `json:"mean"` // over the time that the server was up
}

// newPeople returns what columns of hours or days say. up is in minutes.
func newPeople(least, personMinutes, most sql.NullInt64, up int64) *People {
	if !personMinutes.Valid {
		return nil
	}
	return &People{least.Int64, most.Int64, float64(personMinutes.Int64) / float64(max(up, 1))}
}

// Share returns the share of the time in which the server answered, of the time in which
// it was asked. It is false if the server was never asked.
func (u *Uptime) Share() (share float64, ok bool) {
	asked := u.Up + u.Down
	return float64(u.Up) / float64(max(asked, 1)), asked > 0
}

// Uptime returns how each server that ever answered fared, sorted by address. The period
// is rounded outwards to what is stored, which is hours, or days where the hours are no
// longer kept. Time after the first answer of a server of which nothing is stored is unseen.
func (db *DB) Uptime(from, to time.Time) (servers []Uptime, err error) {
	var first sql.NullInt64 // the first hour that is stored as such
	if err := db.sql.QueryRow("SELECT min(hour) FROM hours").Scan(&first); err != nil {
		return nil, err
	}
	unit := func(t time.Time) time.Duration {
		if first.Valid && hourOf(t) < first.Int64 {
			return 24 * time.Hour
		}
		return time.Hour
	}
	since, until := from.UTC().Truncate(unit(from)), to.UTC().Add(unit(to)-1).Truncate(unit(to))
	end := until
	if now := time.Now(); end.After(now) {
		end = now
	}
	scan := func(row *sql.Rows) (u Uptime, err error) {
		var addr []byte
		var changed, seen int64
		var least, personMinutes, most sql.NullInt64
		if err := row.Scan(&addr, &u.Status, &changed, &seen, &u.Game, &u.Name, &u.Up, &u.Down, &least, &personMinutes, &most, &u.Outages); err != nil {
			return u, err
		}
		u.Since, u.People = time.Unix(changed, 0).UTC(), newPeople(least, personMinutes, most, u.Up)
		begin := max(since.Unix(), seen)
		u.Unseen = max(0, (end.Unix()-begin+30)/60-u.Up-u.Down)
		return u, u.Addr.UnmarshalText(addr)
	}
	running, err := db.Running()
	if err != nil {
		return nil, err
	}
	err = db.change(func(tx *sql.Tx) error { // only of a temporary table, with rows of the hours that may still change
		_, err := tx.Exec("DROP TABLE IF EXISTS temp.open; CREATE TEMP TABLE open AS SELECT * FROM hours LIMIT 0")
		for _, hour := range running {
			if err == nil {
				err = each(tx, "INSERT INTO open VALUES (?, ?, ?, ?, ?, ?, ?, ?)", hour.Samples, hour.row)
			}
		}
		if err != nil {
			return err
		}
		servers, err = collect(rows(tx, scan, `
			SELECT addr, status, since, first_seen, coalesce(json_extract(answer, '$.game.id'), ''),
				coalesce(json_extract(answer, '$.info.name'), ''), coalesce(up, 0), coalesce(down, 0), least, person_minutes, most,
				(SELECT count(*) FROM events WHERE events.addr = servers.addr AND event = 'down' AND time >= ?1 * 3600 AND time < ?2 * 3600)
			FROM servers LEFT JOIN (
				SELECT server, sum(up) AS up, sum(down) AS down, min(people_min) AS least,
					sum(person_minutes) AS person_minutes, max(people_max) AS most
				FROM (SELECT * FROM hours WHERE hour >= ?1 AND hour < ?2 UNION ALL SELECT * FROM open WHERE hour >= ?1 AND hour < ?2
					UNION ALL SELECT * FROM days WHERE day >= ?1 / 24 AND day < (?2 + 23) / 24)
				GROUP BY server) ON server = id
			WHERE first_seen < ?2 * 3600`, hourOf(since), hourOf(until)))
		return err
	})
	slices.SortFunc(servers, func(a, b Uptime) int { return a.Addr.Compare(b.Addr) })
	return servers, err
}
