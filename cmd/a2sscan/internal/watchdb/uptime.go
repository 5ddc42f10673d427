package watchdb

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// UptimeFields are the names of what Uptime knows of a server. Times are in minutes.
var UptimeFields = []string{
	"addr", "game", "name", "status", "since", "up_share", "up", "down", "unseen", "outages", "people_min", "people_mean", "people_max",
}

// Uptime calls do with the chosen fields of each server that ever answered, sorted by address.
// A nil value is unknown. The period is rounded outwards to what is stored, which is hours, or
// days where the hours are no longer kept. Time after the first answer of a server of which
// nothing is stored is unseen.
func (db *DB) Uptime(from, to time.Time, fields []string, do func(values []any)) error {
	var first sql.NullInt64 // the first hour that is stored as such
	if err := db.sql.QueryRow("SELECT min(hour) FROM hours").Scan(&first); err != nil {
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
			SELECT * FROM hours WHERE hour >= ?1 AND hour < ?2
			UNION ALL SELECT hour, server, up, down, unseen, people_min, person_minutes, people_max FROM running_hours WHERE hour >= ?1 AND hour < ?2
			UNION ALL SELECT * FROM days WHERE day >= ?1 / 24 AND day < (?2 + 23) / 24
			UNION ALL SELECT NULL, id, 0, 0, 0, NULL, NULL, NULL FROM servers WHERE first_seen < ?2 * 3600),
		sums AS (
			SELECT server, sum(up) AS up, sum(down) AS down, min(people_min) AS people_min, sum(person_minutes) AS person_minutes,
				max(people_max) AS people_max FROM periods GROUP BY server),
		uptime AS (
			SELECT addr, coalesce(answer ->> '$.game.id', '') AS game, coalesce(answer ->> '$.info.name', '') AS name, status,
				strftime('%%FT%%TZ', since, 'unixepoch') AS since, round(up * 1.0 / (up + down), 6) AS up_share,
				up, down,
				max(0, (min(?2 * 3600, unixepoch()) - max(?1 * 3600, first_seen) + 30) / 60 - up - down) AS unseen,
				(SELECT count(*) FROM events WHERE events.addr = servers.addr AND event = 'down' AND time >= ?1 * 3600 AND time < ?2 * 3600) AS outages,
				people_min, round(person_minutes * 1.0 / max(up, 1), 1) AS people_mean, people_max,
				'[' || replace(replace(addr, '.', ','), ':', ',') || ']' AS place
			FROM sums CROSS JOIN servers ON id = server)
		SELECT %s FROM uptime ORDER BY place ->> 0, place ->> 1, place ->> 2, place ->> 3, place ->> 4`, strings.Join(fields, ", ")),
		hourOf(since), hourOf(until))
}
