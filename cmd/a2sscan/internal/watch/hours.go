package watch

import (
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

const secondsOfHour = 3600

// hours are the two hours that may still change. The database has the earlier hours.
type hours [2]db.Hour

// hourOf returns the hour that contains a time. w.hours has one place for even hours and one
// for odd hours. If the place has an earlier hour, hourOf replaces it with the new hour. If
// the place already has a later hour, hourOf returns that later hour.
func (w *Watcher) hourOf(at uint32) *db.Hour {
	number := int64(at / secondsOfHour)
	hour := &w.hours[number%2]
	if number > hour.Number {
		*hour = db.Hour{Number: number}
	}
	for len(hour.Samples) < len(w.servers) {
		hour.Samples = append(hour.Samples, db.Sample{})
	}
	return hour
}

// counted maps a status to the index of its counter in a db.Sample.
var counted = map[db.Status]int{db.Up: db.UpFor, db.Down: db.DownFor, db.Unknown: db.UnseenFor}

// count counts the time of a server from server.upto to the given time. The time counts as
// up or down or, if status is db.Unknown, as unseen. Downtime because of maintenance
// counts as planned. Time in hours that are no longer in memory is not counted, so it
// appears as unseen.
func (w *Watcher) count(i int, until uint32, status db.Status) {
	s := &w.servers[i]
	field := counted[status]
	if status == db.Down && s.planned {
		field = db.PlannedFor
	}
	for s.status != db.Unknown && !s.gone && s.upto < until {
		end := min(until, (s.upto/secondsOfHour+1)*secondsOfHour)
		if hour := w.hourOf(s.upto); hour.Number == int64(s.upto/secondsOfHour) {
			sum := &hour.Samples[i][field]
			*sum = min(*sum+end-s.upto, secondsOfHour)
		}
		s.upto = end
	}
	s.upto = max(s.upto, until)
}

// countAs counts the time of a server up to the given time as the given status. But a server
// is not down while a blind watcher assumed that the servers are up: this time is unseen.
func (w *Watcher) countAs(status db.Status, i int, until uint32) {
	if w.view.blind && status == db.Down {
		w.count(i, min(until, w.view.since), db.Down)
		w.count(i, uint32(min(int64(until), w.view.trustEnd(w.rules.BlindMax))), db.Unknown)
	}
	w.count(i, until, status)
}

// Resume restores the hours that the previous watch had not finished. It ignores hours far in
// the future, which come from a wrong clock.
func (w *Watcher) Resume(stored []db.Hour, now time.Time) {
	for _, h := range stored {
		if h.Number > now.Unix()/secondsOfHour+1 {
			continue
		}
		all := w.hourOf(uint32(h.Number * secondsOfHour)).Samples
		copy(all[min(h.Block*db.BlockSize, len(all)):], h.Samples)
	}
}

func (h *hours) running() (copies []db.Hour) {
	latest := max(h[0].Number, h[1].Number)
	for _, hour := range h {
		if hour.Samples = slices.Clone(hour.Samples); len(hour.Samples) > 0 && hour.Number >= latest-1 {
			copies = append(copies, hour)
		}
	}
	return copies
}
