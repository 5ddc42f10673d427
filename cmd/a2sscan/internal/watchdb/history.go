package watchdb

import (
	"database/sql"
	"encoding/binary"
	"time"
)

// Period is how a server fared in an hour or in a day.
type Period struct {
	Time   time.Time `json:"time"`
	Hours  int       `json:"hours"` // 1 or 24
	Up     int64     `json:"up"`    // minutes
	Down   int64     `json:"down"`
	Unseen int64     `json:"unseen"`
	People *People   `json:"people,omitempty"` // nil: it never said
}

// History returns the hours and days of a server since a moment, in the order of time, and
// with them the hours that may still change.
func (db *DB) History(server int64, since, until time.Time) (periods []Period, err error) {
	// The tables begin with the time, so each hour and day is looked up by itself.
	periods, err = collect(rows(db.sql, readPeriod, `
		WITH RECURSIVE
		hour_numbers(n) AS (SELECT max(?1, (SELECT min(hour) FROM hours)) UNION ALL SELECT n + 1 FROM hour_numbers WHERE n < ?2),
		day_numbers(n) AS (SELECT max(?1 / 24, (SELECT min(day) FROM days)) UNION ALL SELECT n + 1 FROM day_numbers WHERE n < ?2 / 24)
		SELECT day * 24, 24, up, down, unseen, people_min, person_minutes, people_max
			FROM day_numbers CROSS JOIN days ON day = n AND server = ?3
		UNION ALL
		SELECT hour, 1, up, down, unseen, people_min, person_minutes, people_max
			FROM hour_numbers CROSS JOIN hours ON hour = n AND server = ?3
		ORDER BY 1`, hourOf(since), hourOf(until), server))
	if err != nil {
		return nil, err
	}
	size := binary.Size(Sample{})
	running, err := collect(rows(db.sql, readHour, "SELECT hour, substr(data, 1 + (? - 1) * ?, ?) FROM running WHERE hour >= ? ORDER BY hour",
		server, size, size, hourOf(since)))
	for _, hour := range running {
		for _, s := range hour.Samples {
			p := Period{Time: time.Unix(hour.Number*3600, 0).UTC(), Hours: 1}
			p.Up, p.Down, p.Unseen, _ = s.minutes()
			if s.Checks > 0 {
				p.People = &People{int64(s.Min), int64(s.Max), float64(s.People) / float64(s.Checks)}
			}
			periods = append(periods, p)
		}
	}
	return periods, err
}

func readPeriod(row *sql.Rows) (p Period, err error) {
	var hour int64
	var least, personMinutes, most sql.NullInt64
	err = row.Scan(&hour, &p.Hours, &p.Up, &p.Down, &p.Unseen, &least, &personMinutes, &most)
	p.Time = time.Unix(hour*3600, 0).UTC()
	p.People = newPeople(least, personMinutes, most, p.Up)
	return p, err
}

// Total returns the mean number of servers that were up in an hour or day, and of the people
// on them. found is false if nothing is stored of it.
func (db *DB) Total(start time.Time, length time.Duration) (up, people float64, found bool, err error) {
	query, number := "hours WHERE hour = ?", hourOf(start)
	if length == 24*time.Hour {
		query, number = "days WHERE day = ?", number/24
	}
	var minutes float64 // in which the watch asked
	err = db.sql.QueryRow("SELECT coalesce(sum(up), 0), coalesce(sum(person_minutes), 0), coalesce(max(up + down), 0) FROM "+query, number).
		Scan(&up, &people, &minutes)
	if err != nil || minutes == 0 {
		return 0, 0, false, err
	}
	return up / minutes, people / minutes, true, nil
}

// Answer returns the latest full answer of a server as a line of a census without player
// names, or nil.
func (db *DB) Answer(server int64) (line []byte, err error) {
	err = db.sql.QueryRow("SELECT (SELECT answer FROM servers WHERE id = ?)", server).Scan(&line)
	return line, err
}
