package watchdb

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// Sample is how a server fared in one hour, or in the part of it that has passed.
type Sample struct {
	Server           int64
	Up, Down, Unseen uint16 // seconds
	Min, Max         uint16 // the fewest and the most people
	People           uint32 // the sum of all counts of people
	Checks           uint32 // the number of these counts
	Seen             uint32 // its latest answer, in seconds since 1970; 0: none
}

// block is the number of servers whose running samples share a row: a row for each
// would make the writing of a minute as dear as the asking.
const block = 1000

// Running holds the samples of an hour that may still change.
type Running struct {
	Hour    time.Time
	Samples []Sample // sorted by server
}

// Flush stores what changed since the last call, which is at most a minute ago: the
// servers that changed, by their ID, and hours of all servers. A server without Answer
// keeps the stored one.
func (db *DB) Flush(servers []Server, hours ...Running) error {
	return db.change(func(tx *sql.Tx) error {
		err := each(tx, `UPDATE servers SET first_seen = ?, last_seen = ?, since = ?, status = ?,
			answer = coalesce(?, answer) WHERE id = ?`, servers, func(s *Server) []any {
			var answer any
			if s.Answer != nil {
				answer = string(s.Answer)
			}
			return []any{unix(s.FirstSeen), unix(s.LastSeen), unix(s.Since), string(s.Status), answer, s.ID}
		})
		if err != nil {
			return err
		}
		for _, hour := range hours {
			var data []byte
			for samples := range slices.Chunk(hour.Samples, block) {
				if data, err = binary.Append(data[:0], binary.LittleEndian, samples); err != nil {
					return err
				}
				if _, err := tx.Exec("INSERT OR REPLACE INTO running (hour, block, data) VALUES (?, ?, ?)",
					hourOf(hour.Hour), samples[0].Server, data); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Running returns the hours that Flush stored and for which Hour was not called.
func (db *DB) Running() (hours []Running, err error) {
	type stored struct {
		hour int64
		data []byte
	}
	for row, err := range rows(db, func(row *sql.Rows) (s stored, err error) {
		return s, row.Scan(&s.hour, &s.data)
	}, "SELECT hour, data FROM running ORDER BY hour, block") {
		if err != nil {
			return nil, err
		}
		part := make([]Sample, len(row.data)/binary.Size(Sample{}))
		if _, err := binary.Decode(row.data, binary.LittleEndian, part); err != nil {
			return nil, fmt.Errorf("the running hour: %w", err)
		}
		hour := time.Unix(row.hour*3600, 0).UTC()
		if n := len(hours); n == 0 || !hours[n-1].Hour.Equal(hour) {
			hours = append(hours, Running{Hour: hour})
		}
		last := &hours[len(hours)-1]
		last.Samples = append(last.Samples, part...)
	}
	return hours, nil
}

// Hour stores the samples of an hour that has ended, which is then no longer running. A
// server that was never asked in it needs no sample. samples are sorted by server.
func (db *DB) Hour(hour time.Time, samples []Sample) error {
	return db.change(func(tx *sql.Tx) error {
		err := each(tx, "INSERT OR REPLACE INTO hours VALUES (?, ?, ?, ?, ?, ?, ?, ?)", samples, func(s *Sample) []any {
			r := s.row()
			columns := []any{hourOf(hour), s.Server, r.up, r.down, r.unseen, nil, nil, nil}
			if s.Checks > 0 {
				copy(columns[5:], []any{s.Min, r.personMinutes, s.Max})
			}
			return columns
		})
		if err != nil {
			return err
		}
		if err := each(tx, "UPDATE servers SET last_seen = ? WHERE id = ?", samples, func(s *Sample) []any {
			return []any{unix(s.seen()), s.Server}
		}); err != nil {
			return err
		}
		_, err = tx.Exec("DELETE FROM running WHERE hour = ?", hourOf(hour))
		return err
	})
}

// hourRow is what a row of hours says about a sample.
type hourRow struct {
	up, down, unseen int // minutes; they add up to those of the sample
	personMinutes    int64
}

func (s *Sample) row() (r hourRow) {
	minutes := func(seconds int) int { return (seconds + 30) / 60 }
	all := minutes(int(s.Up) + int(s.Down) + int(s.Unseen))
	r.up = min(minutes(int(s.Up)), all)
	r.down = min(minutes(int(s.Down)), all-r.up)
	r.unseen = all - r.up - r.down
	if s.Checks > 0 {
		r.personMinutes = int64((uint64(s.People)*uint64(r.up) + uint64(s.Checks)/2) / uint64(s.Checks))
	}
	return r
}

// seen returns the time of the latest answer.
func (s *Sample) seen() (t time.Time) {
	if s.Seen != 0 {
		t = time.Unix(int64(s.Seen), 0)
	}
	return t
}

// hourOf returns the number of the hour since 1970.
func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// Prune makes rows of days from the rows of hours that are older than hourly, and
// removes days and events that are older than daily.
func (db *DB) Prune(now time.Time, hourly, daily time.Duration) error {
	firstHour, firstDay := hourOf(now.Add(-hourly)), hourOf(now.Add(-daily))/24
	for { // an hour at a time, so that no change takes long
		var hour sql.NullInt64
		if err := db.sql.QueryRow("SELECT min(hour) FROM hours WHERE hour < ?", firstHour).Scan(&hour); err != nil {
			return err
		}
		if !hour.Valid {
			break
		}
		if err := db.change(func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO days
				SELECT hour / 24, server, up, down, unseen, people_min, person_minutes, people_max FROM hours WHERE hour = ?
				ON CONFLICT DO UPDATE SET up = up + excluded.up, down = down + excluded.down, unseen = unseen + excluded.unseen,
				people_min = coalesce(min(people_min, excluded.people_min), people_min, excluded.people_min),
				person_minutes = coalesce(person_minutes + excluded.person_minutes, person_minutes, excluded.person_minutes),
				people_max = coalesce(max(people_max, excluded.people_max), people_max, excluded.people_max)`, hour.Int64)
			if err != nil {
				return err
			}
			_, err = tx.Exec("DELETE FROM hours WHERE hour = ?", hour.Int64)
			return err
		}); err != nil {
			return err
		}
	}
	if _, err := db.sql.Exec("DELETE FROM days WHERE day < ?", firstDay); err != nil {
		return err
	}
	_, err := db.sql.Exec("DELETE FROM events WHERE time < ? AND id < (SELECT max(id) FROM events)", firstDay*86400)
	return err
}
