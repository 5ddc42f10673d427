// Package db stores what a watch knows in an SQLite database: the servers, their events,
// and their uptime. Other programs may read the database while the watch writes to it.
package db

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // SQLite in pure Go, so that the program needs no C library

	"github.com/a2sscan/a2sscan/sink/disk"
)

// schema creates the tables and views that do not exist. Its comments explain the columns.
//
//go:embed schema.sql
var schema string

// upgrade is SQL. Together with schema and the statements in DB.prepare, it turns a
// database of version 2 or 3 into a database of version 4.
//
//go:embed upgrade.sql
var upgrade string

// application and version identify the databases that this package can read.
const (
	application = 0x61327377 // "a2sw"
	version     = 4
	oldest      = 2 // the oldest version that Open upgrades
)

// ErrForeign is the error for a file that is not the database of a watch.
var ErrForeign = errors.New("the file is not the state of a watch")

// ErrVersion is the error for a database of a version that this program can't use.
var ErrVersion = errors.New("the file was written by another version of a2sscan")

// ErrOld is the error of Read for a database of an older version. Open upgrades such a
// database.
var ErrOld = errors.New("the file was written by an older version of a2sscan")

// ErrBusy is the error of Retry if ctx ends while another program has locked the database.
var ErrBusy = errors.New("another program has locked the database")

// BusyAfter is the time for which the database may be locked before Retry reports the
// lock.
const BusyAfter = 10 * time.Second

// Retry calls do(). While the error is that another program has locked the database, it
// repeats the call, until ctx ends. If the lock lasts for BusyAfter, Retry calls held()
// with the time when the wait began. When the lock is gone, it calls held() again, with
// the zero time. held may be nil.
func Retry(ctx context.Context, held func(since time.Time), do func() error) error {
	begin, reported := time.Now(), false
	for {
		err := do()
		var coded interface{ Code() int }
		const busy = 5 // SQLITE_BUSY, in the low byte
		if !errors.As(err, &coded) || coded.Code()&0xff != busy {
			if reported {
				held(time.Time{})
			}
			return err
		}
		if !reported && held != nil && time.Since(begin) >= BusyAfter {
			reported = true
			held(begin)
		}
		select {
		case <-ctx.Done():
			return ErrBusy
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// DB is the database of a watch. Several goroutines may use it.
type DB struct {
	sql  *sql.DB
	lock *disk.Lock // nil: the database is in memory or read-only
}

// Status says whether a server answers.
type Status string

// The statuses.
const (
	Unknown Status = "unknown" // the server has not answered since it was added
	Up      Status = "up"
	Down    Status = "down"
	Planned Status = "planned" // down because of maintenance; only the database has this status
)

// Server is a row of the table "servers".
type Server struct {
	ID       int64
	Addr     netip.AddrPort
	LastSeen uint32 // Unix time of the latest answer, or 0 if there is none
	Since    uint32 // Unix time when Status began
	Status   Status
	// Answer is the latest full answer, as a line of a census without player names.
	Answer []byte
	// Untold means that the last event "up" or "down" of the server contradicts Status. Only
	// DB.Servers sets Untold.
	Untold bool
	// Told is the Unix time of the latest report that the server is down, or 0 if it is not
	// down. Only DB.Servers sets Told.
	Told uint32
}

// Open opens the database at path for a watch, and creates it if it does not exist. If path
// is empty, the database is in memory. Open returns disk.ErrLocked while another watch has
// the database open, and ErrForeign or ErrVersion if the program can't use the file.
func Open(path string) (*DB, error) {
	if path == "" {
		return open("", "", nil)
	}
	path = disk.Resolve(path) // follows links, so that all names of the file have the same lock
	lock, err := disk.TryLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	// SQLite creates the files of its log with the same mode as this file.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	var db *DB
	if err == nil {
		_ = f.Close()
		db, err = open(path, "rw", lock)
	}
	if err != nil {
		err = errors.Join(err, lock.Remove())
	}
	return db, err
}

// Read opens the database at path for reading. A watch may have it open.
func Read(path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return open(path, "ro", nil)
}

// open opens the database at path, or a database in memory if path is empty.
func open(path, mode string, lock *disk.Lock) (*DB, error) {
	name, connections := ":memory:", 1 // one connection, because each would have its own database
	if path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		options := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(1000)", "synchronous(FULL)"}}
		file := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: options.Encode()}
		name, connections = file.String(), 4 // the write-ahead log lets readers read while the watch writes
	}
	pool, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	db := &DB{sql: pool, lock: lock}
	if err := db.prepare(mode != "ro"); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

// prepare creates the tables of a new database, and checks the version of an existing
// database. If writable is true, prepare upgrades an older database.
func (db *DB) prepare(writable bool) error {
	var app, v, objects int
	err := db.sql.QueryRow(`SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&app, &v, &objects)
	var coded interface{ Code() int }
	const notADatabase = 26 // SQLITE_NOTADB
	switch {
	case errors.As(err, &coded) && coded.Code() == notADatabase, err == nil && app != application && (app != 0 || objects != 0):
		return ErrForeign
	case err != nil || app == application && v == version:
		return err
	case app == application && oldest <= v && v < version && !writable:
		return ErrOld
	case app == application && v == oldest:
		return db.create("ALTER TABLE servers ADD COLUMN label TEXT;"+upgrade, countOutages)
	case app == application && v == oldest+1:
		return db.create(upgrade, "UPDATE stops SET planned = planned * 60;")
	case app == application:
		return fmt.Errorf("%w: the database has version %d, but this program reads only version %d", ErrVersion, v, version)
	}
	return db.create("", "")
}

// countOutages is SQL that counts the events "down" of a database of version 2 as outages.
// The last two hours may still change, so it stores their outages in the table "running",
// and the outages of earlier hours in the table "stops".
const countOutages = `INSERT INTO stops SELECT servers.id, time / 3600, count(*), 0 FROM events JOIN servers USING (addr) WHERE event = 'down' GROUP BY 1, 2;
	UPDATE running SET data = (SELECT json_group_array(json_insert(value, '$[8]', 0, '$[9]', coalesce(
		(SELECT outages FROM stops WHERE stops.server = block * 256 + key + 1 AND stops.hour = running.hour), 0)) ORDER BY key) FROM json_each(data));
	DELETE FROM stops WHERE hour IN (SELECT hour FROM running);`

// create runs SQL statements in one transaction: those in its first argument, the schema, and
// those in its second argument.
func (db *DB) create(before, after string) error {
	_, err := db.sql.Exec(fmt.Sprintf("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; %s %s; %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		before, schema, after, application, version))
	return err
}

// Close closes the database and removes its lock.
func (db *DB) Close() error {
	err := db.sql.Close()
	if db.lock != nil {
		err = errors.Join(err, db.lock.Remove())
	}
	return err
}

func (db *DB) change(do func(*sql.Tx) error) error {
	tx, err := db.sql.Begin()
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (db *DB) each(do func(row *sql.Rows) error, query string, args ...any) error {
	rows, err := db.sql.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// decoded returns the rows of a query with a single column, which holds JSON.
func decoded[T any](db *DB, query string, args ...any) (all []T, err error) {
	err = db.each(func(row *sql.Rows) error {
		var text []byte
		var one T
		err := row.Scan(&text)
		if err == nil {
			err = json.Unmarshal(text, &one)
		}
		all = append(all, one)
		return err
	}, query, args...)
	return all, err
}

// Servers calls do() for each server, in the order of IDs. do() must not use the database.
func (db *DB) Servers(do func(*Server)) error {
	return db.each(func(row *sql.Rows) error {
		var s Server
		var addr []byte
		err := row.Scan(&addr, &s.ID, &s.LastSeen, &s.Since, &s.Status, &s.Answer, &s.Untold, &s.Told)
		if err = errors.Join(err, s.Addr.UnmarshalText(addr)); err == nil {
			do(&s)
		}
		return err
	}, `SELECT addr, id, coalesce(last_seen, 0), coalesce(since, 0), status, answer,
			coalesce((status = 'up') <> (SELECT event = 'up' FROM events WHERE events.addr = servers.addr AND event IN ('up', 'down')
				ORDER BY events.id DESC LIMIT 1), 0) AND status <> 'unknown',
			coalesce(iif(status = 'down', (SELECT unixepoch(coalesce(line ->> 'reported', line ->> 'time')) FROM events
				WHERE events.addr = servers.addr AND event IN ('down', 'reminder') ORDER BY events.id DESC LIMIT 1), 0), 0)
		FROM servers ORDER BY id`)
}

// Add adds servers that the database does not have. Their IDs follow the largest ID; the
// first ID is 1.
func (db *DB) Add(addrs []netip.AddrPort) error {
	return insert(db.sql, "INSERT INTO servers (addr, status) SELECT value, 'unknown' FROM json_each(?)", addrs)
}

// Label replaces the stored labels of all servers. The keys of labels are addresses. If
// labels is nil, the stored labels remain.
func (db *DB) Label(labels map[netip.AddrPort]string) error {
	if labels == nil {
		return nil
	}
	return db.change(func(tx *sql.Tx) error {
		return insert(tx, `UPDATE servers SET label = NULL WHERE label IS NOT NULL AND addr NOT IN (SELECT key FROM json_each(?1));
			UPDATE servers SET label = value FROM json_each(?1) WHERE addr = key AND label IS NOT value`, labels)
	})
}

// insert runs a statement with a single parameter: the JSON of its last argument, values. If
// values is nil, insert does nothing.
func insert(into interface {
	Exec(query string, args ...any) (sql.Result, error)
}, statement string, values any) error {
	text, err := json.Marshal(values)
	if err == nil && string(text) != "null" {
		_, err = into.Exec(statement, string(text))
	}
	return err
}

// Cursor returns the ID of the last event that a reader, such as a webhook, has processed,
// or -1 if the reader is new. last is the ID of the latest event. If more than limit events
// wait for the reader, it must drop the oldest. In this case dropped is the number of events
// to drop, and id is the ID of the last event to drop.
func (db *DB) Cursor(reader string, limit int) (id, last int64, dropped int, err error) {
	err = db.sql.QueryRow(`WITH cursor AS (SELECT coalesce(max(event), -1) AS done FROM cursors WHERE reader = ?1)
		SELECT coalesce(max(id), (SELECT done FROM cursor)), (SELECT coalesce(max(id), 0) FROM events), count(*)
		FROM (SELECT id FROM cursor JOIN events ON done >= 0 AND id > done ORDER BY id DESC LIMIT -1 OFFSET ?2)`,
		reader, limit).Scan(&id, &last, &dropped)
	return id, last, dropped, err
}

// SetCursor stores the ID of the last event that a reader has processed.
func (db *DB) SetCursor(reader string, id int64) error {
	_, err := db.sql.Exec("INSERT OR REPLACE INTO cursors (reader, event) VALUES (?, ?)", reader, id)
	return err
}
