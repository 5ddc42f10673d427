package db

import (
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/sink/census"
)

// Kinds lists the kinds of events. A kind that also exists in package census means the
// same there.
var Kinds = []string{
	"up", "down", "restarted", "map", "renamed", "version", "wiped", "moved", "capacity", "flags", "empty", "full", "crowd", "reminder", "blind", "seeing",
}

// Event is one event. The output has it as one line of JSON.
type Event struct {
	ID int64 `json:"id"` // a later event has a larger ID
	// Time is the time of the event. Reported is the time of its report, which damping may
	// delay. Reported is zero in events of older versions.
	Time     time.Time `json:"time"`
	Reported time.Time `json:"reported,omitzero"`
	Kind     string    `json:"event"`
	Addr     string    `json:"addr,omitempty"` // empty if the event is about no single server
	Game     string    `json:"game,omitempty"`
	Name     string    `json:"name,omitempty"` // untrusted text
	// Label is the name of the server in the list, with --names list.
	Label string `json:"label,omitempty"`
	// Planned means that the event belongs to maintenance.
	Planned bool          `json:"planned,omitempty"`
	Before  *census.Facts `json:"before,omitempty"`
	After   *census.Facts `json:"after,omitempty"`
	// For is a number of seconds: in "down", for how long the server was up; in "up" and
	// "reminder", for how long it was down; in "seeing", for how long the watcher was blind.
	For      int64     `json:"seconds,omitempty"`
	By       string    `json:"by,omitempty"` // as in census.Change
	Evidence *Evidence `json:"evidence,omitempty"`
	LeftOut  int       `json:"left_out,omitempty"` // number of events that damping left out before this event
}

// Evidence shows why the watch reported an event.
type Evidence struct {
	Checks   int       `json:"checks,omitempty"`   // number of unanswered checks in a row
	Requests int       `json:"requests,omitempty"` // number of requests in these checks
	First    time.Time `json:"first,omitzero"`     // start of the first of these checks
	Last     time.Time `json:"last,omitzero"`      // start of the last of these checks
	// AllSilent means that most servers are silent, so the network of the watcher may have
	// failed.
	AllSilent bool     `json:"all_silent,omitempty"`
	Servers   int      `json:"servers,omitempty"`  // number of servers that were up when the watcher became blind
	Silent    int      `json:"silent,omitempty"`   // number of these servers that were silent
	Networks  int      `json:"networks,omitempty"` // number of /24 networks of the silent servers
	Signs     []string `json:"signs,omitempty"`    // evidence in words
}

// Last returns the ID of the latest event, or 0 if there is none. epoch is a random number
// that Begin has stored in this database. In another database, the same ID means another
// event.
func (db *DB) Last() (id int64, epoch string, err error) {
	err = db.sql.QueryRow("SELECT coalesce(max(id), 0), (SELECT printf('%x', max(event)) FROM cursors WHERE reader = 'epoch') FROM events").Scan(&id, &epoch)
	return id, epoch, err
}

// Begin stores an epoch, unless the database has one.
func (db *DB) Begin() error {
	_, err := db.sql.Exec("INSERT OR IGNORE INTO cursors VALUES ('epoch', abs(random()))")
	return err
}

// Since returns at most limit events that follow the event with the given ID.
func (db *DB) Since(id int64, limit int) ([]Event, error) {
	return decoded[Event](db, "SELECT line FROM events WHERE id > ? ORDER BY id LIMIT ?", id, limit)
}

// EventsOf returns at most limit events of a server, the latest first. For the zero address
// it returns events that are about no single server.
func (db *DB) EventsOf(addr netip.AddrPort, limit int) ([]Event, error) {
	return decoded[Event](db, "SELECT line FROM events WHERE addr IS nullif(?, ?) ORDER BY id DESC LIMIT ?",
		addr.String(), netip.AddrPort{}.String(), limit)
}
