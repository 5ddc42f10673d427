package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

const (
	maxServers  = 60_000 // a page never has room for more servers
	rowsWritten = 25     // number of rows written as HTML, for browsers without scripts
	rowsReserve = 20_000 // bytes reserved for these rows
	nameInTable = 64
	wordInTable = 32
)

// Servers collects the servers with the most people, which the page may list. It does not
// store which servers answer without a challenge.
type Servers struct {
	Farms map[netip.AddrPort]string // the ID of the farm of each server that is in a farm

	kept  []*census.Server // if cut is set, the first maxServers are sorted
	cut   bool             // whether servers were dropped
	lists map[string]suspects
}

// compare defines the order of the table. Servers with more people come first.
func compare(a, b *census.Server) int {
	return cmp.Or(cmp.Compare(b.People, a.People), cmp.Compare(b.MaxPlayers, a.MaxPlayers), a.Addr().Compare(b.Addr()))
}

func (l *Servers) trim() {
	slices.SortFunc(l.kept, compare)
	l.cut = l.cut || len(l.kept) > maxServers
	l.kept = l.kept[:min(len(l.kept), maxServers)]
}

// Add stores a server that the page may list: in the table, or in the list of its farm or of one
// of its flags. A server without INFO or without an address is never in the table.
func (l *Servers) Add(s *census.Server) {
	if id := l.Farms[s.Addr()]; id != "" {
		l.suspect("farm-"+id, s)
	}
	for _, word := range s.Flags.Words() {
		l.suspect("flag-"+word, s)
	}
	if !s.HasInfo || !s.Addr().IsValid() || l.cut && compare(s, l.kept[maxServers-1]) >= 0 {
		return
	}
	if l.kept = append(l.kept, s); len(l.kept) == 2*maxServers {
		l.trim()
	}
}

type serverTable struct {
	Text   string
	Listed int
	Rows   []serverRow // the first rows, as HTML
	Data   *tableData  // all rows, for the script
}

type serverRow struct {
	Name, Game, Map, People, Version, Country, RTT, Flags, Addr string
}

func newRow(s *census.Server) serverRow {
	r := serverRow{
		Name: Shown(s.Name, nameInTable), Map: Shown(s.Map, wordInTable), Version: Shown(s.Version, wordInTable), Country: Shown(s.Country, 2),
		Game:   cmp.Or(Shown(s.GameName, nameInTable), Shown(s.Game, nameInTable)),
		People: fmt.Sprint(s.People), Flags: strings.Join(s.Flags.Words(), ", "), Addr: s.Addr().String(),
	}
	if s.HasPlaces() {
		r.People += fmt.Sprintf(" of %d", s.MaxPlayers)
	}
	if s.RTT > 0 {
		r.RTT = fmt.Sprint(s.RTT.Round(time.Millisecond).Milliseconds())
	}
	return r
}

// tableData is the data for the script. A row has the address, the name, the indexes of
// game, map, version, country and flags in their lists, the numbers of people and
// player slots, and the round trip in ms. Slots and round trip are -1 if they are not known.
type tableData struct {
	Games     words             `json:"games"`
	Maps      words             `json:"maps"`
	Versions  words             `json:"versions"`
	Countries words             `json:"countries"`
	Flags     words             `json:"flags"`
	Rows      []json.RawMessage `json:"rows"`
}

type words struct {
	list  []string
	index map[string]int
	size  int64 // bytes of the list as JSON
}

// number returns the index of s. If the list does not have s yet, number adds it.
func (w *words) number(s string) int {
	n, ok := w.index[s]
	if !ok {
		if w.index == nil {
			w.index = map[string]int{}
		}
		n = len(w.list)
		w.index[s] = n
		w.list = append(w.list, s)
		w.size += int64(len(asJSON(s))) + 1
	}
	return n
}

// MarshalJSON encodes the list.
func (w words) MarshalJSON() ([]byte, error) { return asJSON(w.list), nil }

func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// table returns the table of servers, with as many as fit into budget bytes.
func (l *Servers) table(budget int64, s *census.Stats) serverTable {
	t := serverTable{Data: &tableData{Rows: []json.RawMessage{}}}
	budget -= rowsReserve
	l.trim()
	for _, one := range l.kept {
		shown := newRow(one)
		row := t.Data.row(one, &shown)
		if budget -= int64(len(row)) + 1; budget < t.Data.size() {
			l.cut = true
			break
		}
		t.Data.Rows = append(t.Data.Rows, row)
		if len(t.Rows) < rowsWritten {
			t.Rows = append(t.Rows, shown)
		}
	}
	t.Listed = len(t.Data.Rows)
	listed := uint64(t.Listed)
	switch {
	case l.cut:
		t.Text = fmt.Sprintf("The %s with the most people, of %s that answered: as many as fit into a page of %d MB. To list all: a2sscan cat CENSUS",
			console.Plural(listed, "server"), number(s.All.Servers), MaxSize/1_000_000)
	case listed < s.All.Servers:
		t.Text = fmt.Sprintf("The %s that answered INFO, of %s that answered at all.", console.Plural(listed, "server"), number(s.All.Servers))
	default:
		t.Text = "All " + console.Plural(s.All.Servers, "server") + " that answered."
	}
	return t
}

func (d *tableData) size() int64 {
	return d.Games.size + d.Maps.size + d.Versions.size + d.Countries.size + d.Flags.size
}

func (d *tableData) row(s *census.Server, r *serverRow) json.RawMessage {
	places, rtt := "-1", cmp.Or(r.RTT, "-1")
	if s.HasPlaces() {
		places = fmt.Sprint(s.MaxPlayers)
	}
	return fmt.Appendf(nil, "[%s,%s,%d,%d,%d,%d,%d,%d,%s,%s]", asJSON(r.Addr), asJSON(r.Name),
		d.Games.number(r.Game), d.Maps.number(r.Map), d.Versions.number(r.Version), d.Countries.number(r.Country),
		d.Flags.number(r.Flags), s.People, places, rtt)
}
