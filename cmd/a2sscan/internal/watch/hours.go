package watch

import (
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

const secondsOfHour = 3600

// hourOf returns the samples of the hour that contains the time at. Two hours are in
// memory: a new hour replaces the older of them, whose last state is in the database.
// If the requested hour is no longer in memory, hourOf returns the hour that replaced
// it.
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

// counted has the counter of each status.
var counted = map[db.Status]int{db.Up: db.UpFor, db.Down: db.DownFor, db.Unknown: db.UnseenFor}

// count adds the time of a server between the last call and until to the time for which
// it was up, down or, if as is db.Unknown, unseen. Time for which it was down for
// maintenance is planned instead. Time in an hour that is no longer in memory is not
// added, and so counts as unseen.
func (w *Watcher) count(i int, until uint32, as db.Status) {
	s := &w.servers[i]
	field := counted[as]
	if as == db.Down && s.planned {
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

// Resume restores the hours that the previous watch had not finished. It ignores hours that
// are far in the future, because a wrong clock made them.
func (w *Watcher) Resume(hours []db.Hour, now time.Time) {
	for _, h := range hours {
		if h.Number > now.Unix()/secondsOfHour+1 {
			continue
		}
		all := w.hourOf(uint32(h.Number * secondsOfHour)).Samples
		copy(all[min(h.Block*db.BlockSize, len(all)):], h.Samples)
	}
}

// Running returns copies of the hours that may still change.
func (w *Watcher) Running() (hours []db.Hour) {
	latest := max(w.hours[0].Number, w.hours[1].Number)
	for _, h := range w.hours {
		if h.Samples = slices.Clone(h.Samples); len(h.Samples) > 0 && h.Number >= latest-1 {
			hours = append(hours, h)
		}
	}
	return hours
}
