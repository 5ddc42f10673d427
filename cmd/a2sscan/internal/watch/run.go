package watch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/scanner"
)

// Options are what Run needs.
type Options struct {
	Rules Rules
	Scan  scanner.Config // Run sets what concerns cycles
	DB    *watchdb.DB
	Log   *Log
	Hook  *Webhook // nil: none

	// Load returns the list of servers. On a new list, Run keeps the old one if Load fails or
	// returns less than half as many.
	Load      func(context.Context) ([]netip.AddrPort, error)
	ListEvery time.Duration   // how often Load is called; 0: once
	Reload    <-chan struct{} // a value makes Run call Load at once

	Answers       bool          // keep the latest answer of each server in the database
	Hourly, Daily time.Duration // how long the database keeps rows of hours, and of days and events

	Terminal *console.Terminal
	Status   func(*Status) // called every second; nil: never
	Show     func(*View)   // called once, when the servers are known; nil: never
}

// Status is what a status line says.
type Status struct {
	Time time.Time `json:"time"`
	Numbers
	Every    float64 `json:"every"`           // seconds: the cycle that was asked for
	Took     float64 `json:"cycle,omitempty"` // seconds: how long the latest cycle took
	Events   uint64  `json:"events"`          // since the watch began
	Sent     uint64  `json:"sent"`            // datagrams
	Received uint64  `json:"received"`        // datagrams
}

// String returns the status as a line of text.
func (s *Status) String() string {
	line := fmt.Sprintf("%s: %s up, %s down", console.Plural(s.Servers, "server"), console.Grouped(uint64(s.Up)), console.Grouped(uint64(s.Down)))
	if never := s.Servers - s.Up - s.Down; never > 0 {
		word := "never answered"
		if s.Took == 0 {
			word = "not heard yet" // the first cycle goes on
		}
		line += fmt.Sprintf(", %s %s", console.Grouped(uint64(never)), word)
	}
	line += fmt.Sprintf("; %s; %s", console.Plural(s.People, "person"), console.Plural(s.Events, "event"))
	if s.Blind {
		line += "; BLIND: most servers are silent"
	}
	if s.Took > 1.1*s.Every {
		line += fmt.Sprintf("; a cycle takes %.0fs instead of %.0fs", s.Took, s.Every)
	}
	return line
}

// run is a watch that runs.
type run struct {
	*Options
	mu      sync.Mutex // guards watcher, monitor, before and written
	watcher *Watcher
	monitor *scanner.Monitor
	before  scanner.Stats // of earlier scans, which failed
	nextID  int64
	written uint64 // events
	size    int    // of the list
	sending sending
}

// sending is when a datagram was last sent, and the counters of the current scan then.
type sending struct {
	last          time.Time
	count, errors uint64
}

// The intervals of Run.
const (
	tickEvery  = 200 * time.Millisecond
	flushEvery = time.Minute
	pruneEvery = time.Hour
	// atRest is how long the feed sleeps between servers that are due.
	atRest = 250 * time.Millisecond
)

// maxPending is the size of answers that makes Run store them before a minute has passed.
const maxPending = 8 << 20

// Run watches until ctx ends. Then it stores everything and returns nil. It returns an error
// if the first list can't be had, or if the database or the output fails.
func Run(ctx context.Context, o *Options) error {
	r := &run{Options: o, watcher: New(o.Rules, time.Now()), monitor: &scanner.Monitor{}}
	r.watcher.answers = o.Answers
	if err := r.restore(); err != nil {
		return err
	}
	if err := r.list(ctx); err != nil {
		return err
	}
	if o.Show != nil {
		o.Show(&View{r})
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var ended sync.WaitGroup
	ended.Go(func() { cancel(r.ask(ctx)) })
	if o.Hook != nil {
		ended.Go(func() { o.Hook.deliver(ctx, o.DB, o.Terminal) })
	}
	err := r.loop(ctx)
	cancel(err)
	ended.Wait()
	err = errors.Join(err, r.publish(), r.flush(), o.Log.Close())
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		err = cause
	}
	return err
}

// restore takes over what the database knows, and completes the output.
func (r *run) restore() error {
	now := time.Now()
	for row, err := range r.DB.Servers() {
		if err != nil {
			return err
		}
		r.watcher.Restore(&row, now)
	}
	hours, err := r.DB.Running()
	if err != nil {
		return err
	}
	r.watcher.Resume(hours)
	last, err := r.DB.LastID()
	if err != nil {
		return err
	}
	r.nextID = max(last, r.Log.Last) + 1
	for id := r.Log.Last; r.Log.file != nil && id < last; {
		missing, err := r.DB.Since(id, 1000)
		if err != nil || len(missing) == 0 {
			return err
		}
		id = missing[len(missing)-1].ID
		if err := r.Log.Write(missing, nil); err != nil {
			return err
		}
	}
	return nil
}

// list loads the list and gives it to the watcher.
func (r *run) list(ctx context.Context) error {
	addrs, err := r.Load(ctx)
	switch {
	case err != nil && r.size == 0:
		return err
	case err != nil:
		r.Terminal.Say("the new list can't be had, so the old one is watched: %v", err)
		return nil
	case len(addrs) == 0 && r.size == 0:
		return console.Fail(console.ExitInput, "there is no server to watch").WithHint("the list is empty, or everything in it is excluded; private networks need --allow-reserved")
	case len(addrs)*2 < r.size:
		r.Terminal.Say("the new list has %s instead of %d, so the old one is watched", console.Plural(len(addrs), "server"), r.size)
		return nil
	}
	for _, a := range r.Rules.References {
		if !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size = len(addrs)
	return r.DB.Add(r.watcher.Watch(addrs, time.Now()))
}

// ask queries the servers that are due. A scan that fails is begun again: the watcher is
// blind until then.
func (r *run) ask(ctx context.Context) error {
	cfg := r.Scan
	cfg.Cooldown = scanner.Off // a server that was just finished may be asked again
	cfg.Attempts = r.Rules.Attempts
	cfg.Excluded = r.Rules.Excluded
	for first := true; ctx.Err() == nil; first = false {
		cfg.Monitor = r.monitor
		_, err := scanner.Scan(ctx, cfg, r.targets(ctx), func(answer *scanner.Result) {
			r.mu.Lock()
			r.watcher.Answered(answer, time.Now())
			r.mu.Unlock()
		})
		if ctx.Err() != nil || first && err != nil && r.sent() == 0 {
			return err
		}
		r.mu.Lock()
		before := r.monitor.Stats()
		r.before.Add(&before)
		r.monitor, r.sending = &scanner.Monitor{}, sending{}
		r.watcher.SendingFails(true)
		r.mu.Unlock()
		r.Terminal.Say("the network fails, trying again: %v", err)
		pause(ctx, time.Second)
	}
	return nil
}

func (r *run) sent() uint64 {
	now := r.monitor.Stats()
	return now.DatagramsSent()
}

// targets yields the servers as they become due.
func (r *run) targets(ctx context.Context) iter.Seq[scanner.Target] {
	return func(yield func(scanner.Target) bool) {
		for ctx.Err() == nil {
			r.mu.Lock()
			t, wait := r.watcher.Next(time.Now())
			r.mu.Unlock()
			if wait > 0 {
				pause(ctx, max(wait, atRest))
			} else if !yield(t) {
				return
			}
		}
	}
}

// pause waits until d has passed or ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// loop does what is due until ctx ends.
func (r *run) loop(ctx context.Context) error {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	now := time.Now()
	flushed, pruned, listed, said := now, now.Add(-pruneEvery), now, now
	lists := make(chan error, 1)
	loading, reload := false, false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.Reload:
			reload = true
		case err := <-lists:
			if loading = false; err != nil {
				return err
			}
		case <-tick.C:
		}
		r.mu.Lock()
		now := time.Now()
		r.checkSending(now)
		r.watcher.Tick(now)
		full := r.watcher.pending > maxPending
		paused := r.watcher.paused
		r.watcher.paused = 0
		r.mu.Unlock()
		if paused > 0 {
			r.Terminal.Say("nothing ran for %v, or the clock was set: this time is unseen", paused.Round(time.Second/10))
		}
		if err := r.publish(); err != nil {
			return err
		}
		if full || now.Sub(flushed) >= flushEvery {
			flushed = now
			if err := r.flush(); err != nil {
				return err
			}
		}
		if now.Sub(pruned) >= pruneEvery {
			pruned = now
			if err := r.DB.Prune(now, r.Hourly, r.Daily); err != nil {
				return err
			}
		}
		if due := r.ListEvery > 0 && now.Sub(listed) >= r.ListEvery; (due || reload) && !loading {
			listed, loading, reload = now, true, false
			go func() { lists <- r.list(ctx) }()
		}
		if r.Status != nil && now.Sub(said) >= time.Second {
			said = now
			r.Status(r.status(now))
		}
	}
}

// checkSending tells the watcher whether datagrams leave this machine: not if none has been
// sent for a cycle, although some should.
func (r *run) checkSending(now time.Time) {
	stats := r.monitor.Stats()
	if sent := stats.DatagramsSent(); sent != r.sending.count || r.sending.last.IsZero() {
		r.sending.count, r.sending.errors, r.sending.last = sent, stats.SendErrors, now
		r.watcher.SendingFails(false)
	} else if stats.SendErrors > r.sending.errors && now.Sub(r.sending.last) >= r.Rules.Every {
		r.watcher.SendingFails(true)
	}
}

// publish gives the new events their IDs, stores them, and then writes them.
func (r *run) publish() error {
	r.mu.Lock()
	events := r.watcher.Events()
	r.mu.Unlock()
	if len(events) == 0 {
		return nil
	}
	rows := make([]watchdb.Event, len(events))
	for i := range events {
		e := &events[i]
		e.ID = r.nextID
		r.nextID++
		var err error
		if rows[i], err = e.row(); err != nil {
			return err
		}
	}
	if err := r.DB.Append(rows); err != nil {
		return console.Fail(console.ExitOutput, "the state: %w", err)
	}
	r.mu.Lock()
	r.written += uint64(len(rows))
	r.mu.Unlock()
	if r.Hook != nil {
		r.Hook.Wake()
	}
	return r.Log.Write(rows, events)
}

// flush stores what changed.
func (r *run) flush() error {
	r.mu.Lock()
	servers, hours := r.watcher.Changes()
	r.mu.Unlock()
	if err := r.DB.Flush(servers, hours...); err != nil {
		return console.Fail(console.ExitOutput, "the state: %w", err)
	}
	return nil
}

func (r *run) status(now time.Time) *Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := r.monitor.Stats()
	return &Status{
		Time: now.UTC(), Numbers: r.watcher.Numbers(), Every: r.Rules.Every.Seconds(), Took: r.watcher.took.Seconds(), Events: r.written,
		Sent: r.before.DatagramsSent() + stats.DatagramsSent(), Received: r.before.DatagramsReceived() + stats.DatagramsReceived(),
	}
}
