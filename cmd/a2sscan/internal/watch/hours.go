package watch

import (
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

// hour holds the samples of all servers in an hour.
type hour struct {
	number  uint32 // hours since 1970
	samples []watchdb.Sample
	stored  bool // nothing changed since it was stored
}

const secondsOfHour = 3600

// hourOf returns the hour of a moment that is not long ago. If it is a new hour, the hour
// before the last one is closed.
func (w *Watcher) hourOf(at uint32) *hour {
	number := at / secondsOfHour
	newest := &w.hours[1]
	switch {
	case number > newest.number:
		if old := &w.hours[0]; len(old.samples) > 0 {
			w.closed = append(w.closed, old.running())
		}
		w.hours[0], *newest = *newest, hour{number: number}
	case number < newest.number && number == w.hours[0].number:
		newest = &w.hours[0]
	}
	for len(newest.samples) < len(w.servers) {
		newest.samples = append(newest.samples, watchdb.Sample{Server: int64(len(newest.samples) + 1)})
	}
	newest.stored = false
	return newest
}

func (h *hour) running() watchdb.Running {
	return watchdb.Running{Hour: time.Unix(int64(h.number)*secondsOfHour, 0).UTC(), Samples: h.samples}
}

// count adds the time of a server since the last call to what it was: up, down, or unseen,
// which is unknown.
func (w *Watcher) count(i int, until uint32, as status) {
	s := &w.servers[i]
	for s.first != 0 && s.upto < until {
		end := min(until, (s.upto/secondsOfHour+1)*secondsOfHour)
		if s.upto/secondsOfHour < w.hours[0].number {
			s.upto = end // its hour is closed: the rest of it is unseen
			continue
		}
		sample := &w.hourOf(s.upto).samples[i]
		sum := &sample.Unseen
		switch as {
		case up:
			sum = &sample.Up
		case down:
			sum = &sample.Down
		case unknown:
		}
		*sum = uint16(min(uint32(*sum)+end-s.upto, secondsOfHour))
		s.upto = end
	}
	s.upto = max(s.upto, until)
}

// Resume takes over the hours that a watch left open.
func (w *Watcher) Resume(hours []watchdb.Running) {
	for _, h := range hours {
		open := w.hourOf(uint32(h.Hour.Unix()))
		copy(open.samples, h.Samples)
	}
}

// Running returns copies of the hours that changed since the last call.
func (w *Watcher) Running() (hours []watchdb.Running) {
	for i := range w.hours {
		h := &w.hours[i]
		if h.stored || len(h.samples) == 0 {
			continue
		}
		r := h.running()
		r.Samples = append([]watchdb.Sample(nil), r.Samples...)
		hours, h.stored = append(hours, r), true
	}
	return hours
}
