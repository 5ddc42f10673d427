package watch

import (
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

const secondsOfHour = 3600

// hourOf returns the hour of a moment that is not long ago. If it is a new hour, the hour
// before the last one ends.
func (w *Watcher) hourOf(at uint32) *watchdb.Hour {
	number := int64(at / secondsOfHour)
	before, hour := &w.hours[0], &w.hours[1]
	switch {
	case number > hour.Number:
		if before.Ended = true; len(before.Samples) > 0 {
			w.ended = append(w.ended, *before)
		}
		*before, *hour = *hour, watchdb.Hour{Number: number}
	case number < hour.Number && number == before.Number:
		hour = before
	}
	for len(hour.Samples) < len(w.servers) {
		hour.Samples = append(hour.Samples, watchdb.Sample{Server: int64(len(hour.Samples) + 1)})
	}
	return hour
}

// count adds the time of a server since the last call to what it was: up, down, or unseen,
// which is Unknown.
func (w *Watcher) count(i int, until uint32, as watchdb.Status) {
	s := &w.servers[i]
	for s.first != 0 && s.upto < until {
		end := min(until, (s.upto/secondsOfHour+1)*secondsOfHour)
		if int64(s.upto/secondsOfHour) < w.hours[0].Number {
			s.upto = end // its hour has ended: the rest of it is unseen
			continue
		}
		sample := &w.hourOf(s.upto).Samples[i]
		sum := &sample.Unseen
		switch as {
		case watchdb.Up:
			sum = &sample.Up
		case watchdb.Down:
			sum = &sample.Down
		}
		*sum = uint16(min(uint32(*sum)+end-s.upto, secondsOfHour))
		s.upto = end
	}
	s.upto = max(s.upto, until)
}

// Resume takes over the hours that a watch left open.
func (w *Watcher) Resume(hours []watchdb.Hour) {
	for _, h := range hours {
		copy(w.hourOf(uint32(h.Number*secondsOfHour)).Samples, h.Samples)
	}
}

// running returns copies of the hours that may still change.
func (w *Watcher) running() (hours []watchdb.Hour) {
	for _, h := range w.hours {
		if h.Samples = slices.Clone(h.Samples); len(h.Samples) > 0 {
			hours = append(hours, h)
		}
	}
	return hours
}
