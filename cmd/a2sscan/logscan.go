package main

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// This file is what a scan writes into its log, but for the few lines that stand
// where the thing itself is done.

// maxLoggedInputs is how many lists have lines of their own.
const maxLoggedInputs = 50

// logStart tells what is going to be scanned, and how.
func (j *job) logStart() {
	version, commit := buildVersion()
	j.Log.Info("scan started", "scan", j.scanID, "version", version, "commit", commit,
		"seed", j.seed.N, "order", j.order.String(), "shard", j.shard.String(), "query", j.query.String(),
		"rate", console.Short(j.rate.Limit()), "per_address_rate", console.Short(j.addressRate.Limit()),
		"timeout", j.timeout.String(), "retries", j.retries, "second_look", j.secondLook,
		"output", j.output, "checkpoint", j.checkpoint, "exclusion_rules", j.exclusions.Len())
}

// logLoaded tells what was read before the first packet.
func (j *job) logLoaded() {
	for i, in := range j.list.Inputs() {
		if i == maxLoggedInputs {
			break
		}
		j.Log.Info("input", "name", in.Name, "format", in.Format, "compression", in.Compression,
			"bytes", in.Bytes, "sha256", in.SHA256, "targets", in.Targets, "invalid", in.Invalid)
	}
	if n, known := j.list.Size(); known {
		j.Log.Info("inputs loaded", "lists", len(j.list.Inputs()), "targets", n)
	}
}

// logOpened tells where the records go.
func (j *job) logOpened() {
	attrs := []any{"path", j.output}
	if cut := j.out.CutOff(); cut > 0 {
		attrs = append(attrs, "cut_bytes", cut)
	}
	if j.keep.Resumes() {
		attrs = append(attrs, "resumed_at_byte", j.keep.Past.Output.Offset)
	}
	j.Log.Info("output opened", attrs...)
}

// logFinished tells how the scan went; err is the error that it ends with.
func (j *job) logFinished(sum *ledger.Summary, err error) {
	l, d := &sum.Targets, &sum.Datagrams
	level := slog.LevelInfo
	if err != nil || d.KernelDrops > 0 || d.SendErrors > 0 {
		level = slog.LevelWarn
	}
	for _, addr := range j.late.list() {
		j.Log.Warn("late conflict", "server", addr)
	}
	if d.Forged {
		j.Log.Warn("forged replies", "conflicts", d.Conflicts, "late_conflicts", d.LateConflicts,
			"early_replies", d.EarlyReplies, "foreign_replies", d.ForeignReplies)
	}
	j.Log.Log(context.Background(), level, "scan finished", "ended", sum.Ended, "seconds", sum.Seconds,
		"read", l.Read, "finished", l.Finished, "unfinished", l.Unfinished, "left_out", l.LeftOut(),
		"ok", l.By["ok"], "partial", l.By["partial"], "error", l.By["error"],
		"no_reply", l.By["no_reply"], "unreachable", l.By["unreachable"],
		"sent", d.Sent, "received", d.Received, "kernel_drops", d.KernelDrops, "send_errors", d.SendErrors,
		"rate_reached", math.Round(sum.RateReached), "rate_limited_by", sum.RateLimitedBy,
		"records", sum.Records, "resumed", sum.Resumed, "consistent", sum.Consistent, "exit_code", console.ExitCode(err))
}

// observer looks at a scan now and then, and logs what it sees.
type observer struct {
	log   *slog.Logger
	out   *output.Output
	parts int // of the output that were told of

	drops, errors seldom
	rate          float64
	window        scanner.Stats // when the rate was last judged
	limit         scanner.Wait  // what it was limited by then
}

// How often an observer looks, and how often it tells of the same thing again.
const (
	observeEvery = time.Second
	seldomEvery  = time.Minute
)

// seldom is a number that is told when it first is not zero, and then at most
// once a minute if it grew.
type seldom struct {
	told uint64
	at   time.Duration
}

// news returns by how much n grew since it was last told, and whether that is
// to be told now.
func (s *seldom) news(now time.Duration, n uint64) (more uint64, tell bool) {
	if n <= s.told || s.told > 0 && now-s.at < seldomEvery {
		return 0, false
	}
	more = n - s.told
	s.told, s.at = n, now
	return more, true
}

// observe looks at a scan until stop is called. Without a log it does nothing.
func (j *job) observe(m *scanner.Monitor) (stop func()) {
	if !j.Log.Enabled(context.Background(), slog.LevelError) {
		return func() {}
	}
	o := &j.observer
	o.log, o.out, o.rate = j.Log, j.out, j.rate.Limit()
	if j.keep.Resumes() {
		o.parts = len(j.keep.Past.Output.Parts)
	}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(observeEvery)
		defer tick.Stop()
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			case <-tick.C:
			}
			s := m.Stats()
			o.look(&s)
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

// look logs what is new.
func (o *observer) look(s *scanner.Stats) {
	if more, tell := o.drops.news(s.Elapsed, s.Socket.KernelDrops); tell {
		o.log.Warn("kernel drops", "datagrams", more, "in_all", s.Socket.KernelDrops,
			"receive_buffer", s.Socket.RecvBuffer)
	}
	if more, tell := o.errors.news(s.Elapsed, s.SendErrors); tell {
		o.log.Warn("send errors", "datagrams", more, "in_all", s.SendErrors, "kinds", sendFaults(s))
	}
	o.lookRate(s)
	if o.out.Opened() {
		o.lookParts()
	}
}

// sendFaults names the kinds of send errors that there were.
func sendFaults(s *scanner.Stats) string {
	faults := ledger.CountDatagrams(s).SendFaults
	return console.Listed(faults, console.Words(scanner.SendFault(0), scanner.NumSendFaults), ", ")
}

// lookRate logs a rate that was changed, and once a minute what keeps a scan
// from it if that is another reason than before. Without a rate it logs the one
// that the scan comes to.
func (o *observer) lookRate(s *scanner.Stats) {
	if s.Rate != o.rate && s.Rate != 0 {
		o.log.Info("rate changed", "from", console.Short(o.rate), "to", console.Short(s.Rate))
		o.rate = s.Rate
	}
	if s.Elapsed-o.window.Elapsed < seldomEvery {
		return
	}
	w := scanner.Stats{Elapsed: s.Elapsed - o.window.Elapsed, Rate: s.Rate}
	for i := range w.Waited {
		w.Waited[i] = s.Waited[i] - o.window.Waited[i]
	}
	sent := s.DatagramsSent() - o.window.DatagramsSent()
	reached := math.Round(float64(sent) / w.Elapsed.Seconds())
	o.window = *s
	limit, part := w.LimitedBy()
	if limit == o.limit {
		return
	}
	o.limit = limit
	if limit == scanner.WaitNothing {
		o.log.Info("rate kept", "reached", reached)
		return
	}
	o.log.Info("rate limited", "by", limit.Word(), "part", math.Round(100*part)/100, "reached", reached,
		"settled", math.Round(s.Settled))
}

// lookParts logs the parts of a census that are whole since the last look.
func (o *observer) lookParts() {
	if o.out == nil {
		return // nobody wants to know
	}
	parts := o.out.Parts()
	for o.parts < len(parts) && parts[o.parts].Bytes > 0 {
		p := &parts[o.parts]
		o.log.Info("part finished", "path", strings.TrimSuffix(p.Name, sink.PartSuffix),
			"records", p.Records, "bytes", p.Bytes)
		o.parts++
	}
}
