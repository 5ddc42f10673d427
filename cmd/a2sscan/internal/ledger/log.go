package ledger

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Loaded logs the lists that were read before the first packet.
func Loaded(log *slog.Logger, l *list.List) {
	for _, in := range l.Inputs() {
		log.Info("input", "name", in.Name, "format", in.Format, "compression", in.Compression,
			"bytes", in.Bytes, "sha256", in.SHA256, "targets", in.Targets, "invalid", in.Invalid)
	}
	if n, known := l.Size(); known {
		log.Info("inputs loaded", "lists", len(l.Inputs()), "targets", n)
	}
}

// Finished logs how the scan went. err is the error that the scan ended with.
func Finished(log *slog.Logger, sum *Summary, err error) {
	level := slog.LevelInfo
	if err != nil || sum.Datagrams.KernelDrops > 0 || sum.Datagrams.SendErrors > 0 {
		level = slog.LevelWarn
	}
	attrs := []any{"ended", sum.Ended, "seconds", sum.Seconds}
	from := &Source{Counts: sum.Counts}
	for i := range Table {
		if row := &Table[i]; row.Log {
			for word, n := range row.Counts(from) {
				attrs = append(attrs, cmp.Or(word, row.Name), *n)
			}
		}
	}
	attrs = append(attrs, "left_out", sum.Targets.LeftOut(), "rate_reached", math.Round(sum.RateReached), "rate_limited_by", sum.RateLimitedBy,
		"records", sum.Records, "resumed", sum.Resumed, "consistent", sum.Consistent, "exit_code", console.ExitCode(err))
	log.Log(context.Background(), level, "scan finished", attrs...)
}

// Observer samples a scan at intervals and logs changes.
type Observer struct {
	Log      *slog.Logger
	Parts    func() []sink.Part // returns the parts of the output, complete parts first
	Reported int                // number of parts that this run and earlier runs logged
	// Rate is the last rate that was logged; at first, the rate at which the scan begins.
	Rate float64

	drops, errors, overdue seldom
	outages                uint64        // Stats.Outages when the latest outage was logged
	away                   int64         // Stats.Away at the last sample
	found                  time.Duration // time of the last rate change that was logged
}

// These are the interval of samples, and the minimum time between two log lines about the
// growth of one count.
const (
	sampleEvery = time.Second
	rarely      = time.Minute
)

// seldom decides when to log a growing count: the first time at once, and after that at
// most once a minute.
type seldom struct {
	reported uint64
	at       time.Duration
}

// news returns by how much n has grown since the last log line about it. It returns 0 if n
// should not be logged yet.
func (s *seldom) news(now time.Duration, n uint64) (more uint64) {
	if n <= s.reported || s.reported > 0 && now-s.at < rarely {
		return 0
	}
	more = n - s.reported
	s.reported, s.at = n, now
	return more
}

// Watch samples a scan at intervals. The returned function takes the last sample.
func (o *Observer) Watch(m *scanner.Monitor) (stop func()) {
	sample := func() {
		s := m.Stats()
		o.sample(&s)
		o.LogParts()
	}
	end := console.Every(sampleEvery, sample)
	return func() {
		end()
		sample()
	}
}

func (o *Observer) sample(s *scanner.Stats) {
	if more := o.drops.news(s.Elapsed, s.Socket.KernelDrops); more > 0 {
		o.Log.Warn("kernel drops", "datagrams", more, "in_all", s.Socket.KernelDrops,
			"receive_buffer", s.Socket.RecvBuffer)
	}
	if more := o.errors.news(s.Elapsed, s.SendErrors); more > 0 {
		o.Log.Warn("send errors", "datagrams", more, "in_all", s.SendErrors, "kinds",
			console.Listed(By(scanner.SendFaults[:], s.SendFaults[:]), scanner.SendFaults[:], ", "))
	}
	if more := o.overdue.news(s.Elapsed, s.Overdue); more > 0 {
		o.Log.Error("because of a bug, a2sscan forgot targets and gave up on them too late", "targets", more, "in_all", s.Overdue)
	}
	switch {
	case s.Away != 0 && s.Outages != o.outages:
		o.Log.Warn("the network of this machine is away", "since", console.TimeOfDay(s.Away))
		o.outages = s.Outages
	case s.Away == 0 && o.away != 0:
		o.Log.Info("the network of this machine is back", "away_since", console.TimeOfDay(o.away))
	}
	o.away = s.Away
	if s.Rate != o.Rate && s.Rate != 0 {
		o.Log.Info("rate changed", "from", console.Short(o.Rate), "to", console.Short(s.Rate))
		o.Rate = s.Rate
	}
	if c := &s.Path.Changes[0]; c.At > o.found {
		o.Log.Info("rate changed", "from", console.Short(c.From), "to", console.Short(c.To), "why", c.Why)
		o.found = c.At
	}
}

// LogParts logs the parts of a census that were completed since the previous call.
func (o *Observer) LogParts() {
	parts := o.Parts()
	for o.Reported < len(parts) && parts[o.Reported].Bytes > 0 {
		p := &parts[o.Reported]
		o.Log.Info("part finished", "path", strings.TrimSuffix(p.Name, disk.PartSuffix),
			"records", p.Records, "bytes", p.Bytes)
		o.Reported++
	}
}
