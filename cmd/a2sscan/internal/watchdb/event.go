package watchdb

import (
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/sink/census"
)

// Kinds lists the kinds of events. Those that package census has too mean the same there.
var Kinds = []string{
	"up", "down", "restarted", "map", "renamed", "version", "wiped", "moved", "capacity", "flags", "empty", "full", "blind", "seeing",
}

// Event is one event: a line of JSON.
type Event struct {
	ID       int64         `json:"id"` // increases
	Time     time.Time     `json:"time"`
	Kind     string        `json:"event"`
	Addr     string        `json:"addr,omitempty"` // "": the event is about no single server
	Game     string        `json:"game,omitempty"`
	Name     string        `json:"name,omitempty"` // untrusted text
	Before   *census.Facts `json:"before,omitempty"`
	After    *census.Facts `json:"after,omitempty"`
	For      int64         `json:"seconds,omitempty"` // how long it was up before down, down before up, blind before seeing
	By       string        `json:"by,omitempty"`      // as in a Change of kind moved
	Evidence *Evidence     `json:"evidence,omitempty"`
	LeftOut  int           `json:"left_out,omitempty"` // events of this kind that were left out before this one
}

// Evidence is why the watch believes in an event.
type Evidence struct {
	Checks    int       `json:"checks,omitempty"`     // in a row without an answer
	Requests  int       `json:"requests,omitempty"`   // sent in these checks
	First     time.Time `json:"first,omitzero"`       // when the first of these checks began
	Last      time.Time `json:"last,omitzero"`        // and the latest
	AllSilent bool      `json:"all_silent,omitempty"` // most servers are silent: the watcher's network may be the one that fails
	Servers   int       `json:"servers,omitempty"`    // that were up when the watcher became blind
	Silent    int       `json:"silent,omitempty"`     // of these
	Networks  int       `json:"networks,omitempty"`   // /24 networks of the silent ones
	Signs     []string  `json:"signs,omitempty"`      // in words
}

// Last returns the ID of the latest event, or 0, and the epoch: IDs of events in a database with
// another epoch mean other events. Begin sets it.
func (db *DB) Last() (id int64, epoch string, err error) {
	err = db.sql.QueryRow("SELECT coalesce(max(id), 0), (SELECT printf('%x', max(event)) FROM cursors WHERE reader = 'epoch') FROM events").Scan(&id, &epoch)
	return id, epoch, err
}

// Begin gives a new database its epoch.
func (db *DB) Begin() error {
	_, err := db.sql.Exec("INSERT OR IGNORE INTO cursors VALUES ('epoch', abs(random()))")
	return err
}

// Since returns the events that follow the one with this ID, at most limit.
func (db *DB) Since(id int64, limit int) ([]Event, error) {
	return decoded[Event](db, "SELECT line FROM events WHERE id > ? ORDER BY id LIMIT ?", id, limit)
}

// EventsOf returns the latest events of a server, the latest first. Those of the zero address are
// about no single server.
func (db *DB) EventsOf(addr netip.AddrPort, limit int) ([]Event, error) {
	return decoded[Event](db, "SELECT line FROM events WHERE addr IS nullif(?, ?) ORDER BY id DESC LIMIT ?",
		addr.String(), netip.AddrPort{}.String(), limit)
}
