// Package watchdb stores what a watch knows in an SQLite database: the servers, their
// events, and how long each was up. Other programs may read the database while the
// watch writes it.
package watchdb

import (
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // SQLite in pure Go, so that the program needs no C library

	"github.com/a2sscan/a2sscan/sink/disk"
)

// schema creates the tables of a new database. Its comments explain the columns.
//
//go:embed schema.sql
var schema string

// application and version identify the databases that this package can read.
const (
	application = 0x61327377 // "a2sw"
	version     = 1
)

// ErrForeign is the error for a file that is not the database of a watch.
var ErrForeign = errors.New("is not the state of a watch")

// ErrVersion is the error for a database of another version of the program.
var ErrVersion = errors.New("was written by another version of a2sscan")

// DB is the database of a watch. Several goroutines may use it.
type DB struct {
	sql  *sql.DB
	lock *disk.Lock // nil: a database in memory, or one that is only read
}

// Status says whether a server answers.
type Status string

// The statuses.
const (
	Unknown Status = "unknown" // it has not answered since it was added
	Up      Status = "up"
	Down    Status = "down"
)

// Server is a row of servers.
type Server struct {
	ID        int64
	Addr      netip.AddrPort
	FirstSeen uint32 // its first answer, in seconds since 1970; 0: none yet
	LastSeen  uint32 // its latest answer
	Since     uint32 // since when it has its status
	Status    Status
	Answer    []byte // its latest full answer, as a line of a census without player names
}

// Event is a row of events.
type Event struct {
	ID   int64 // increases
	Time time.Time
	Addr string // "": the event is about no single server
	Kind string
	Line []byte // the event as a line of JSON, without the line feed
}

// Open opens the database at path for a watch, and creates it if it does not exist. An
// empty path is a database in memory. The error is disk.ErrLocked while another watch
// has it open, and ErrForeign or ErrVersion if the file is not one that it can continue.
func Open(path string) (*DB, error) {
	if path == "" {
		return open(":memory:", nil)
	}
	lock, err := disk.TryLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	// SQLite gives its other files the mode of this one.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, errors.Join(err, lock.Remove())
	}
	_ = f.Close()
	db, err := open(location(path, "rw"), lock)
	if err != nil {
		return nil, errors.Join(err, lock.Remove())
	}
	return db, nil
}

// Read opens the database at path to read it, beside a watch or after it.
func Read(path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return open(location(path, "ro"), nil)
}

// location returns the name by which SQLite knows the file at path.
func location(path, mode string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	u.RawQuery = url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)", "synchronous(FULL)"}}.Encode()
	return u.String()
}

func open(name string, lock *disk.Lock) (*DB, error) {
	pool, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1) // each connection to :memory: would have a database of its own
	db := &DB{sql: pool, lock: lock}
	if err := db.prepare(); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

// prepare creates the tables of a new database, and checks the version of another.
func (db *DB) prepare() error {
	var app, v, objects int
	err := db.sql.QueryRow(`SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&app, &v, &objects)
	switch {
	case err != nil:
		return explain(err)
	case app == application && v == version:
		return nil
	case app == application:
		return ErrVersion
	case app != 0 || objects != 0:
		return ErrForeign
	}
	_, err = db.sql.Exec(fmt.Sprintf("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; %s; PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		schema, application, version))
	return explain(err)
}

// explain replaces SQLite's error for a file of another format.
func explain(err error) error {
	var coded interface{ Code() int }
	const notADatabase = 26 // SQLITE_NOTADB
	if errors.As(err, &coded) && coded.Code() == notADatabase {
		return ErrForeign
	}
	return err
}

// Close writes everything to the database and closes it.
func (db *DB) Close() error {
	err := db.sql.Close()
	if db.lock != nil {
		err = errors.Join(err, db.lock.Remove())
	}
	return err
}

// change runs do in a transaction: all of it is stored, or nothing.
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

// each runs a prepared statement once for each of the values.
func each[T any](tx *sql.Tx, statement string, values []T, args func(*T) []any) error {
	if len(values) == 0 {
		return nil
	}
	s, err := tx.Prepare(statement)
	if err != nil {
		return err
	}
	defer s.Close()
	for i := range values {
		if _, err := s.Exec(args(&values[i])...); err != nil {
			return err
		}
	}
	return nil
}

// rows runs a query and yields what scan makes of each row.
func rows[T any](db *DB, scan func(*sql.Rows) (T, error), query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		found, err := db.sql.Query(query, args...)
		if err != nil {
			yield(none, err)
			return
		}
		defer found.Close()
		for found.Next() {
			if row, err := scan(found); !yield(row, err) || err != nil {
				return
			}
		}
		if err := found.Err(); err != nil {
			yield(none, err)
		}
	}
}

// collect returns all rows, or the first error.
func collect[T any](rows iter.Seq2[T, error]) (all []T, err error) {
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

// Servers yields all servers by their ID. The caller must not use the database for
// anything else before the sequence has ended.
func (db *DB) Servers() iter.Seq2[Server, error] {
	return rows(db, func(row *sql.Rows) (s Server, err error) {
		var addr []byte
		if err = row.Scan(&s.ID, &addr, &s.FirstSeen, &s.LastSeen, &s.Since, &s.Status, &s.Answer); err == nil {
			err = s.Addr.UnmarshalText(addr)
		}
		return s, err
	}, "SELECT id, addr, coalesce(first_seen, 0), coalesce(last_seen, 0), coalesce(since, 0), status, answer FROM servers ORDER BY id")
}

// Add adds servers that the database does not have. Their IDs follow the largest one, which
// begins with 1.
func (db *DB) Add(addrs []netip.AddrPort) error {
	return db.change(func(tx *sql.Tx) error {
		return each(tx, "INSERT INTO servers (addr, status) VALUES (?, 'unknown')", addrs, func(a *netip.AddrPort) []any {
			return []any{a.String()}
		})
	})
}

// Append stores events. Their IDs are larger than that of any stored event.
func (db *DB) Append(events []Event) error {
	return db.change(func(tx *sql.Tx) error {
		return each(tx, "INSERT INTO events (id, time, addr, event, line) VALUES (?, ?, ?, ?, ?)", events, func(e *Event) []any {
			return []any{e.ID, e.Time.Unix(), sql.NullString{String: e.Addr, Valid: e.Addr != ""}, e.Kind, string(e.Line)}
		})
	})
}

// LastID returns the ID of the latest event, or 0.
func (db *DB) LastID() (id int64, err error) {
	err = db.sql.QueryRow("SELECT coalesce(max(id), 0) FROM events").Scan(&id)
	return id, err
}

// Since returns the events that follow the one with this ID, at most limit.
func (db *DB) Since(id int64, limit int) ([]Event, error) {
	return collect(rows(db, readEvent,
		"SELECT id, time, coalesce(addr, ''), event, line FROM events WHERE id > ? ORDER BY id LIMIT ?", id, limit))
}

// EventsOf returns the latest events of a server, the latest first.
func (db *DB) EventsOf(addr netip.AddrPort, limit int) ([]Event, error) {
	return collect(rows(db, readEvent,
		"SELECT id, time, addr, event, line FROM events WHERE addr = ? ORDER BY id DESC LIMIT ?", addr.String(), limit))
}

func readEvent(row *sql.Rows) (e Event, err error) {
	var at int64
	err = row.Scan(&e.ID, &at, &e.Addr, &e.Kind, &e.Line)
	e.Time = time.Unix(at, 0).UTC()
	return e, err
}

// Cursor returns the ID of the last event that a reader of events, such as a webhook, has
// dealt with. found is false if the reader is new.
func (db *DB) Cursor(reader string) (id int64, found bool, err error) {
	err = db.sql.QueryRow("SELECT event FROM cursors WHERE reader = ?", reader).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// SetCursor stores the ID of the last event that a reader has dealt with.
func (db *DB) SetCursor(reader string, id int64) error {
	_, err := db.sql.Exec("INSERT OR REPLACE INTO cursors (reader, event) VALUES (?, ?)", reader, id)
	return err
}
