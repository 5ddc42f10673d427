package db

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Period has the uptime of a server in one hour or day.
type Period struct {
	Time   time.Time `json:"time"`
	Hours  int       `json:"hours"` // 1 or 24
	Up     int64     `json:"up_s"`  // seconds
	Down   int64     `json:"down_s"`
	Unseen int64     `json:"unseen_s"`
	// Planned are the seconds of maintenance in which the server was down.
	Planned int64 `json:"planned_s,omitempty"`
	// Outages is how often the server went down without maintenance.
	Outages int64   `json:"outages,omitempty"`
	People  *People `json:"people,omitempty"` // nil if the people were never counted
}

// People summarises the number of people on a server in a period.
type People struct {
	Min  int64   `json:"fewest"`
	Max  int64   `json:"most"`
	Mean float64 `json:"mean"` // while the server was up
}

// Add adds the times and outages of another period.
func (p *Period) Add(other *Period) {
	p.Up, p.Down, p.Unseen = p.Up+other.Up, p.Down+other.Down, p.Unseen+other.Unseen
	p.Planned, p.Outages = p.Planned+other.Planned, p.Outages+other.Outages
}

// Share returns Up as a share of Up and Down together. ok is false if both are 0.
func (p *Period) Share() (share float64, ok bool) {
	return float64(p.Up) / float64(max(p.Up+p.Down, 1)), p.Up+p.Down > 0
}

// History returns the hours and days of a server between two times, in chronological order.
// It includes the hours that may still change.
func (db *DB) History(server int64, since, until time.Time) ([]Period, error) {
	// The primary keys begin with the time, so the query looks up each hour and day
	// separately. DB.Prune may have merged only the first hours of a day, so the row of a day
	// has the stops of the hours before the first row of hours.
	return decoded[Period](db, `
		WITH RECURSIVE
		hour_numbers(n) AS (SELECT max(?1, (SELECT min(hour) FROM hours)) UNION ALL SELECT n + 1 FROM hour_numbers WHERE n < ?2),
		day_numbers(n) AS (SELECT max(?1 / 24, (SELECT min(day) FROM days)) UNION ALL SELECT n + 1 FROM day_numbers WHERE n < ?2 / 24),
		periods AS (
			SELECT day * 24 AS hour, 24 AS hours, min(day * 24 + 24, coalesce((SELECT min(hour) FROM hours), day * 24 + 24)) AS until,
				up, down, unseen, NULL AS planned, NULL AS outages, people_min, min(person_seconds * 1.0 / max(up, 1), people_max) AS mean, people_max
				FROM day_numbers CROSS JOIN days ON day = n AND server = ?3
			UNION ALL SELECT hour, 1, hour + 1, up, down, unseen, NULL, NULL, people_min, person_seconds * 1.0 / max(up, 1), people_max
				FROM hour_numbers CROSS JOIN hours ON hour = n AND server = ?3
			UNION ALL SELECT hour, 1, NULL, up, down, unseen, planned, outages, people_min, people_mean, people_max FROM running_hours
				WHERE hour >= ?1 AND block = (?3 - 1) / ?4 AND server = ?3)
		SELECT json_object('time', strftime('%FT%TZ', hour * 3600, 'unixepoch'), 'hours', hours, 'up_s', up, 'down_s', down, 'unseen_s', unseen,
			'planned_s', coalesce(planned, (SELECT sum(planned) FROM stops WHERE server = ?3 AND stops.hour >= periods.hour AND stops.hour < until), 0),
			'outages', coalesce(outages, (SELECT sum(outages) FROM stops WHERE server = ?3 AND stops.hour >= periods.hour AND stops.hour < until), 0),
			'people', iif(mean IS NULL, NULL, json_object('fewest', people_min, 'most', people_max, 'mean', mean)))
			FROM periods ORDER BY hour`, hourOf(since), hourOf(until), server, BlockSize)
}

// Shares returns the uptime of each server since a time, as Period.Share returns it. The
// keys are the IDs of the servers. Servers that were neither up nor down are absent.
func (db *DB) Shares(since time.Time) (map[int64]float64, error) {
	shares := map[int64]float64{}
	err := db.each(func(row *sql.Rows) error {
		var server int64
		var share float64
		err := row.Scan(&server, &share)
		shares[server] = share
		return err
	}, `SELECT server, sum(up) * 1.0 / sum(up + down) FROM (
			SELECT server, up, down FROM hours WHERE hour >= ?1 UNION ALL SELECT server, up, down FROM days WHERE day >= ?1 / 24
			UNION ALL SELECT server, up, down FROM running_hours)
		GROUP BY server HAVING sum(up + down) > 0`, hourOf(since))
	return shares, err
}

// Total has the number of servers that were up at a time, and the number of people on them.
// In a result of Totals, both numbers are means over a step.
type Total struct {
	At         int64 // Unix seconds
	Up, People float64
}

// Count stores the Total for the minute of the given time.
func (db *DB) Count(at time.Time, up, people int) error {
	_, err := db.sql.Exec("INSERT OR REPLACE INTO totals VALUES (?, ?, ?)", at.Unix()/60, up, people)
	return err
}

// Totals returns a Total for each step, beginning at the given time. It omits steps
// without data. In each Total, At is the first minute of the step that has data.
func (db *DB) Totals(since time.Time, step time.Duration) ([]Total, error) {
	return decoded[Total](db, `SELECT json_object('At', min(minute) * 60, 'Up', avg(up), 'People', avg(people))
		FROM totals WHERE minute * 60 >= ? GROUP BY minute * 60 / ? ORDER BY minute`, since.Unix(), int64(step/time.Second))
}

// Answer returns the latest full answer of a server as a line of a census without player
// names, or nil.
func (db *DB) Answer(server int64) (line []byte, err error) {
	err = db.sql.QueryRow("SELECT (SELECT answer FROM servers WHERE id = ?)", server).Scan(&line)
	return line, err
}

// UptimeFields are the names of the fields that Uptime can return. Those that end
// in _s are in seconds.
var UptimeFields = []string{
	"addr", "game", "name", "status", "since", "up_share", "up_s", "down_s", "unseen_s", "outages", "people_min", "people_mean", "people_max", "planned_s", "label",
}

// Uptime calls do() once for each server, in the order of the addresses, with the values
// of the given fields. An unknown value is nil. If all is false, Uptime omits servers that
// never answered. The parameters from and to limit the period. Uptime extends it to full
// hours, or to full days where the database no longer has hours. After the first answer of
// a server, time without stored data counts as unseen.
func (db *DB) Uptime(from, to time.Time, all bool, fields []string, do func(values []any)) error {
	var first sql.NullInt64 // the first hour that is not merged into a day
	if err := db.sql.QueryRow("SELECT min(hour) FROM (SELECT hour FROM hours UNION ALL SELECT hour FROM running)").Scan(&first); err != nil {
		return err
	}
	unit := func(t time.Time) time.Duration {
		if first.Valid && hourOf(t) < first.Int64 {
			return 24 * time.Hour
		}
		return time.Hour
	}
	since, until := from.UTC().Truncate(unit(from)), to.UTC().Add(unit(to)-1).Truncate(unit(to))
	values, pointers := make([]any, len(fields)), make([]any, len(fields))
	for i := range values {
		pointers[i] = &values[i]
	}
	return db.each(func(row *sql.Rows) error {
		err := row.Scan(pointers...)
		if err == nil {
			do(values)
		}
		return err
	}, fmt.Sprintf(`
		WITH periods AS (
			SELECT *, 0 AS outages, 0 AS planned FROM hours WHERE hour >= ?1 AND hour < ?2
			UNION ALL SELECT hour, server, up, down, unseen, people_min, person_seconds, people_max, outages, planned
				FROM running_hours WHERE hour >= ?1 AND hour < ?2
			UNION ALL SELECT *, 0, 0 FROM days WHERE day * 24 >= ?1 AND day < (?2 + 23) / 24
			UNION ALL SELECT NULL, server, 0, 0, 0, NULL, NULL, NULL, outages, planned FROM stops WHERE hour >= ?1 AND hour < ?2
			UNION ALL SELECT NULL, id, 0, 0, 0, NULL, NULL, NULL, 0, 0 FROM servers WHERE first_seen < ?2 * 3600 OR ?3 AND first_seen IS NULL),
		sums AS (
			SELECT server, sum(up) AS up, sum(down) AS down, sum(planned) AS planned, sum(outages) AS outages, min(people_min) AS people_min,
				min(sum(person_seconds) * 1.0 / sum(iif(people_min IS NULL, NULL, max(up, 1))), max(people_max)) AS mean, max(people_max) AS people_max
				FROM periods GROUP BY server),
		uptime AS (
			SELECT addr, coalesce(answer ->> '$.game.id', '') AS game, coalesce(answer ->> '$.info.name', '') AS name, status,
				strftime('%%FT%%TZ', since, 'unixepoch') AS since, iif(up + down, min(round(up * 1.0 / (up + down), 6), iif(down, 0.999999, 1.0)), NULL) AS up_share,
				up AS up_s, down AS down_s,
				max(0, min(?2 * 3600, unixepoch()) - max(?1 * 3600, first_seen) - up - down - planned) AS unseen_s,
				outages, people_min, round(mean, 1) AS people_mean, people_max, planned AS planned_s, coalesce(label, '') AS label,
				'[' || replace(replace(addr, '.', ','), ':', ',') || ']' AS place
			FROM sums CROSS JOIN servers ON id = server)
		SELECT %s FROM uptime ORDER BY place ->> 0, place ->> 1, place ->> 2, place ->> 3, place ->> 4`, strings.Join(fields, ", ")),
		hourOf(since), hourOf(until), all)
}
