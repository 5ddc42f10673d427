package watch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// Window is a time of maintenance, in which some servers may be down.
type Window struct {
	Who    string
	Reason string
	covers func(addr netip.AddrPort, label string) bool // reports whether the window is for a server
	// from and to are the beginning and the end of a window that occurs once. They are zero
	// if the window repeats.
	from, to time.Time
	// days says on which days of the week a repeating window begins. The index of Sunday is
	// 0. begin has the time of the day, in zone.
	days  [7]bool
	begin time.Time
	lasts time.Duration
	zone  *time.Location
}

// ReadWindows reads windows, one per line: WHO WHEN [reason]. Times without a zone are in
// the given zone.
func ReadWindows(from io.Reader, zone *time.Location) (windows []Window, err error) {
	lines := bufio.NewScanner(from)
	number := 1
	for ; lines.Scan(); number++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")) // without a byte order mark
		if line == "" || line[0] == '#' {
			continue
		}
		w, err := parseWindow(line, zone)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		windows = append(windows, w)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is too long: at most %d KiB are read", number, bufio.MaxScanTokenSize>>10)
	}
	return windows, lines.Err()
}

func parseWindow(line string, zone *time.Location) (w Window, err error) {
	w.zone = zone
	who, rest, quoted := line, "", line[0] == '"'
	if quoted {
		var closed bool
		if who, rest, closed = strings.Cut(line[1:], `"`); !closed {
			return w, errors.New(`the name has no closing quote`)
		}
	} else if end := strings.IndexAny(line, " \t"); end > 0 {
		who, rest = line[:end], line[end:]
	}
	w.Who = who
	if who == "" {
		return w, errors.New("the name is empty")
	}
	server, notServer := netip.ParseAddrPort(who)
	addr, notAddr := netip.ParseAddr(who)
	network, notNetwork := netip.ParsePrefix(who)
	w.covers = func(a netip.AddrPort, label string) bool {
		switch {
		case quoted:
			return label == who
		case strings.EqualFold(who, "all"):
			return true
		case notServer == nil:
			return a == server
		case notAddr == nil:
			return a.Addr() == addr
		case notNetwork == nil:
			return network.Contains(a.Addr())
		}
		return label == who
	}
	when := strings.Fields(rest)
	if len(when) == 0 {
		return w, fmt.Errorf("the maintenance of %s has no time: %s", console.Quoted(who, 40), howToWrite)
	}
	words := 1
	if strings.Contains(when[0], "/") {
		err = w.parseOnce(when[0])
	} else if words = 2; len(when) < words {
		err = fmt.Errorf("%s alone is not a time of maintenance: %s", console.Quoted(when[0], 40), howToWrite)
	} else {
		err = w.parseDays(when[0], when[1])
	}
	if err == nil {
		w.Reason = strings.Join(when[words:], " ")
	}
	return w, err
}

const howToWrite = "write 2026-12-01T04:00Z/06:00Z, daily 04:00-04:30, or Mon,Thu-Sat 23:30-00:30, and a name with blanks in double quotes"

// parseOnce parses 2026-12-01T04:00Z/06:00Z. The end may have a date and a zone, too. By
// default the end is in the zone of the beginning.
func (w *Window) parseOnce(text string) error {
	from, to, _ := strings.Cut(text, "/")
	const day, minute = "2006-01-02T", "15:04"
	parse := func(text string, zone *time.Location) (t time.Time, err error) {
		if t, err = time.ParseInLocation(day+minute+"Z07:00", text, zone); err != nil {
			if t, err = time.Parse(day+minute, text); err == nil {
				t = inZone(t, zone)
			}
		}
		return t, err
	}
	var err error
	if w.from, err = parse(from, w.zone); err == nil {
		zone := w.zone
		if _, bare := time.Parse(day+minute, from); bare != nil {
			zone = w.from.Location()
		}
		for _, date := range []string{"", w.from.Format(day), w.from.AddDate(0, 0, 1).Format(day)} {
			if w.to, err = parse(date+to, zone); err == nil && w.to.After(w.from) {
				return nil
			}
		}
	}
	return fmt.Errorf("%s is not a time of maintenance, or its end is not after its beginning: %s", console.Quoted(text, 40), howToWrite)
}

// parseDays parses the days, such as "daily" or "Mon,Thu-Sat", and the times, such as
// "23:30-00:30".
func (w *Window) parseDays(days, times string) error {
	names := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	for _, part := range strings.Split(strings.Replace(strings.ToLower(days), "daily", "sun-sat", 1), ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, last := slices.Index(names, from), slices.Index(names, to)
		if !isRange {
			last = first
		}
		if first < 0 || last < 0 {
			return fmt.Errorf("%s is not a day of the week: %s", console.Quoted(part, 40), howToWrite)
		}
		for i := first; ; i = (i + 1) % len(names) {
			w.days[i] = true
			if i == last {
				break
			}
		}
	}
	from, to, _ := strings.Cut(times, "-")
	if from == to {
		return fmt.Errorf("%s begins and ends at the same time: for a whole day, write 00:00-24:00", console.Quoted(times, 40))
	}
	if to == "24:00" {
		to = "00:00"
	}
	begin, notBegin := time.Parse("15:04", from)
	end, notEnd := time.Parse("15:04", to)
	if notBegin != nil || notEnd != nil {
		return fmt.Errorf("%s is not a range of times: %s", console.Quoted(times, 40), howToWrite)
	}
	if w.begin, w.lasts = begin, end.Sub(begin); w.lasts <= 0 {
		w.lasts += 24 * time.Hour
	}
	return nil
}

// inZone returns the moment at which clocks in zone show the date and time of t. It ignores
// the zone of t. If a clock change skips this time, inZone returns the moment of the change.
// If the clocks show this time twice, inZone returns the first moment.
func inZone(t time.Time, zone *time.Location) time.Time {
	const layout = time.DateTime
	m := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, zone)
	change, next := m.ZoneBounds()
	switch shown := m.Format(layout); {
	case shown > t.Format(layout):
		return change
	case shown < t.Format(layout):
		return next
	case !change.IsZero():
		_, offset := m.Zone()
		_, before := change.Add(-time.Second).Zone()
		if first := m.Add(time.Duration(offset-before) * time.Second); first.Before(change) && first.Format(layout) == shown {
			return first
		}
	}
	return m
}

// At reports whether the window is going on at the given time. If so, begin and end are
// the beginning and the end of this occurrence of the window.
func (w *Window) At(now time.Time) (begin, end time.Time, in bool) {
	if !w.from.IsZero() {
		return w.from, w.to, !now.Before(w.from) && now.Before(w.to)
	}
	today := now.In(w.zone)
	for ago := range 2 {
		begins := time.Date(today.Year(), today.Month(), today.Day()-ago, w.begin.Hour(), w.begin.Minute(), 0, 0, time.UTC)
		if !w.days[begins.Weekday()] {
			continue
		}
		begin, end = inZone(begins, w.zone), inZone(begins.Add(w.lasts), w.zone)
		if !end.After(begin) { // the clock change skips the whole window
			end = begin.Add(w.lasts)
		}
		if !now.Before(begin) && now.Before(end) {
			return begin, end, true
		}
	}
	return begin, end, false
}

// maintained is a window with the indexes of its servers.
type maintained struct {
	Window
	servers []int
	// While the window is going on, begin and end are its beginning and its end. Otherwise
	// they are 0.
	begin, end uint32
}

// Maintain replaces the windows of maintenance. It returns the windows that match no server.
func (w *Watcher) Maintain(windows []Window, now time.Time) (idle []Window) {
	w.windows = nil
	for _, one := range windows {
		m := maintained{Window: one}
		for i := range w.servers {
			s := &w.servers[i]
			if s.gone || !one.covers(s.addr(), s.label) {
				continue
			}
			m.servers = append(m.servers, i)
		}
		if len(m.servers) == 0 {
			idle = append(idle, one)
		}
		w.windows = append(w.windows, m)
	}
	for i := range w.servers {
		if s := &w.servers[i]; s.planned && s.asked == 0 {
			s.over = s.wasOver(windows, seconds(now)) // no watch saw the end of the maintenance
		}
	}
	w.begin(seconds(now), true)
	return idle
}

// wasOver returns the end of the maintenance in which the server went down. It returns now if
// this maintenance has not ended, or if the server went down outside all windows.
func (s *server) wasOver(windows []Window, now uint32) uint32 {
	over := s.since
	for n := 0; n < len(windows) && over < now; n++ {
		if _, end, in := windows[n].At(moment(over)); in && windows[n].covers(s.addr(), s.label) {
			over, n = seconds(end), -1 // another window may have begun before this end
		}
	}
	if over == s.since {
		return now
	}
	return min(over, now)
}

// begin finds out which windows have begun or ended, and which servers are in a window now.
// If anew is true, begin looks at the servers even if no window has begun or ended.
func (w *Watcher) begin(now uint32, anew bool) {
	for n := range w.windows {
		m := &w.windows[n]
		begin, end, in := m.At(moment(now))
		if !in {
			begin, end = time.Time{}, time.Time{}
		}
		if in == (m.begin == 0) || in && seconds(begin) != m.begin {
			m.begin, m.end, anew = 0, 0, true
			if in {
				m.begin, m.end = seconds(begin), seconds(end)
			}
		}
	}
	if !anew {
		return
	}
	was := make([]uint32, len(w.servers))
	for i := range w.servers {
		was[i], w.servers[i].window = w.servers[i].ends, 0
	}
	for n, m := range w.windows {
		for _, i := range m.servers {
			if s := &w.servers[i]; m.begin > 0 && (s.window == 0 || m.end > s.ends) {
				s.window, s.ends = n+1, m.end
				if was[i] == 0 && (s.covered == 0 || m.begin < s.covered) {
					s.covered = m.begin
				}
			}
		}
	}
	for i := range w.servers {
		if s := &w.servers[i]; s.window == 0 && was[i] > 0 {
			s.began, s.over = s.covered, min(was[i], now)
			s.ends, s.covered, s.stopped = 0, 0, false
			if s.planned {
				w.changing = append(w.changing, i) // check at once whether the server is up again
			}
		}
	}
}

// outlasts goes into Evidence.Signs if an outage lasts longer than the maintenance.
const outlasts = "the server is still down at the end of its maintenance"

// outlast reports that a server is down although its maintenance is over.
func (w *Watcher) outlast(i int, now uint32) {
	s := &w.servers[i]
	w.countAs(db.Down, i, s.over)
	s.planned = false
	w.countAs(db.Down, i, now)
	w.hourOf(now).Samples[i][db.Outages]++
	w.store(i, nil)
	s.remindAt = now + uint32(w.rules.Remind.Seconds())
	for _, planned := range []bool{false, true} { // damping must not hold back the event
		delete(w.damping.open, damped{i, "up", planned})
	}
	e := db.Event{Kind: "down", Time: moment(s.over), Evidence: s.silence(w.view.blind)}
	e.Evidence.Signs = []string{outlasts}
	w.emit(i, e, now)
}
