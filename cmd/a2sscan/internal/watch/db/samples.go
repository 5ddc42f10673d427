package db

import (
	"database/sql"
	"encoding/json"
	"slices"
	"time"
)

// Sample has the counters of a server in one hour, which may not be over yet. The
// constants below are the indexes of the counters, as in the view running_hours.
type Sample [10]uint32

const (
	UpFor      = iota // seconds for which the server was up
	DownFor           // seconds for which the server was down, except for maintenance
	UnseenFor         // seconds for which the watch did not see the server
	PeopleMin         // lowest number of people
	PeopleMax         // highest number of people
	PeopleSum         // sum of all counts of people
	Counts            // number of these counts
	SeenAt            // Unix time of the latest answer, or 0 if there is none
	PlannedFor        // seconds for which the server was down for maintenance
	Outages           // number of times that the server went down without maintenance
)

// Hour holds the samples of servers in one hour.
type Hour struct {
	Number  int64    // number of hours since 1970
	Samples []Sample // in the order of the IDs of the servers
	// Block is the number of a block of servers. The ID of the first server in Samples
	// is 1 + Block * BlockSize.
	Block int
}

// BlockSize is the number of samples that one value in the database holds. With a row for
// each sample, storing the samples every minute would cost as much as querying the servers.
// With much larger blocks, finding the sample of one server would take long.
const BlockSize = 256

// MaxInMemory is the maximum number of events in memory: in a database without a file, and
// while the database file can't be written.
const MaxInMemory = 20_000

// Flush stores events, servers and hours in one transaction. The IDs of the events must be
// larger than all stored IDs. If the argument servers has a server more than once, the
// last entry wins. An entry without an Answer does not change the stored answer. The
// argument hours has the hours that may still change. Samples of earlier hours become rows
// of the table "hours".
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
				if err := storeRunning(tx, Hour{hour.Number, samples, block}); err != nil {
					return err
				}
			}
			latest = max(latest, hour.Number)
		}
		_, err = tx.Exec(`
			INSERT OR REPLACE INTO hours
				SELECT hour, server, up, down, unseen, people_min, person_seconds, people_max FROM running_hours WHERE hour < ?1;
			INSERT OR REPLACE INTO stops SELECT server, hour, outages, planned FROM running_hours WHERE hour < ?1 AND outages + planned > 0;
			UPDATE servers SET last_seen = seen FROM (SELECT server, max(seen) AS seen FROM running_hours WHERE hour < ?1 GROUP BY server)
				WHERE id = server AND seen > coalesce(last_seen, 0);
			DELETE FROM running WHERE hour < ?1`, latest-1)
		return err
	})
}

// storeRunning stores a block of the samples of an hour in the table "running".
func storeRunning(tx *sql.Tx, h Hour) error {
	text, _ := json.Marshal(h.Samples) // encoding numbers never fails
	_, err := tx.Exec("INSERT OR REPLACE INTO running VALUES (?, ?, ?)", h.Number, h.Block, string(text))
	return err
}

// Running returns the stored hours that may still change, block by block. A watch stores
// events earlier than samples. So if the previous watch was killed, the samples may lack an
// outage that has an event. Running adds such an outage to the latest hour, and stores this
// hour: if the hour is long over, the watch itself does not store it again.
func (db *DB) Running() ([]Hour, error) {
	hours, err := decoded[Hour](db, "SELECT json_object('Number', hour, 'Block', block, 'Samples', json(data)) FROM running ORDER BY hour")
	if err != nil || len(hours) == 0 {
		return hours, err
	}
	type downs struct{ ID, Events int }
	reported, err := decoded[downs](db, `SELECT json_object('ID', servers.id, 'Events', count(*)) FROM events JOIN servers USING (addr)
		WHERE event = 'down' AND time >= ? AND line ->> 'planned' IS NULL GROUP BY servers.id`, hours[0].Number*3600)
	if err != nil {
		return nil, err
	}
	corrected := map[int]bool{} // indexes of hours
	for _, d := range reported {
		latest := -1
		block, at := (d.ID-1)/BlockSize, (d.ID-1)%BlockSize
		for n, h := range hours {
			if h.Block == block && at < len(h.Samples) {
				latest = n
				d.Events -= int(h.Samples[at][Outages])
			}
		}
		if latest >= 0 && d.Events > 0 {
			hours[latest].Samples[at][Outages] += uint32(d.Events)
			corrected[latest] = true
		}
	}
	return hours, db.change(func(tx *sql.Tx) error {
		for n := range corrected {
			if err := storeRunning(tx, hours[n]); err != nil {
				return err
			}
		}
		return nil
	})
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// Prune merges rows of hours into rows of days when their age exceeds hourly. It deletes
// days, stops and events whose age exceeds daily, and totals that are older than a month.
func (db *DB) Prune(now time.Time, hourly, daily time.Duration) error {
	firstHour, firstDay := hourOf(now.Add(-hourly)), hourOf(now.Add(-daily))/24
	for moved := int64(1); moved > 0; { // merge one hour at a time, so that no transaction takes long
		err := db.change(func(tx *sql.Tx) error {
			result, err := tx.Exec(`INSERT INTO days
				SELECT hour / 24, server, up, down, unseen, people_min, person_seconds, people_max FROM hours
					WHERE hour = (SELECT min(hour) FROM hours WHERE hour < ?1)
				ON CONFLICT DO UPDATE SET up = up + excluded.up, down = down + excluded.down, unseen = unseen + excluded.unseen,
				people_min = coalesce(min(people_min, excluded.people_min), people_min, excluded.people_min),
				person_seconds = coalesce(person_seconds + excluded.person_seconds, person_seconds, excluded.person_seconds),
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
		DELETE FROM stops WHERE hour < ?1 * 24;
		DELETE FROM events WHERE time < ?1 * 86400 AND id < (SELECT max(id) FROM events);
		DELETE FROM totals WHERE minute < ?2`, firstDay, now.AddDate(0, 0, -31).Unix()/60)
	return err
}
