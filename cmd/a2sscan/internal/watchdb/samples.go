package watchdb

import (
	"database/sql"
	"encoding/json"
	"slices"
	"time"
)

// Sample is how a server fared in one hour, or in the part of it that has passed: a number for
// each of the following. The view running_hours names them, too.
type Sample [8]uint32

const (
	UpFor     = iota // seconds
	DownFor          // seconds
	UnseenFor        // seconds
	PeopleMin        // the fewest people
	PeopleMax        // the most
	PeopleSum        // of all counts of people
	Counts           // how many there were
	SeenAt           // its latest answer, in seconds since 1970; 0: none
)

// Hour holds the samples of servers in one hour.
type Hour struct {
	Number  int64    // hours since 1970
	Samples []Sample // by the IDs of the servers, from 1 on
	Block   int      // if not 0, the first one is that of server 1 + Block * BlockSize
}

// BlockSize is how many samples are one value in the database. A row for each sample would make
// the writes of a minute cost as much as its queries; with much larger blocks it would take long
// to find the sample of one server.
const BlockSize = 256

// MaxInMemory is how many events are kept in memory, without a database in a file or until it can
// be written.
const MaxInMemory = 20_000

// Flush stores events, servers in the order of their changes, and the hours that may still change:
// all of it, or nothing. IDs of events are larger than that of any stored one. What is stored of
// earlier hours becomes rows. A server without Answer keeps the stored one.
func (db *DB) Flush(events []Event, servers []Server, hours ...Hour) error {
	return db.change(func(tx *sql.Tx) error {
		err := insert(tx, `INSERT INTO events (id, time, addr, event, line)
			SELECT value ->> 'id', unixepoch(value ->> 'time'), value ->> 'addr', value ->> 'event', value FROM json_each(?)`, events)
		if err == nil && db.lock == nil {
			_, err = tx.Exec("DELETE FROM events WHERE id <= (SELECT max(id) FROM events) - ?", MaxInMemory)
		}
		if err != nil {
			return err
		}
		update, err := tx.Prepare(`UPDATE servers SET first_seen = coalesce(first_seen, nullif(?1, 0)), last_seen = nullif(?1, 0), since = nullif(?2, 0), status = ?3,
			answer = coalesce(nullif(?4, ''), answer) WHERE id = ?5`)
		if err != nil {
			return err
		}
		defer update.Close()
		for _, s := range servers {
			if _, err := update.Exec(s.LastSeen, s.Since, string(s.Status), string(s.Answer), s.ID); err != nil {
				return err
			}
		}
		latest := int64(0)
		for _, hour := range hours {
			for block, samples := range slices.Collect(slices.Chunk(hour.Samples, BlockSize)) {
				text, _ := json.Marshal(samples) // numbers never fail
				if _, err := tx.Exec("INSERT OR REPLACE INTO running VALUES (?, ?, ?)", hour.Number, block, string(text)); err != nil {
					return err
				}
			}
			latest = max(latest, hour.Number)
		}
		_, err = tx.Exec(`
			INSERT OR REPLACE INTO hours
				SELECT hour, server, up, down, unseen, people_min, person_minutes, people_max FROM running_hours WHERE hour < ?1;
			UPDATE servers SET last_seen = seen FROM (SELECT server, max(seen) AS seen FROM running_hours WHERE hour < ?1 GROUP BY server)
				WHERE id = server AND seen > coalesce(last_seen, 0);
			DELETE FROM running WHERE hour < ?1`, latest-1)
		return err
	})
}

// Running returns the stored hours that had not ended, block by block.
func (db *DB) Running() ([]Hour, error) {
	return decoded[Hour](db, "SELECT json_object('Number', hour, 'Block', block, 'Samples', json(data)) FROM running ORDER BY hour")
}

// hourOf returns the number of the hour since 1970.
func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// Prune makes rows of days from the rows of hours that are older than hourly, and
// removes days and events that are older than daily, and totals that are older than a month.
func (db *DB) Prune(now time.Time, hourly, daily time.Duration) error {
	firstHour, firstDay := hourOf(now.Add(-hourly)), hourOf(now.Add(-daily))/24
	for moved := int64(1); moved > 0; { // an hour at a time, so that no change takes long
		err := db.change(func(tx *sql.Tx) error {
			result, err := tx.Exec(`INSERT INTO days
				SELECT hour / 24, server, up, down, unseen, people_min, person_minutes, people_max FROM hours
					WHERE hour = (SELECT min(hour) FROM hours WHERE hour < ?1)
				ON CONFLICT DO UPDATE SET up = up + excluded.up, down = down + excluded.down, unseen = unseen + excluded.unseen,
				people_min = coalesce(min(people_min, excluded.people_min), people_min, excluded.people_min),
				person_minutes = coalesce(person_minutes + excluded.person_minutes, person_minutes, excluded.person_minutes),
				people_max = coalesce(max(people_max, excluded.people_max), people_max, excluded.people_max);
				DELETE FROM hours WHERE hour = (SELECT min(hour) FROM hours WHERE hour < ?1)`, firstHour)
			if err == nil {
				moved, err = result.RowsAffected()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err := db.sql.Exec(`DELETE FROM days WHERE day < ?1;
		DELETE FROM events WHERE time < ?1 * 86400 AND id < (SELECT max(id) FROM events);
		DELETE FROM totals WHERE minute < ?2`, firstDay, now.AddDate(0, 0, -31).Unix()/60)
	return err
}
