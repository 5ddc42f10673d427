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

// Share returns the share of the time in which the server answered, of the time in which
// it was asked. It is false if the server was never asked.
func (u *Uptime) Share() (share float64, ok bool) {
	asked := u.Up + u.Down
	return float64(u.Up) / float64(max(asked, 1)), asked > 0
}

// Uptime returns how each server that ever answered fared, sorted by address. The period
// is rounded outwards to what is stored, which is hours, or days where the hours are no
// longer kept; Uptime returns it so. Time after the first answer of a server of which
// nothing is stored is unseen.
func (db *DB) Uptime(from, to time.Time) (since, until time.Time, servers []Uptime, err error) {
	if since, until, err = db.round(from, to); err != nil {
		return since, until, nil, err
	}
	hours, err := db.Running()
	if err != nil {
		return since, until, nil, err
	}
	running := map[int64][]*Sample{}
	for _, hour := range hours {
		if hour.Number < hourOf(since) || hour.Number >= hourOf(until) {
			continue
		}
		for i := range hour.Samples {
			s := &hour.Samples[i]
			running[s.Server] = append(running[s.Server], s)
		}
	}
	servers, err = collect(rows(db, func(row *sql.Rows) (Uptime, error) { return uptime(row, running, since, until) }, `
		SELECT id, addr, status, since, first_seen, coalesce(json_extract(answer, '$.game.id'), ''),
			coalesce(json_extract(answer, '$.info.name'), ''), up, down, least, person_minutes, most,
			(SELECT count(*) FROM events WHERE events.addr = servers.addr AND event = 'down' AND time >= ? AND time < ?)
		FROM servers LEFT JOIN (
			SELECT server, sum(up) AS up, sum(down) AS down, min(people_min) AS least,
				sum(person_minutes) AS person_minutes, max(people_max) AS most
			FROM (SELECT * FROM hours WHERE hour >= ? AND hour < ? UNION ALL SELECT * FROM days WHERE day >= ? AND day < ?)
			GROUP BY server) ON server = id
		WHERE first_seen IS NOT NULL AND first_seen < ?`,
		since.Unix(), until.Unix(), hourOf(since), hourOf(until), hourOf(since)/24, (hourOf(until)+23)/24, until.Unix()))
	slices.SortFunc(servers, func(a, b Uptime) int { return a.Addr.Compare(b.Addr) })
	return since, until, servers, err
}

// round rounds a period outwards.
func (db *DB) round(from, to time.Time) (since, until time.Time, err error) {
	var first sql.NullInt64 // the first hour that is stored as such
	if err := db.sql.QueryRow("SELECT min(hour) FROM hours").Scan(&first); err != nil {
		return from, to, err
	}
	unit := func(t time.Time) time.Duration {
		if first.Valid && hourOf(t) < first.Int64 {
			return 24 * time.Hour
		}
		return time.Hour
	}
	since, until = from.UTC().Truncate(unit(from)), to.UTC().Truncate(unit(to))
	if until.Before(to) {
		until = until.Add(unit(to))
	}
	return since, until, nil
}

// uptime makes the uptime of a server from its row and its running hours.
func uptime(row *sql.Rows, running map[int64][]*Sample, since, until time.Time) (u Uptime, err error) {
	var id int64
	var addr []byte
	var changed, first int64
	var up, down, least, personMinutes, most sql.NullInt64
	if err := row.Scan(&id, &addr, &u.Status, &changed, &first, &u.Game, &u.Name, &up, &down, &least, &personMinutes, &most, &u.Outages); err != nil {
		return u, err
	}
	if err := u.Addr.UnmarshalText(addr); err != nil {
		return u, err
	}
	u.Since, u.Up, u.Down = time.Unix(changed, 0).UTC(), up.Int64, down.Int64
	for _, s := range running[id] {
		up, down, _, now := s.minutes()
		u.Up, u.Down = u.Up+up, u.Down+down
		if s.Checks == 0 {
			continue
		}
		if !personMinutes.Valid {
			least.Int64, personMinutes.Valid = int64(s.Min), true
		}
		least.Int64, most.Int64 = min(least.Int64, int64(s.Min)), max(most.Int64, int64(s.Max))
		personMinutes.Int64 += now
	}
	if personMinutes.Valid {
		u.People = &People{least.Int64, most.Int64, float64(personMinutes.Int64) / float64(max(u.Up, 1))}
	}
	begin, end := since, until
	if now := time.Now(); end.After(now) {
		end = now
	}
	if t := time.Unix(first, 0); t.After(begin) {
		begin = t
	}
	u.Unseen = max(0, int64((end.Sub(begin)+30*time.Second)/time.Minute)-u.Up-u.Down)
	return u, nil
}
