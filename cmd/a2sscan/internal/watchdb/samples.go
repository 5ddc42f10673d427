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

// Hour holds the samples of all servers in one hour.
type Hour struct {
	Number  int64    // hours since 1970
	Ended   bool     // it changes no more
	Samples []Sample // sorted by server
}

// Flush stores what changed since the last call, which is at most a minute ago: the
// servers that changed, by their ID, and hours. A server without Answer keeps the stored
// one. An hour that has not ended is one value, because a row for each server would make
// the writing of a minute as dear as the asking.
func (db *DB) Flush(servers []Server, hours ...Hour) error {
	return db.change(func(tx *sql.Tx) error {
		err := each(tx, `UPDATE servers SET first_seen = nullif(?, 0), last_seen = nullif(?, 0), since = nullif(?, 0), status = ?,
			answer = coalesce(nullif(?, ''), answer) WHERE id = ?`, servers, func(s *Server) []any {
			return []any{s.FirstSeen, s.LastSeen, s.Since, string(s.Status), string(s.Answer), s.ID}
		})
		for _, hour := range hours {
			if err == nil && hour.Ended {
				err = hour.end(tx)
			} else if err == nil {
				var data []byte
				if data, err = binary.Append(nil, binary.LittleEndian, hour.Samples); err == nil {
					_, err = tx.Exec("INSERT OR REPLACE INTO running (hour, data) VALUES (?, ?)", hour.Number, data)
				}
			}
		}
		return err
	})
}

// end stores an hour that has ended. A server that was never asked in it gets no row.
func (h *Hour) end(tx *sql.Tx) error {
	asked := slices.DeleteFunc(slices.Clone(h.Samples), func(s Sample) bool { return s.Up+s.Down+s.Unseen == 0 })
	if err := each(tx, "INSERT OR REPLACE INTO hours VALUES (?, ?, ?, ?, ?, ?, ?, ?)", asked, h.row); err != nil {
		return err
	}
	seen := slices.DeleteFunc(asked, func(s Sample) bool { return s.Seen == 0 })
	if err := each(tx, "UPDATE servers SET last_seen = ? WHERE id = ?", seen, func(s *Sample) []any {
		return []any{s.Seen, s.Server}
	}); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM running WHERE hour = ?", h.Number)
	return err
}

// row returns the row of hours of a sample.
func (h *Hour) row(s *Sample) []any {
	up, down, unseen, personMinutes := s.minutes()
	columns := []any{h.Number, s.Server, up, down, unseen, nil, nil, nil}
	if s.Checks > 0 {
		copy(columns[5:], []any{s.Min, personMinutes, s.Max})
	}
	return columns
}

// Running returns the stored hours that had not ended.
func (db *DB) Running() ([]Hour, error) {
	return collect(rows(db.sql, readHour, "SELECT hour, data FROM running ORDER BY hour"))
}

func readHour(row *sql.Rows) (h Hour, err error) {
	var data []byte
	if err := row.Scan(&h.Number, &data); err != nil {
		return h, err
	}
	h.Samples = make([]Sample, len(data)/binary.Size(Sample{}))
	if _, err = binary.Decode(data, binary.LittleEndian, h.Samples); err != nil {
		err = fmt.Errorf("the running hour: %w", err)
	}
	return h, err
}

// minutes returns what a row of hours says about a sample. The minutes add up to those of
// the sample.
func (s *Sample) minutes() (up, down, unseen, personMinutes int64) {
	round := func(seconds int64) int64 { return (seconds + 30) / 60 }
	all := round(int64(s.Up) + int64(s.Down) + int64(s.Unseen))
	up = min(round(int64(s.Up)), all)
	down = min(round(int64(s.Down)), all-up)
	if s.Checks > 0 {
		personMinutes = int64((uint64(s.People)*uint64(up) + uint64(s.Checks)/2) / uint64(s.Checks))
	}
	return up, down, all - up - down, personMinutes
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
