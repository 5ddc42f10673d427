package watch

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// berlin returns a zone whose clocks change on 29 March 2026 from 2:00 to 3:00, and on 25
// October 2026 from 3:00 to 2:00.
func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	check(t, err)
	return zone
}

// windows reads windows.
func windows(t *testing.T, zone *time.Location, lines ...string) []Window {
	t.Helper()
	all, err := ReadWindows(strings.NewReader(strings.Join(lines, "\n")), zone)
	check(t, err)
	return all
}

// TestWindows checks when windows begin and end, also around a clock change.
func TestWindows(t *testing.T) {
	zone := berlin(t)
	for _, c := range []struct{ line, now, want string }{
		{"all 2026-12-01T04:00Z/06:00Z restart", "2026-12-01T05:30:00Z", "2026-12-01T04:00:00Z to 2026-12-01T06:00:00Z"},
		{"all 2026-12-01T04:00Z/06:00 restart", "2026-12-01T06:00:00Z", ""},
		{"all 2026-12-01T04:00/06:00", "2026-12-01T03:00:00Z", "2026-12-01T03:00:00Z to 2026-12-01T05:00:00Z"},
		{"all 2026-12-01T23:00+02:00/01:00", "2026-12-01T21:30:00Z", "2026-12-01T21:00:00Z to 2026-12-01T23:00:00Z"},
		{"all 2026-12-01T23:00Z/2026-12-03T01:00Z", "2026-12-02T21:30:00Z", "2026-12-01T23:00:00Z to 2026-12-03T01:00:00Z"},
		{"all daily 04:00-04:30", "2026-12-01T03:00:00Z", "2026-12-01T03:00:00Z to 2026-12-01T03:30:00Z"},
		{"all daily 04:00-04:30", "2026-12-01T02:59:59Z", ""},
		{"all daily 04:00-04:30", "2026-12-01T03:30:00Z", ""},
		{"all daily 23:30-00:30", "2026-07-01T22:29:59Z", "2026-07-01T21:30:00Z to 2026-07-01T22:30:00Z"},
		{"all Mon,thu 23:30-00:30", "2026-12-03T23:00:00Z", "2026-12-03T22:30:00Z to 2026-12-03T23:30:00Z"}, // Thursday, and now it is Friday
		{"all Mon,Thu 23:30-00:30", "2026-12-02T23:00:00Z", ""},
		{"all Fri-Sun,Wed 12:00-13:00", "2026-12-05T11:30:00Z", "2026-12-05T11:00:00Z to 2026-12-05T12:00:00Z"}, // a Saturday
		{"all Fri-Mon,Wed 12:00-13:00", "2026-12-07T11:30:00Z", "2026-12-07T11:00:00Z to 2026-12-07T12:00:00Z"},
		{"all Fri-Mon,Wed 12:00-13:00", "2026-12-08T11:30:00Z", ""},
		{"all Sun,Sun 00:00-23:59", "2026-12-06T12:00:00Z", "2026-12-05T23:00:00Z to 2026-12-06T22:59:00Z"},
		{"all daily 00:00-24:00", "2026-12-06T12:00:00Z", "2026-12-05T23:00:00Z to 2026-12-06T23:00:00Z"},
		{"all Sun 00:00-24:00", "2026-03-29T21:59:59Z", "2026-03-28T23:00:00Z to 2026-03-29T22:00:00Z"}, // a day of 23 hours
		{"all Sun 00:00-24:00", "2026-03-29T22:00:00Z", ""},
		{"all Sun 23:00-24:00", "2026-12-06T22:30:00Z", "2026-12-06T22:00:00Z to 2026-12-06T23:00:00Z"},

		// In spring, 2:30 does not exist: the change is at 1:00 UTC.
		{"all daily 02:30-03:30", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z to 2026-03-29T01:30:00Z"},
		{"all daily 02:30-03:30", "2026-03-29T00:59:59Z", ""},
		{"all daily 01:30-02:30", "2026-03-29T00:59:59Z", "2026-03-29T00:30:00Z to 2026-03-29T01:00:00Z"},
		{"all daily 02:10-02:40", "2026-03-29T01:29:59Z", "2026-03-29T01:00:00Z to 2026-03-29T01:30:00Z"},
		{"all daily 02:30-03:30", "2026-03-30T00:30:00Z", "2026-03-30T00:30:00Z to 2026-03-30T01:30:00Z"},
		{"all 2026-03-29T02:30/04:00", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z to 2026-03-29T02:00:00Z"},
		// In autumn, 2:30 occurs twice: at 0:30 and 1:30 UTC. The first one counts.
		{"all daily 02:30-03:30", "2026-10-25T00:30:00Z", "2026-10-25T00:30:00Z to 2026-10-25T02:30:00Z"},
		{"all daily 02:10-02:40", "2026-10-25T00:39:59Z", "2026-10-25T00:10:00Z to 2026-10-25T00:40:00Z"},
		{"all daily 02:10-02:40", "2026-10-25T01:20:00Z", ""},
		{"all daily 01:30-02:30", "2026-10-25T00:29:59Z", "2026-10-24T23:30:00Z to 2026-10-25T00:30:00Z"},
		{"all daily 01:30-02:30", "2026-10-25T01:15:00Z", ""},
		{"all 2026-10-25T02:30/03:00", "2026-10-25T01:59:59Z", "2026-10-25T00:30:00Z to 2026-10-25T02:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		check(t, err)
		got := ""
		if begin, end, in := windows(t, zone, c.line)[0].At(now); in {
			got = begin.UTC().Format(time.RFC3339) + " to " + end.UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s at %s: %q, want %q", c.line, c.now, got, c.want)
		}
	}
}

// TestWho checks which servers a window is for, and that mistakes are explained.
func TestWho(t *testing.T) {
	addr := netip.MustParseAddrPort("203.0.113.7:27015")
	for who, want := range map[string]bool{
		"all": true, "ALL": true, "All": true, `"ALL"`: false, "\ufeffall": true, "203.0.113.7": true, "203.0.113.7:27015": true, "203.0.113.7:27016": false, "203.0.113.0/24": true, "203.0.114.0/24": false,
		"Survival": false, `"My server"`: true, `"all"`: false, `"203.0.113.7"`: false,
	} {
		w := windows(t, time.UTC, who+" daily 04:00-04:30 two words", "# comment", "")[0]
		if got := w.covers(addr, "My server"); got != want || w.Reason != "two words" {
			t.Errorf("%s: %v, want %v; %q", who, got, want, w.Reason)
		}
	}
	for line, want := range map[string]string{
		"all":                                     `line 2: the maintenance of "all" has no time: write 2026-`,
		"all daily":                               `line 2: "daily" alone is not a time of maintenance`,
		"all 04:00-04:30":                         `line 2: "04:00-04:30" alone is not a time of maintenance`,
		"all now and then":                        `"now" is not a day of the week`,
		"all Mon,Funday 04:00-04:30":              `"funday" is not a day of the week`,
		"all daily 4am-5am":                       `"4am-5am" is not a range of times`,
		"all daily 04:00-25:00":                   `"04:00-25:00" is not a range of times`,
		"all daily 04:00-04:00":                   `"04:00-04:00" begins and ends at the same time: for a whole day, write 00:00-24:00`,
		"all daily 24:00-04:00":                   `"24:00-04:00" is not a range of times`,
		"all daily 24:00-24:00":                   `"24:00-24:00" begins and ends at the same time`,
		"all daily 04:00-24:01":                   `"04:00-24:01" is not a range of times`,
		"all daily 04:00":                         `"04:00" is not a range of times`,
		"all 2026-12-01T04:00Z/":                  `is not a time of maintenance`,
		"all 2026-13-01T04:00Z/05:00Z":            `is not a time of maintenance`,
		"all 2026-12-01/2026-12-02":               `is not a time of maintenance`,
		"all 2026-12-02T04:00Z/2026-12-01T04:00Z": `or its end is not after its beginning: write 2026-`,
		`"My server daily 04:00-04:30`:            `no closing quote`,
		`"" daily 04:00-04:30`:                    `the name is empty`,
		"all daily 04:00-04:30\n" + strings.Repeat("x", 1<<17): `line 3 is too long: at most 64 KiB are read`,
	} {
		if _, err := ReadWindows(strings.NewReader("# first\n"+line), time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// maintain gives windows to a watcher. Its world begins at 12:10 UTC.
func (x *world) maintain(lines ...string) { x.w.Maintain(windows(x.t, time.UTC, lines...), x.now) }

// sums returns the seconds of a server by counter, in the last two hours.
func (x *world) sums(i int) (sum db.Sample) {
	for _, h := range x.w.hours.running() {
		for counter, n := range h.Samples[i] {
			sum[counter] += n
		}
	}
	return sum
}

// lasted checks that a number of seconds is right within 70 seconds.
func lasted(t *testing.T, what string, got uint32, want time.Duration) {
	t.Helper()
	if off := time.Duration(got)*time.Second - want; off.Abs() > 70*time.Second {
		t.Errorf("%s for %d s, want about %v", what, got, want)
	}
}

// TestMaintenance: a server that goes down in a window has planned events, and its time down
// is planned.
func TestMaintenance(t *testing.T) {
	x := newWorld(t, 4, usual())
	x.maintain(x.servers[1].addr.String()+" daily 12:15-12:45 weekly restart", x.servers[2].addr.String()+" daily 12:00-12:20")
	x.run(6 * time.Minute) // until 12:16
	x.servers[1].dead, x.servers[3].dead = true, true
	x.run(5 * time.Minute)
	if row, watched := x.w.row(1); !watched || !row.Planned || row.Status != db.Down || row.Until.Format("15:04") != "12:45" || row.Reason != "weekly restart" {
		t.Errorf("%+v", row)
	}
	if s := x.w.Status(); s.Down != 1 || s.Planned != 1 || s.Up != 2 || !strings.Contains(s.String(), "2 up, 1 down, 1 in maintenance;") {
		t.Errorf("%s", s.String())
	}
	if rows := x.rows(); rows[1].Status != db.Planned || rows[3].Status != db.Down {
		t.Errorf("stored are %+v", rows)
	}
	x.servers[1].dead, x.servers[3].dead, x.servers[1].version = false, false, "2.0" // it was updated meanwhile
	x.run(3 * time.Minute)
	planned := func() (kinds []string) {
		for _, e := range x.events {
			if e.Planned {
				kinds = append(kinds, e.Kind)
				if !strings.Contains(Text(&e), "(planned)") {
					t.Error(Text(&e))
				}
			}
		}
		slices.Sort(kinds)
		return kinds
	}
	if got := fmt.Sprint(planned()); got != "[down up version]" {
		t.Errorf("planned are %s", got)
	}
	x.want("down 1", "down 3", "up 1", "up 3", "version 1")
	if rows := x.rows(); rows[1].Status != db.Up {
		t.Errorf("stored is %+v", rows[1])
	}
	s := x.sums(1)
	lasted(t, "planned", s[db.PlannedFor], 5*time.Minute)
	if s[db.DownFor] > 0 || s[db.UnseenFor] > 0 || s[db.Outages] > 0 || x.sums(3)[db.Outages] != 1 {
		t.Errorf("%v and %v", s, x.sums(3))
	}
	x.run(25 * time.Minute) // until 12:49
	x.servers[1].dead = true
	x.run(5 * time.Minute)
	if len(planned()) > 0 {
		t.Errorf("planned after the window: %v", x.events)
	}
	x.want("down 1")
}

// TestStillDown: a server that is still down at the end of its window gets an event at once,
// which is dated there. The time until its reminder begins with this event. Its event up says how
// long it was down in all, also if another watch reports the event.
func TestStillDown(t *testing.T) {
	rules := usual()
	rules.Remind = 20 * time.Minute
	x := newWorld(t, 2, rules)
	x.maintain("127.0.0.0/24 daily 12:15-12:30")
	x.run(6 * time.Minute)
	x.servers[1].dead = true
	x.run(13 * time.Minute) // until 12:29
	x.want("down 1")
	x.run(61 * time.Second)
	if e := x.events[0]; e.Planned || e.Time.Format("15:04:05") != "12:30:00" || e.Reported.Sub(e.Time) > 2*time.Second || e.Evidence.Checks < 10 {
		t.Errorf("%+v", e)
	}
	x.want("down 1")
	rows, hours := x.rows(), x.w.hours
	rows[1].Told = seconds(x.now)
	x.restart(rows...)
	x.w.hours = hours
	x.maintain("127.0.0.0/24 daily 12:15-12:30")
	x.run(10 * time.Minute)
	x.servers[1].dead = false
	x.run(2 * time.Minute)
	if e := x.events[0]; e.Planned || e.For < 23*60 || e.For > 25*60+2 {
		t.Errorf("%+v", e)
	}
	x.want("up 1")
	s := x.sums(1)
	lasted(t, "planned", s[db.PlannedFor], 14*time.Minute)
	lasted(t, "down", s[db.DownFor], 11*time.Minute)
	if s[db.Outages] != 1 {
		t.Errorf("%d outages", s[db.Outages])
	}
}

// TestBackInTime: a server that answers again before the end of its window is not down at the end,
// although nobody has asked it since.
func TestBackInTime(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.maintain("all daily 12:15-12:30")
	x.run(6 * time.Minute)
	x.servers[1].dead = true
	x.run(13 * time.Minute) // until 12:29
	x.want("down 1")
	for before := x.w.servers[1].silent; x.w.servers[1].silent == before; {
		x.run(time.Second)
	}
	x.servers[1].dead = false
	x.run(2 * time.Minute)
	if e := x.events[0]; !e.Planned || e.Time.Format("15:04") != "12:30" {
		t.Errorf("%+v", e)
	}
	x.want("up 1")
	if s := x.sums(1); s[db.DownFor] != 0 || s[db.Outages] != 0 {
		t.Errorf("%d s down, %d outages", s[db.DownFor], s[db.Outages])
	}
}

// TestDownLateInWindow: an outage that begins in a window, and is noticed after its end, is planned
// until the end.
func TestDownLateInWindow(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.maintain("all daily 12:15-12:30")
	x.run(18 * time.Minute) // until 12:28
	x.servers[1].dead = true
	x.run(7 * time.Minute)
	if e := x.events[0]; e.Planned || e.Time.Format("15:04:05") != "12:30:00" || !e.Evidence.First.Before(e.Time) {
		t.Errorf("%+v", e)
	}
	x.want("down 1")
	x.servers[1].dead = false
	x.run(2 * time.Minute)
	x.want("up 1")
	s := x.sums(1)
	lasted(t, "planned", s[db.PlannedFor], 90*time.Second)
	lasted(t, "down", s[db.DownFor], 6*time.Minute)
	if s[db.Outages] != 1 {
		t.Errorf("%d outages", s[db.Outages])
	}
}

// TestDownBefore: an outage that began before the window stays an outage.
func TestDownBefore(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.maintain("all daily 12:15-12:30")
	x.run(3 * time.Minute) // until 12:13
	x.servers[0].dead = true
	x.run(10 * time.Minute)
	if e := x.events[0]; e.Planned {
		t.Errorf("%+v", e)
	}
	x.want("down 0")
	x.servers[0].dead = false
	x.run(2 * time.Minute)
	if e := x.events[0]; e.Planned {
		t.Errorf("%+v", e)
	}
	x.want("up 0")
	if s := x.sums(0); s[db.PlannedFor] > 0 || s[db.Outages] != 1 {
		t.Errorf("%v", s)
	}
}

// TestMaintenanceRestart: a watch that begins again in a window, or after it, knows which
// servers are down because of it, also if another window has begun meanwhile.
func TestMaintenanceRestart(t *testing.T) {
	const window = "all daily 12:15-12:30"
	for _, c := range []struct {
		lines []string
		after time.Duration // the watch begins again at 12:21 plus after
		quiet time.Duration // then nothing is reported for so long
		ends  string        // when the maintenance of the server ends, or "" if the server is up before
	}{
		{[]string{window}, 3 * time.Minute, 3 * time.Minute, ""},
		{[]string{window}, 20 * time.Minute, 0, "2026-11-20 12:30:00"},
		{[]string{window, "all daily 12:25-12:50"}, 14 * time.Minute, 14 * time.Minute, "2026-11-20 12:50:00"},
		{[]string{window, "all daily 12:25-12:50"}, 40 * time.Minute, 0, "2026-11-20 12:50:00"},
		{[]string{"all daily 12:25-12:50", window}, 40 * time.Minute, 0, "2026-11-20 12:50:00"},
		{[]string{window}, 24 * time.Hour, 8 * time.Minute, "2026-11-21 12:30:00"},
	} {
		x := newWorld(t, 2, usual())
		x.maintain(c.lines...)
		x.run(6 * time.Minute)
		x.servers[1].dead = true
		x.run(5 * time.Minute)
		x.want("down 1")
		x.now = x.now.Add(c.after)
		x.restart(x.rows()...)
		x.maintain(c.lines...)
		x.run(c.quiet)
		x.want()
		want := "down 1"
		if c.ends == "" {
			x.servers[1].dead, want = false, "up 1"
		}
		x.run(2 * time.Minute)
		for _, e := range x.events {
			if e.Planned != (c.ends == "") || !e.Planned && e.Time.Format(time.DateTime) != c.ends {
				t.Errorf("%+v", e)
			}
		}
		x.want(want)
	}
}

// TestMaintenanceAdded: an outage that was reported stays an outage if the file gets a window
// in which it began.
func TestMaintenanceAdded(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.run(2 * time.Minute)
	x.servers[1].dead = true
	x.run(5 * time.Minute)
	x.want("down 1")
	x.maintain("all daily 12:10-12:30")
	x.run(3 * time.Minute)
	x.servers[1].dead = false
	x.run(2 * time.Minute)
	for _, e := range x.events {
		if e.Planned {
			t.Errorf("%+v", e)
		}
	}
	x.want("up 1")
	if s := x.sums(1); s[db.PlannedFor] > 0 || s[db.Outages] != 1 {
		t.Errorf("%v", s)
	}
}

// TestMaintenanceBlind: servers in a window say nothing about the network of the watcher.
func TestMaintenanceBlind(t *testing.T) {
	x := newWorld(t, 200, usual())
	x.maintain("127.0.0.0/20 daily 12:15-12:45") // 128 of them
	x.run(6 * time.Minute)
	silence(true, x.servers[:128])
	x.run(5 * time.Minute)
	for _, e := range x.events {
		if !e.Planned {
			t.Errorf("%+v", e)
		}
	}
	x.want(all("down", 0, 128)...)
	silence(true, x.servers[128:]) // and now the others: that is the network
	x.run(5 * time.Minute)
	x.want("blind")
}

// TestMaintenanceCut: at the end of a window, the silence of all servers may mean that the watcher
// is blind. Servers that are still down after --blind-max are reported.
func TestMaintenanceCut(t *testing.T) {
	for _, c := range []struct {
		references int
		back       int // the last servers, which answer again five minutes after the window
		want       []string
	}{
		{0, 40, append([]string{"seeing"}, all("up", 0, 40)...)},
		{0, 38, append(append([]string{"seeing"}, all("up", 2, 40)...), "down 0", "down 1")},
		{0, 0, all("down", 0, 40)},
		{1, 40, append([]string{"seeing"}, all("up", 0, 40)...)},
	} {
		rules := usual()
		for i := range c.references {
			rules.References = append(rules.References, newFake(i).addr)
		}
		x := newWorld(t, 40, rules)
		x.maintain("all daily 12:12-12:30")
		x.run(15 * time.Minute) // until 12:25
		silence(true, x.servers)
		x.run(5*time.Minute - 2*time.Second)
		x.want(all("down", 0, 40)...)
		x.run(5 * time.Minute) // until 12:35
		x.want("blind")
		silence(false, x.servers[40-c.back:])
		x.run(7 * time.Minute)
		for _, e := range x.events {
			if e.Kind == "down" && (e.Planned || e.Time.Format(time.TimeOnly) != "12:30:00") || e.Kind == "up" && !e.Planned {
				t.Errorf("%+v", e)
			}
		}
		x.want(c.want...)
	}
}

// TestMaintenanceChanged: when the file loses a window, a server that is down counts as down
// from then on.
func TestMaintenanceChanged(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.maintain("all daily 12:15-13:30")
	x.run(6 * time.Minute)
	x.servers[1].dead = true
	x.run(5 * time.Minute)
	x.want("down 1")
	if idle := x.w.Maintain(windows(t, time.UTC, "203.0.113.0/24 daily 12:15-13:30"), x.now); len(idle) != 1 || idle[0].Who != "203.0.113.0/24" {
		t.Errorf("%+v", idle)
	}
	removed := x.now
	x.run(5 * time.Second)
	if e := x.events[0]; e.Planned || e.Time.Sub(removed).Abs() > time.Second {
		t.Errorf("%+v", e)
	}
	x.want("down 1")
}

// TestPlannedFlapping: planned events do not hold back the report of an outage after them.
func TestPlannedFlapping(t *testing.T) {
	x := newWorld(t, 2, usual())
	x.maintain("all daily 12:12-12:20")
	x.run(3 * time.Minute)
	x.servers[1].dead = true
	x.run(4 * time.Minute)
	x.servers[1].dead = false
	x.run(4 * time.Minute) // until 12:21
	x.want("down 1", "up 1")
	x.servers[1].dead = true
	x.run(4*time.Minute + 4*time.Second)
	x.want("down 1")
}

// TestPlannedUp: an up in a window that damping holds back is reported if it lasts.
func TestPlannedUp(t *testing.T) {
	rules := usual()
	rules.Damp = 10 * time.Hour
	x := newWorld(t, 2, rules)
	x.maintain("all daily 12:12-13:30")
	x.run(3 * time.Minute)
	for i := range 4 {
		x.servers[1].dead = i%2 == 0
		x.run(8 * time.Minute)
	}
	x.want("down 1", "up 1", "down 1", "up 1")
}
