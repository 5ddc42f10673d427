package db

import (
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2sscan/a2sscan/sink/disk"
)

var start = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

var at = uint32(start.Unix())

// addr returns the address of the server with this ID.
func addr(id int64) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, byte(id >> 16), byte(id >> 8), byte(id)}), 27015)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ended returns an hour with samples, and another that ends it.
func ended(number int64, samples ...Sample) []Hour {
	return []Hour{{Number: number, Samples: samples}, {Number: number + 2}}
}

// opened opens a new database with n servers that are up since start.
func opened(t testing.TB, path string, n int64) *DB {
	t.Helper()
	db := must(Open(path))(t)
	t.Cleanup(func() { db.Close() })
	var addrs []netip.AddrPort
	var servers []Server
	for id := int64(1); id <= n; id++ {
		addrs = append(addrs, addr(id))
		servers = append(servers, Server{ID: id, Addr: addr(id), LastSeen: at, Since: at, Status: Up,
			Answer: fmt.Appendf(nil, `{"info":{"name":"server %d"},"game":{"id":"rust"}}`, id)})
	}
	check(t, db.Add(addrs))
	check(t, db.Flush(nil, servers))
	return db
}

func TestReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "100%?#.db")
	db := opened(t, path, 2)
	events := []Event{
		{ID: 7, Time: start, Reported: start.Add(30 * time.Second), Addr: addr(2).String(), Kind: "down"},
		{ID: 9, Time: start.Add(time.Second), Kind: "blind", Evidence: &Evidence{Silent: 20}},
	}
	check(t, db.Flush(events, nil))
	down := Server{ID: 2, Addr: addr(2), LastSeen: at + 60, Since: at + 120, Status: Down}
	running := []Sample{{UpFor: 60, PeopleMin: 3, PeopleMax: 5, PeopleSum: 8, Counts: 2, SeenAt: 1}, {DownFor: 40, UnseenFor: 20}}
	check(t, db.Flush(nil, []Server{down}, Hour{Number: hourOf(start), Samples: running}))
	check(t, db.SetCursor("webhook", 7))
	check(t, db.Close())

	info := must(os.Stat(path))(t)
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the file has the mode %o, want 600", mode)
	}
	db = must(Open(path))(t)
	defer db.Close()
	var servers []Server
	check(t, db.Servers(func(s *Server) { servers = append(servers, *s) }))
	down.Answer = []byte(`{"info":{"name":"server 2"},"game":{"id":"rust"}}`) // kept
	down.Told = at + 30                                                       // when its event was reported
	if len(servers) != 2 || servers[0].Status != Up {
		t.Fatalf("servers: %+v", servers)
	}
	if diff := cmp.Diff(down, servers[1], cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Errorf("server 2 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(events, must(db.Since(0, 10))(t), cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if later := must(db.Since(7, 10))(t); len(later) != 1 || later[0].ID != 9 {
		t.Errorf("events after 7: %+v", later)
	}
	if id, _, err := db.Last(); err != nil || id != 9 {
		t.Errorf("the last ID is %d, want 9", id)
	}
	running[1][Outages] = 1 // its event was written, but not the count
	if diff := cmp.Diff([]Hour{{Number: hourOf(start), Samples: running}}, must(db.Running())(t)); diff != "" {
		t.Errorf("the running hours (-want +got):\n%s", diff)
	}
	check(t, db.Flush(nil, nil, Hour{Number: hourOf(start) + 2})) // the next watch begins later
	var outages []any
	check(t, db.Uptime(start, start.Add(time.Hour), true, []string{"outages"}, func(values []any) { outages = append(outages, values[0]) }))
	if diff := cmp.Diff([]any{int64(0), int64(1)}, outages); diff != "" {
		t.Errorf("outages (-want +got):\n%s", diff)
	}
	for reader, want := range map[string]int64{"webhook": 7, "other": -1} {
		if id, last, _, err := db.Cursor(reader, 100); id != want || last != 9 || err != nil {
			t.Errorf("%s: cursor %d, want %d; the last event is %d, %v", reader, id, want, last, err)
		}
	}
	check(t, db.Add([]netip.AddrPort{addr(3)}))
	check(t, db.Servers(func(s *Server) {
		if s.Addr != addr(s.ID) {
			t.Errorf("%v has the ID %d", s.Addr, s.ID)
		}
	}))
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	db := must(Open(path))(t)
	if _, err := Open(path); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	reader := must(Read(path))(t) // beside the watch
	_, _, err := reader.Last()
	check(t, err)
	check(t, reader.Close())
	_, err = db.sql.Exec("PRAGMA user_version = 5")
	check(t, err)
	check(t, db.Close())
	for name, open := range map[string]func(string) (*DB, error){"Open": Open, "Read": Read} {
		if _, err := open(path); !errors.Is(err, ErrVersion) || !strings.HasSuffix(err.Error(), "the database has version 5, but this program reads only version 4") {
			t.Errorf("%s of a newer version: %v", name, err)
		}
	}
	text := filepath.Join(dir, "servers.txt")
	check(t, os.WriteFile(text, slices.Repeat([]byte("203.0.113.7:27015\n"), 100), 0o666))
	if _, err := Open(text); !errors.Is(err, ErrForeign) {
		t.Errorf("a text file: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if left := must(filepath.Glob(filepath.Join(dir, "*.lock")))(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestShortOutage: each second counts while the hour runs, after it, and after the hour has
// become a part of a day.
func TestShortOutage(t *testing.T) {
	db := opened(t, "", 2)
	samples := []Sample{{UpFor: 3571, DownFor: 20, UnseenFor: 4, PlannedFor: 5, Outages: 1}, {UpFor: 3600}}
	check := func(what string) {
		t.Helper()
		const share = 3571.0 / 3591
		if got := must(db.Shares(start))(t); got[1] != share || got[2] != 1 {
			t.Errorf("%s: shares %v", what, got)
		}
		history := must(db.History(1, start, start.Add(time.Hour)))(t)
		sum := history[0]
		sum.Time, sum.Hours = time.Time{}, 0
		if got, ok := sum.Share(); got != share || !ok || sum != (Period{Up: 3571, Down: 20, Unseen: 4, Planned: 5, Outages: 1}) {
			t.Errorf("%s: %+v, share %v", what, history, got)
		}
		var got [][]any
		fields := []string{"up_s", "down_s", "unseen_s", "planned_s", "outages", "up_share"}
		err := db.Uptime(start, start.Add(time.Hour), false, fields, func(values []any) { got = append(got, slices.Clone(values)) })
		want := [][]any{{int64(3571), int64(20), int64(4), int64(5), int64(1), 0.994431}, {int64(3600), int64(0), int64(0), int64(0), int64(0), 1.0}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: uptime (-want +got):\n%s%v", what, diff, err)
		}
	}
	hours := ended(hourOf(start), samples...)
	if err := db.Flush(nil, nil, hours[:1]...); err != nil {
		t.Fatal(err)
	}
	check("the hour runs")
	if err := db.Flush(nil, nil, hours...); err != nil {
		t.Fatal(err)
	}
	check("the hour has ended")
	if err := db.Prune(start.Add(24*time.Hour), time.Hour, 400*24*time.Hour); err != nil {
		t.Fatal(err)
	}
	// A period that begins in a day has all of it.
	if history := must(db.History(1, start, start.Add(time.Hour)))(t); history[0].Hours != 24 || history[0].Down != 20 || history[0].Outages != 1 {
		t.Errorf("the day: %+v", history)
	}
	if got := must(db.Shares(start))(t); got[1] != 3571.0/3591 || got[2] != 1 {
		t.Errorf("the day: shares %v", got)
	}
}

// Three days, of which the first two have become rows of days: the sums stay.
func TestUptime(t *testing.T) {
	db := opened(t, "", 2)
	for hour := range 72 {
		at := start.Add(time.Duration(hour) * time.Hour)
		samples := []Sample{{UpFor: 3600, PeopleMin: 10, PeopleMax: uint32(20 + hour), PeopleSum: 60 * 15, Counts: 60, SeenAt: uint32(at.Unix())}}
		if hour%2 == 0 { // server 2: every other hour has no row
			samples = append(samples, Sample{UpFor: 1800, DownFor: 600, UnseenFor: 1200})
		}
		if hour == 2 || hour == 70 {
			samples[1] = Sample{UpFor: 1800, DownFor: 600, UnseenFor: 900, PlannedFor: 300, Outages: 1}
		}
		check(t, db.Flush(nil, nil, ended(hourOf(at), samples...)...))
	}
	check(t, db.Flush([]Event{{ID: 1, Time: start.Add(time.Hour), Addr: addr(2).String(), Kind: "down"}, {ID: 2, Time: start.Add(71 * time.Hour), Addr: addr(2).String(), Kind: "down"}}, nil))
	now := start.Add(72*time.Hour + 10*time.Minute)
	check(t, db.Flush(nil, nil, Hour{Number: hourOf(now), Samples: []Sample{{UpFor: 600, PeopleMax: 1, PeopleSum: 10, Counts: 10}, {DownFor: 600}}}))
	check(t, db.Prune(now, 24*time.Hour, 400*24*time.Hour))

	check(t, db.Label(map[netip.AddrPort]string{addr(1): "theirs"}))
	check(t, db.Label(map[netip.AddrPort]string{addr(2): "ours"}))
	check(t, db.Label(nil))
	uptime := func(from, to time.Time, fields ...string) (all [][]any) {
		t.Helper()
		check(t, db.Uptime(from, to, false, fields, func(values []any) { all = append(all, slices.Clone(values)) }))
		return all
	}
	up, down := int64(36*1800), int64(36*600+600) // of server 2; what it lacks is unseen, and of server 1 the rest of the running hour
	want := [][]any{
		{addr(1).String(), "rust", "server 1", "up", "2026-11-20T00:00:00Z", 1.0, int64(72*3600 + 600), int64(0), int64(3000), int64(0), int64(0), 15.0, int64(91), int64(0), ""},
		{addr(2).String(), "rust", "server 2", "up", "2026-11-20T00:00:00Z", 0.744828, up, down, 73*3600 - up - down - 600, int64(2), nil, nil, nil, int64(600), "ours"},
	}
	if diff := cmp.Diff(want, uptime(start, now, UptimeFields...)); diff != "" {
		t.Errorf("from the first hour on (-want +got):\n%s", diff)
	}

	// The second day is kept as a day, so a period that begins in it has all of it.
	want = [][]any{{int64(24 * 3600), int64(0), 1.0, int64(0)}, {int64(12 * 1800), int64(24*3600 - 12*2400), 0.75, int64(0)}}
	if diff := cmp.Diff(want, uptime(start.Add(30*time.Hour), start.Add(40*time.Hour), "up_s", "unseen_s", "up_share", "outages")); diff != "" {
		t.Errorf("the second day (-want +got):\n%s", diff)
	}

	// The third day is kept as a day until 04:00, and a period that begins later has none of it.
	check(t, db.Prune(now, 20*time.Hour, 400*24*time.Hour))
	if got := uptime(start.Add(56*time.Hour), now, "up_s", "unseen_s")[0]; got[0] != int64(16*3600+600) || got[1] != int64(3000) {
		t.Errorf("the end of the third day: %v", got)
	}
	check(t, db.Servers(func(s *Server) {
		if want := map[int64]uint32{1: at + 71*3600, 2: at}[s.ID]; s.LastSeen != want {
			t.Errorf("server %d was last seen at %d, want %d", s.ID, s.LastSeen, want)
		}
	}))

	// When all hours have become days, and one runs, a period still begins with a day.
	check(t, db.Prune(now, time.Minute, 400*24*time.Hour))
	if got := uptime(start.Add(50*time.Hour), now, "up_s", "unseen_s")[0]; got[0] != int64(24*3600+600) || got[1] != int64(3000) {
		t.Errorf("from the third day: %v", got)
	}

	check(t, db.Prune(now.Add(400*24*time.Hour), 24*time.Hour, 400*24*time.Hour))
	if got := uptime(start, start.Add(24*time.Hour), "up_s"); got[0][0] != int64(0) {
		t.Errorf("after 400 days: %v", got)
	}
	if id, _, err := db.Last(); err != nil || id != 2 {
		t.Errorf("the last ID is %d, want 2: IDs never begin again", id)
	}
}

// toVersion3 is SQL that turns the database of 0.1.0 into one of version 3.
const toVersion3 = `ALTER TABLE servers ADD COLUMN label TEXT;
	CREATE TABLE stops (server INTEGER, hour INTEGER, outages INTEGER NOT NULL, planned INTEGER NOT NULL, PRIMARY KEY (server, hour)) WITHOUT ROWID;
	INSERT INTO stops VALUES (2, 498650, 1, 0), (1, 498649, 0, 3);
	UPDATE running SET data = '[[600,0,0,2,4,6,2,1795143600,0,0],[60,540,0,1,1,1,1,1795143600,0,1]]';
	PRAGMA user_version = 3;`

// TestUpgrade: the state of 0.1.0 or of version 3 becomes one of this version, in one
// transaction.
func TestUpgrade(t *testing.T) {
	old := func(more string) (path string) {
		t.Helper()
		path = filepath.Join(t.TempDir(), "state.db")
		text := must(os.ReadFile("testdata/version2.sql"))(t)
		raw := must(sql.Open("sqlite", path))(t)
		_, err := raw.Exec("PRAGMA journal_mode = WAL;" + string(text) + more)
		check(t, errors.Join(err, raw.Close()))
		return path
	}
	upgraded(t, old(""), 0)
	upgraded(t, old(toVersion3), 180)

	path := old("CREATE TABLE stops (server INTEGER);") // the upgrade fails in the middle
	if _, err := Open(path); err == nil {
		t.Error("upgraded with a foreign table")
	}
	if _, err := Read(path); !errors.Is(err, ErrOld) {
		t.Errorf("after an upgrade that failed: %v", err)
	}
	raw := must(sql.Open("sqlite", path))(t)
	defer raw.Close()
	var views, columns int
	check(t, raw.QueryRow("SELECT (SELECT count(*) FROM sqlite_schema WHERE type = 'view'), (SELECT count(*) FROM pragma_table_info('servers'))").Scan(&views, &columns))
	if views != 3 || columns != 7 {
		t.Errorf("after an upgrade that failed, the state has %d views and servers has %d columns", views, columns)
	}
}

// upgraded checks the upgrade of the database at path.
func upgraded(t *testing.T, path string, planned int64) {
	t.Helper()
	if _, err := Read(path); !errors.Is(err, ErrOld) {
		t.Errorf("read without an upgrade: %v", err)
	}
	now := time.Date(2026, 11, 20, 3, 10, 0, 0, time.UTC)
	for range 2 { // the second time, there is nothing to upgrade
		db := must(Open(path))(t)
		var got [][]any
		check(t, db.Uptime(now.Add(-48*time.Hour), now, true, []string{"addr", "up_s", "down_s", "outages", "planned_s", "people_mean"}, func(values []any) { got = append(got, slices.Clone(values)) }))
		want := [][]any{
			{addr(1).String(), int64(86400 + 3600 + 3600 + 600), int64(0), int64(0), planned, 3.8},
			{addr(2).String(), int64(86400 + 58*60 + 60), int64(120 + 540), int64(2), int64(0), 3.9},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("uptime (-want +got):\n%s", diff)
		}
		hours := must(db.Running())(t)
		if len(hours) != 1 || hours[0].Samples[1] != (Sample{UpFor: 60, DownFor: 540, PeopleMin: 1, PeopleMax: 1, PeopleSum: 1, Counts: 1, SeenAt: 1795143600, Outages: 1}) {
			t.Errorf("the running hour: %+v", hours)
		}
		if id, epoch, err := db.Last(); id != 3 || epoch != "12d687" || err != nil {
			t.Errorf("last event %d of the epoch %s, %v", id, epoch, err)
		}
		if id, _, _, err := db.Cursor("webhook", 10); id != 3 || err != nil {
			t.Errorf("the webhook's cursor is %d, %v", id, err)
		}
		check(t, db.Label(map[netip.AddrPort]string{addr(1): "ours"}))
		check(t, db.Close())
	}
	check(t, must(Read(path))(t).Close())
}

// TestShortMinute: people on a server that was up for a few seconds of an hour count.
func TestShortMinute(t *testing.T) {
	db := opened(t, "", 1)
	check(t, db.Flush(nil, nil, Hour{Number: hourOf(start), Samples: []Sample{{UpFor: 13, PeopleMin: 0, PeopleMax: 9, PeopleSum: 9, Counts: 2, SeenAt: at}}}))
	for _, hours := range [][]Hour{nil, {{Number: hourOf(start) + 2}}} { // the hour runs, and has ended
		check(t, db.Flush(nil, nil, hours...))
		check(t, db.Uptime(start, start.Add(time.Hour), false, []string{"people_mean"}, func(values []any) {
			if mean, _ := values[0].(float64); mean < 4.5 || mean > 5 {
				t.Errorf("mean %v of 0 and 9 people", values[0])
			}
		}))
	}
}

// The end of an hour replaces no later answer by one of the hour.
func TestLastSeen(t *testing.T) {
	db := opened(t, "", 1)
	later := Server{ID: 1, LastSeen: at + 7260, Since: at, Status: Up}
	check(t, db.Flush(nil, []Server{later}, ended(hourOf(start), Sample{UpFor: 10, SeenAt: at + 100})...))
	check(t, db.Servers(func(s *Server) {
		if s.LastSeen != later.LastSeen {
			t.Errorf("last seen at %d, want %d", s.LastSeen, later.LastSeen)
		}
	}))
	var first uint32
	check(t, db.sql.QueryRow("SELECT first_seen FROM servers").Scan(&first))
	if first != at {
		t.Errorf("first seen at %d, want %d", first, at)
	}
}

// The size of a server and day, as watches of 20 days leave it.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it starts no goroutine, and go test without -short runs it")
	}
	const servers, days = 300, 20
	db := opened(t, "", servers)
	size := func() (size float64) {
		check(t, db.sql.QueryRow("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&size))
		return size / servers
	}
	empty := size()
	samples := make([]Sample, servers)
	var week float64
	for hour := range days * 24 {
		for i := range samples {
			samples[i] = Sample{UpFor: 3540, DownFor: 60, PeopleMin: uint32(i % 50), PeopleMax: uint32(i%50 + 14), PeopleSum: uint32(60 * (i%50 + 7)), Counts: 60}
		}
		at := start.Add(time.Duration(hour) * time.Hour)
		check(t, db.Flush(nil, nil, ended(hourOf(at), samples...)...))
		check(t, db.Prune(at, 7*24*time.Hour, 400*24*time.Hour))
		if hour == 7*24 {
			week = size()
		}
	}
	perHourly, perDaily := (week-empty)/7, (size()-week)/(days-7)
	t.Logf("%.0f bytes a server before the first hour; then %.0f a server and day while hourly, %.0f after", empty, perHourly, perDaily)
	if perHourly > 700 || perDaily > 35 {
		t.Error("want at most 700 and 35")
	}
}

// TestHistory: what a page shows of a server comes from days, hours, and hours that may still
// change.
func TestHistory(t *testing.T) {
	db := must(Open(""))(t)
	defer db.Close()
	check(t, db.Add([]netip.AddrPort{addr(1), addr(2)}))
	hour := func(h int) time.Time { return start.Add(time.Duration(h) * time.Hour) }
	sample := func(up, down, people uint32) Sample {
		return Sample{UpFor: up, DownFor: down, PeopleMin: 1, PeopleMax: 9, PeopleSum: people * 60, Counts: 60}
	}
	for h := range 50 {
		check(t, db.Flush(nil, nil, ended(hourOf(hour(h)), sample(3600, 0, 5), sample(1800, 1800, 3))...))
	}
	check(t, db.Prune(hour(72), 48*time.Hour, 400*24*time.Hour)) // the first day becomes a row
	check(t, db.Flush(nil, nil, Hour{Number: hourOf(hour(50)), Samples: []Sample{sample(600, 0, 7), sample(0, 600, 0)}}))

	got := must(db.History(2, hour(0), hour(72)))(t)
	if len(got) != 1+26+1 {
		t.Fatalf("%d periods", len(got))
	}
	want := []Period{
		{Time: hour(0), Hours: 24, Up: 43200, Down: 43200, People: &People{1, 9, 3}},
		{Time: hour(24), Hours: 1, Up: 1800, Down: 1800, People: &People{1, 9, 3}},
		{Time: hour(50), Hours: 1, Down: 600, People: &People{1, 9, 0}},
	}
	if diff := cmp.Diff(want, []Period{got[0], got[1], got[27]}); diff != "" {
		t.Error(diff)
	}
	if got := must(db.History(2, hour(40), hour(45)))(t); len(got) != 6+1 {
		t.Errorf("%d periods of a few hours", len(got))
	}
	if got := must(db.History(77, hour(0), hour(72)))(t); len(got) != 0 {
		t.Errorf("a server that is not there: %v", got)
	}
}

// TestPartOfDay: while only some hours of a day have become a part of its row, each outage
// and each second of maintenance counts once.
func TestPartOfDay(t *testing.T) {
	db := opened(t, "", 1)
	for hour := range int64(24) {
		check(t, db.Flush(nil, nil, ended(hourOf(start)+hour, Sample{UpFor: 3000, PlannedFor: 600, Outages: 1})...))
	}
	for merged := range 25 {
		check(t, db.Prune(start.Add(time.Duration(merged+1)*time.Hour), time.Hour, 400*24*time.Hour))
		var sum Period
		history := must(db.History(1, start, start.Add(24*time.Hour)))(t)
		for i := range history {
			sum.Add(&history[i])
		}
		if want := (Period{Up: 24 * 3000, Planned: 24 * 600, Outages: 24}); sum != want || len(history) != min(25-merged, 24) {
			t.Errorf("%d hours merged: %d periods with %+v, want %+v", merged, len(history), sum, want)
		}
	}
}

// TestTotals: totals are means of the minutes of a step, and are kept for a month.
func TestTotals(t *testing.T) {
	db := must(Open(""))(t)
	defer db.Close()
	for minute, up := range map[int]int{-32 * 24 * 60: 1, 0: 2, 3: 5, 5: 7} {
		check(t, db.Count(start.Add(time.Duration(minute)*time.Minute), up, 10*up))
	}
	check(t, db.Prune(start, time.Hour, time.Hour))
	got := must(db.Totals(start.AddDate(-1, 0, 0), 5*time.Minute))(t)
	if diff := cmp.Diff([]Total{{start.Unix(), 3.5, 35}, {start.Unix() + 300, 7, 70}}, got); diff != "" {
		t.Error(diff)
	}
	if got := must(db.Totals(start.Add(4*time.Minute), 5*time.Minute))(t); len(got) != 1 {
		t.Errorf("since a moment: %v", got)
	}
}
