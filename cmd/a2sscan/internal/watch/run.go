package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/census"
)

// Options are the settings of Run, and the objects that it uses.
type Options struct {
	Rules Rules
	Scan  scanner.Config // Run sets the fields that Rules determine
	DB    *db.DB
	Log   *Log
	Hook  *Webhook // nil: no webhook
	Panel *Panel   // nil: no panel

	Lists Lists

	// Hourly is how long the database retains hourly rows. Daily is how long it retains
	// daily rows and events.
	Hourly, Daily time.Duration

	Terminal *console.Terminal
	// Run calls Show when it knows the servers. Before Run returns, it calls the function
	// that Show returned.
	Show func(*Watch) (end func())
}

// Status has the numbers of a status line.
type Status struct {
	Time     time.Time `json:"time"`
	Servers  int       `json:"servers"` // number of servers in the list
	Up       int       `json:"up"`
	Down     int       `json:"down"`
	Planned  int       `json:"planned,omitempty"` // servers that are down for maintenance
	People   int       `json:"people"`
	Blind    bool      `json:"blind"`
	Every    float64   `json:"every"`           // configured length of a cycle in seconds
	Took     float64   `json:"cycle,omitempty"` // length of the latest cycle in seconds
	Events   uint64    `json:"events"`          // number of events since the watch began
	Waiting  uint64    `json:"waiting"`         // number of events that wait for the output
	Dropped  uint64    `json:"dropped"`         // number of events dropped before the output took them
	Trouble  string    `json:"trouble,omitempty"`
	Sent     uint64    `json:"sent"`     // number of datagrams
	Received uint64    `json:"received"` // number of datagrams
}

// String returns the status as a line of text.
func (s *Status) String() string {
	line := fmt.Sprintf("%s: %s up, %s down", console.Plural(s.Servers, "server"), console.Grouped(uint64(s.Up)), console.Grouped(uint64(s.Down)))
	if s.Planned > 0 {
		line += fmt.Sprintf(", %s in maintenance", console.Grouped(uint64(s.Planned)))
	}
	if never := s.Servers - s.Up - s.Down - s.Planned; never > 0 {
		word := "never answered"
		if s.Took == 0 {
			word = "not answered yet" // in the first cycle
		}
		line += fmt.Sprintf(", %s %s", console.Grouped(uint64(never)), word)
	}
	line += fmt.Sprintf("; %s; %s", console.Plural(s.People, "person"), console.Plural(s.Events, "event"))
	if s.Blind {
		line += "; BLIND: this machine's network may be down"
	}
	if s.Trouble != "" {
		line += "; " + s.Trouble
	}
	if s.Took > 1.1*s.Every {
		line += fmt.Sprintf("; a cycle takes %.0fs instead of %.0fs", s.Took, s.Every)
	}
	return line
}

// Watch is a running watch. Its exported methods only read, and several goroutines may call
// them.
type Watch struct {
	*Options
	// Only Watch.list and its callers use the next three fields.
	size    int      // number of servers in the list, before the references are added
	windows []Window // the windows of maintenance
	read    []look   // what lookAt found when the files were read

	lastID  atomic.Int64  // ID of the latest event
	dropped atomic.Uint64 // number of dropped events
	// held is when the wait for a locked database began, or nil if the database is not
	// locked.
	held atomic.Pointer[time.Time]
	// alive is when checkSending last saw that the scan runs, or when the latest scan failed.
	alive atomic.Pointer[time.Time]

	mu      sync.Mutex // guards the fields below
	watcher *Watcher
	monitor *scanner.Monitor
	before  scanner.Stats // sum of the counters of the scans that failed
	events  uint64
	sent    time.Time     // time of the last datagram
	then    scanner.Stats // counters when this datagram was sent
	elapsed time.Duration // the latest scanner.Stats.Elapsed that checkSending saw
}

const (
	tickEvery  = 200 * time.Millisecond
	flushEvery = time.Minute
	// atRest is the time for which Watch.ask sleeps if no server is due.
	atRest = 250 * time.Millisecond
	// Under outputCursor, the database stores the ID of the last event that a stream took, and
	// under outputCursor with the path of a file, that of the last event in this file.
	outputCursor = "output"
	// An output that takes nothing for stallAfter is reported as blocked. At the end, the
	// watch waits at most endWait for the output, and at most stateWait for a locked
	// database.
	stallAfter, endWait, stateWait = 10 * time.Second, time.Second, 10 * time.Second
	// If the loop of the scan does nothing for stillAfter, Alive returns false.
	stillAfter = 10 * time.Second
)

// Run watches until ctx ends. Then it stores everything and returns nil. It returns an error
// if the first list can't be loaded, or if the database or the output fails.
//
//	ask ──▶ Watcher ◀── loop      ask and loop never wait for the database or the output
//	           │
//	         store ──▶ database ──▶ publish ──▶ output
//	                      └───────▶ webhook, live page
func Run(ctx context.Context, o *Options) error {
	r := &Watch{Options: o, monitor: &scanner.Monitor{}, sent: time.Now()}
	if err := r.stored(ctx, r.restore); err != nil {
		return err
	}
	if err := r.list(ctx, atStart); err != nil {
		return err
	}
	r.alive.Store(new(time.Now()))
	defer o.Show(r)()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var ended sync.WaitGroup
	ended.Go(func() { cancel(r.ask(ctx)) })
	ended.Go(func() { cancel(r.relist(ctx)) })
	state, stop := context.WithCancel(context.Background())
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(stateWait, stop) })
	ended.Go(func() { cancel(r.store(ctx, state)) })
	if o.Hook != nil {
		ended.Go(func() { o.Hook.deliver(ctx, o.DB, o.Terminal) })
	}
	if o.Panel != nil {
		ended.Go(func() { o.Panel.deliver(ctx, r) })
	}
	stored, published := make(chan struct{}), make(chan error, 1)
	go func() {
		err := r.publish(state, stored)
		cancel(err)
		published <- err
	}()
	r.loop(ctx)
	ended.Wait()
	r.mu.Lock()
	r.watcher.Finish(time.Now())
	r.mu.Unlock()
	err := r.flush(state, true)
	close(stored)
	err = errors.Join(err, r.end(published))
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		err = cause
	}
	return err
}

// end waits at most endWait until all events are written.
func (r *Watch) end(published <-chan error) error {
	select {
	case err := <-published:
		if r.Log.file != nil {
			err = errors.Join(err, outputFailed(r.Log.file.Close()))
		}
		return err
	case <-time.After(endWait):
	}
	left := console.Plural(r.waiting(), "event")
	if !r.Rules.Answers { // without --state
		return console.Fail(console.ExitOutput, "the reader of the output did not read the last %s", left).WithHint("to keep such events for the next watch, use --state")
	}
	r.Terminal.Say("the reader of the output did not read the last %s; the next watch with this state writes these events", left)
	return r.saveCursor()
}

// restore fills the watcher from the database. It may be called again after an error.
func (r *Watch) restore() error {
	now := time.Now()
	if err := r.DB.Begin(); err != nil {
		return err
	}
	r.watcher = New(r.Rules, now)
	missing := int64(0) // the first ID that no server has
	err := r.DB.Servers(func(row *db.Server) {
		if next := int64(len(r.watcher.servers)) + 1; row.ID != next && missing == 0 {
			missing = next
		}
		r.watcher.Restore(row, now)
	})
	if err != nil {
		return err
	}
	if missing > 0 {
		return fmt.Errorf("the table servers has no row with the id %d, but later rows: "+
			"insert the row again with the address of its server, or use a copy of the database that has the row", missing)
	}
	hours, err := r.DB.Running()
	if err != nil {
		return err
	}
	r.watcher.Resume(hours, now)
	latest, err := r.DB.EventsOf(netip.AddrPort{}, 1)
	if err != nil {
		return err
	}
	if len(latest) > 0 && latest[0].Kind == "blind" { // the previous watch ended while it was blind
		r.watcher.view.blind, r.watcher.view.since = true, min(seconds(latest[0].Time), seconds(now))
	}
	if r.Log.file != nil { // the next stream is a new stream
		err = r.DB.SetCursor(outputCursor, -1)
	}
	written, last, _, err2 := r.DB.Cursor(r.Log.cursor, math.MaxInt64)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	if written < 0 && r.Log.file == nil { // a new stream gets new events only, and a new file gets all events
		written = last
	}
	// The cursor is larger than the last ID in a file if somebody moved the file or its parts.
	// It is smaller if a kill prevented the watch from storing it.
	written = max(written, r.Log.last.Load())
	r.Log.last.Store(written)
	r.lastID.Store(max(last, written))
	return r.saveCursor()
}

func (r *Watch) saveCursor() error { return r.DB.SetCursor(r.Log.cursor, r.Log.last.Load()) }

// hold reports that another program has locked the database, and since when it waits. If
// this time is zero, the lock is gone.
func (r *Watch) hold(since time.Time) {
	if since.IsZero() {
		r.held.Store(nil)
		return
	}
	r.held.Store(&since)
	r.Terminal.Say("%s", r.Trouble())
	r.Terminal.Log.Warn("another program has locked the state", "since", since)
}

// Trouble describes a blocked output and a locked database. It returns "" if there is
// neither.
func (r *Watch) Trouble() string {
	var all []string
	if since := r.Log.began.Load(); since != nil && time.Since(*since) >= stallAfter {
		all = append(all, fmt.Sprintf("the reader of the output has stopped reading (since %s, %s waiting)", since.Format(time.TimeOnly), console.Plural(r.waiting(), "event")))
	}
	if since := r.held.Load(); since != nil {
		all = append(all, fmt.Sprintf("another program has locked the state (since %s)", since.Format(time.TimeOnly)))
	}
	return strings.Join(all, "; ")
}

// Alive reports whether the watch still checks servers.
func (r *Watch) Alive() bool { return time.Since(*r.alive.Load()) < stillAfter }

func (r *Watch) waiting() uint64 { return uint64(max(0, r.lastID.Load()-r.Log.last.Load())) }

// ask queries the servers as they become due. If a scan fails, ask begins another scan.
func (r *Watch) ask(ctx context.Context) error {
	cfg := r.Scan
	// The watch handles an outage itself, by becoming blind.
	cfg.Tuning.NoOutage = true
	// Within a cooldown, the scan would not query a finished server again.
	cfg.Cooldown = scanner.Off
	cfg.Attempts = r.Rules.Attempts
	cfg.Excluded = r.Rules.Excluded
	targets := func(yield func(scanner.Target) bool) {
		for ctx.Err() == nil {
			r.mu.Lock()
			t, due := r.watcher.Next(time.Now())
			r.mu.Unlock()
			if !due {
				console.Pause(ctx, atRest)
			} else if !yield(t) {
				return
			}
		}
	}
	for first := true; ctx.Err() == nil; first = false {
		cfg.Control.Monitor = r.monitor
		stats, err := scanner.Scan(ctx, cfg, targets, func(answer *scanner.Result) {
			r.mu.Lock()
			r.watcher.Answered(answer, time.Now())
			r.mu.Unlock()
		})
		if ctx.Err() != nil || first && err != nil && stats.DatagramsSent() == 0 {
			return err
		}
		r.scanFailed(&stats)
		r.Terminal.Say("the network failed (%v), so the watch tries again", err)
		console.Pause(ctx, time.Second)
	}
	return nil
}

// scanFailed prepares the next scan after a scan has failed. stats has the counters of the
// failed scan. The watcher is blind until a datagram can be sent.
func (r *Watch) scanFailed(stats *scanner.Stats) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before.Add(stats)
	r.monitor, r.sent, r.then = &scanner.Monitor{}, time.Now(), r.before
	r.watcher.view.failing = true
	r.alive.Store(new(time.Now()))
}

func (r *Watch) stats() scanner.Stats {
	stats := r.monitor.Stats()
	stats.Add(&r.before)
	return stats
}

// loop calls Watcher.Tick and reports a blocked output, until ctx ends.
func (r *Watch) loop(ctx context.Context) {
	tick, stalled := time.Tick(tickEvery), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		now := time.Now()
		r.mu.Lock()
		r.checkSending(now)
		paused, dropped := r.watcher.Tick(now)
		r.mu.Unlock()
		r.dropped.Add(uint64(dropped))
		if paused > 0 {
			r.Terminal.Say("the machine slept, or its clock was set, so %v count as unseen", paused.Round(time.Second/10))
		}
		since := r.Log.began.Load()
		was := stalled
		if stalled = since != nil && now.Sub(*since) >= stallAfter; stalled && !was {
			r.Terminal.Say("%s", r.Trouble())
			r.Terminal.Log.Warn("the output is blocked: its reader has stopped reading", "since", *since, "waiting", r.waiting())
		}
	}
}

// store writes the changes of the watcher to the database until ctx ends. If ctx ends
// during a write, the write may continue until the other context ends.
func (r *Watch) store(ctx, state context.Context) error {
	tick, flush := time.Tick(tickEvery), time.Tick(flushEvery)
	prune := func() error { return r.DB.Prune(time.Now(), r.Hourly, r.Daily) }
	err := r.stored(ctx, prune)
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case now := <-flush:
			if err = r.flush(state, true); err == nil {
				s := r.Status()
				err = r.stored(ctx, func() error { return r.DB.Count(now, s.Up, s.People) })
			}
			if err == nil && now.Minute() == 0 { // deleting old rows once an hour is enough
				err = r.stored(ctx, prune)
			}
		case <-tick:
			err = r.flush(state, false)
		}
	}
	return err
}

// stored calls do(). While another program has locked the database, it repeats the call,
// until ctx ends.
func (r *Watch) stored(ctx context.Context, do func() error) error {
	return stateFailed(db.Retry(ctx, r.hold, do))
}

// checkSending tells the watcher whether datagrams can be sent. It assumes that they can't
// if sending fails and no datagram was sent for Rules.Every.
func (r *Watch) checkSending(now time.Time) {
	stats := r.stats()
	if stats.Elapsed != r.elapsed {
		r.elapsed = stats.Elapsed
		r.alive.Store(&now)
	}
	if stats.DatagramsSent() != r.then.DatagramsSent() {
		r.sent, r.then = now, stats
		r.watcher.view.failing = false
	} else if stats.SendErrors > r.then.SendErrors && now.Sub(r.sent) >= r.Rules.Every {
		r.watcher.view.failing = true
	}
}

// flush assigns IDs to the new events. It stores the events together with the servers that
// changed, so that after a kill the next watch does not report the events again. Called
// with true, flush also stores the hours; called with false, it acts only if a change is
// urgent.
func (r *Watch) flush(ctx context.Context, all bool) error {
	var hours []db.Hour
	r.mu.Lock()
	if d := &r.watcher.decided; !all && len(d.fresh)+len(d.events) == 0 && d.labels == nil && d.size <= maxPending {
		r.mu.Unlock()
		return nil
	}
	decided := r.watcher.take()
	events := decided.events
	r.events += uint64(len(events))
	if all {
		hours = r.watcher.hours.running()
	}
	r.mu.Unlock()
	for i := range events {
		events[i].ID = r.lastID.Add(1)
	}
	err := r.stored(ctx, func() error {
		err := r.DB.Add(decided.fresh)
		if err == nil {
			decided.fresh = nil
			err = r.DB.Label(decided.labels)
		}
		if err == nil {
			decided.labels = nil
			err = r.DB.Flush(events, slices.Collect(maps.Values(decided.servers)), hours...)
		}
		return err
	})
	if err != nil && len(events) > 0 {
		r.Terminal.Say("%s could not be stored", console.Plural(len(events), "event"))
	}
	return err
}

// publish writes the stored events to the output. The channel is closed when all events
// are stored; publish then writes the remaining events and returns.
func (r *Watch) publish(ctx context.Context, stored <-chan struct{}) error {
	first := r.lastID.Load()
	for final := false; ; {
		var events []db.Event
		err := db.Retry(ctx, nil, func() (err error) {
			events, err = r.DB.Since(r.Log.last.Load(), 1000)
			return err
		})
		if err != nil {
			return stateFailed(err)
		}
		if len(events) == 0 {
			if final {
				return nil
			}
			select {
			case <-stored:
				final = true
			case <-time.After(tickEvery):
			}
			continue
		}
		if gone := events[0].ID - 1 - max(first, r.Log.last.Load()); gone > 0 {
			r.dropped.Add(uint64(gone))
			r.Terminal.Say("dropped %s, because the reader of the output was too slow", console.Plural(uint64(gone), "event"))
			r.Terminal.Log.Warn("events dropped", "events", gone)
		}
		if err := r.Log.Write(events); err != nil {
			return outputFailed(err)
		}
		if err := db.Retry(ctx, nil, r.saveCursor); err != nil {
			return stateFailed(err)
		}
	}
}

func outputFailed(err error) error {
	if err != nil {
		return console.Fail(console.ExitOutput, "%w", err)
	}
	return nil
}

func stateFailed(err error) error {
	if err != nil {
		return console.Fail(console.ExitOutput, "can't read or write the database of --state: %w", err)
	}
	return nil
}

// Status returns the numbers of a status line.
func (r *Watch) Status() *Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats, status := r.stats(), r.watcher.Status()
	status.Time, status.Events = time.Now().UTC(), r.events
	status.Waiting, status.Dropped, status.Trouble = r.waiting(), r.dropped.Load(), r.Trouble()
	status.Sent, status.Received = stats.DatagramsSent(), stats.DatagramsReceived()
	return &status
}

// NotUp returns a line for each server that is not up, or did not answer its latest check.
// The lines are sorted by rank. Among lines of equal rank, the latest change of status is
// first. If there are more than limit servers, the last line counts those left out.
func (r *Watch) NotUp(limit int) (lines []string) {
	rows := slices.DeleteFunc(slices.Collect(r.Rows()), func(row Row) bool { return row.Status == db.Up && row.Silent.IsZero() })
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), b.Since.Compare(a.Since))
	})
	now := time.Now()
	for i := range rows {
		if i >= limit-1 && len(rows) > limit {
			return append(lines, fmt.Sprintf("  … and %d more", len(rows)-i))
		}
		row := &rows[i]
		state := []string{"down " + console.RoughDuration(now.Sub(row.Since)), "maintenance", "not answering", "never answered", "not checked yet"}[row.rank()]
		lines = append(lines, fmt.Sprintf("  %-21s  %-15s  %s", row.Addr, state, console.Plain(r.name(row), 40)))
	}
	return lines
}

// rank returns a number by which servers are sorted: 0 if the server is down, 1 if it is down
// for maintenance, 2 if it is up but did not answer the latest check, 3 if it never
// answered, and 4 if it is up or not checked yet.
func (row *Row) rank() int {
	switch {
	case row.Status == db.Down && !row.Planned:
		return 0
	case row.Status == db.Down:
		return 1
	case row.Silent.IsZero():
		return 4
	case row.Status == db.Up:
		return 2
	}
	return 3
}

// Row is what a watch knows about a server.
type Row struct {
	ID             int64 // ID in the database
	Addr           netip.AddrPort
	Port           uint16         // port at which players join, or 0 if unknown
	Label          string         // text after the address in the list
	Known          *census.Server // last full answer of the server, read-only, or nil
	Status         db.Status
	Since          time.Time // when the status began
	People, Places int       // -1 if unknown
	// Silent is when the current series of unanswered checks began. It is zero if the last
	// check was answered.
	Silent  time.Time
	Planned bool      // the server is down for maintenance
	Until   time.Time // end of the current maintenance, or zero if there is none
	Reason  string    // reason of the current maintenance
}

// Rows yields all watched servers, in the order of their IDs.
func (r *Watch) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := 0; ; i++ {
			r.mu.Lock()
			if i >= len(r.watcher.servers) {
				r.mu.Unlock()
				return
			}
			row, watched := r.watcher.row(i)
			r.mu.Unlock()
			if watched && !yield(row) {
				return
			}
		}
	}
}
