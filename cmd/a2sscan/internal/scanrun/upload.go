package scanrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// Upload names the folder and the limits of an upload to an object store.
type Upload struct {
	Spool string         // folder in which parts are written; empty: NAME.spool
	Max   flagvalue.Size // maximum size of the finished parts that wait there, in bytes
	Wait  time.Duration  // how long to wait for the store at the end of the scan

	name string         // URL of the census; empty: no upload
	to   store.Location // location of the census
}

// on reports whether the output is in a store.
func (u *Upload) on() bool { return u.name != "" }

// outputName returns the name of the census for messages: its URL or its path.
func (o *Options) outputName() string { return cmp.Or(o.Upload.name, o.Out.Path) }

// The defaults of --spool-max, --store-wait and, for a store, --rotate.
const (
	DefaultSpoolMax  = 4_000_000_000
	DefaultStoreWait = 10 * time.Minute
	defaultPart      = "64M"
)

// minParts is the minimum number of parts that --spool-max must have room for: the
// scan should not slow down while one part is being uploaded and another one waits.
const minParts = 3

// useStore redirects an output in an object store to parts in a local folder, from
// which they are uploaded.
func (o *Options) useStore() (err error) {
	u := &o.Upload
	if !store.IsURL(o.Out.Path) {
		return console.FirstBroken(console.Rule{Broken: u.Spool != "", Err: "--spool without an output in a store",
			Hint: "-o s3://BUCKET/KEY uploads; other outputs are written where they belong"})
	}
	if u.to, err = store.Parse(o.Out.Path); err != nil {
		return console.Fail(console.ExitUsage, "--output: %w", err).WithHint("%s", output.Advice(err))
	}
	if err := o.checkStore(); err != nil {
		return err
	}
	if !o.Rotate.On() {
		if err := o.Rotate.Set(defaultPart); err != nil {
			return err
		}
	}
	if u.Spool, err = filepath.Abs(cmp.Or(u.Spool, u.to.Base()+".spool")); err != nil {
		return err
	}
	u.name, o.Out.Path = u.to.String(), filepath.Join(u.Spool, u.to.Base())
	size := o.Rotate.Size()
	return console.FirstBroken(
		console.Rule{Broken: size > store.MaxObject, Err: "--rotate: a store takes at most 5 GiB at once",
			Hint: "smaller parts, such as --rotate 256M"},
		console.Rule{Broken: int64(u.Max) < minParts*size, Err: fmt.Sprintf("--spool-max has no room for %d parts of %s", minParts, o.Rotate.String()),
			Hint: "a larger --spool-max, or smaller parts with --rotate"},
	)
}

// checkStore returns an error for flags that do not work with an output in a store.
func (o *Options) checkStore() error {
	return console.FirstBroken(
		console.Rule{Broken: o.Upload.to.IsPrefix(), Err: "--output names a folder of a store",
			Hint: "name the census in it: " + o.Upload.to.String() + "census.ndjson.zst"},
		console.Rule{Broken: o.Out.Append, Err: "--append: an object can't be added to",
			Hint: "each scan has parts of its own; a2sscan cat reads several"},
		console.Rule{Broken: store.IsURL(o.Summary), Err: "--summary names an object",
			Hint: "omit --summary: it goes beside the parts"},
		console.Rule{Broken: o.Records.NoNames && o.Records.PlayerKey == "", Err: "--no-player-names needs --player-key with an output in a store",
			Hint: "the key stays on this machine: name a file"},
	)
}

// uploads moves the parts of a running scan to an object store. It is nil in a scan
// that writes files.
type uploads struct {
	*Upload
	term  *console.Terminal
	spool *store.Spool
	saved bool // there is a checkpoint

	stop   func() // makes the scan start no new targets
	closed atomic.Uint64

	mu      sync.Mutex
	why     error // why judge ended the scan; nil: it did not
	failing bool  // the last report was that uploads fail
	slow    bool  // the last report was that the scan is slowed down
	asked   bool  // no more targets are queried, so there is nothing to slow down
}

// openStore prepares the upload, before anything is sent. If the store can't be
// reached, the scan begins anyway, because the store may come back. If the store
// refuses access, openStore returns an error.
func openStore(s *Run) error {
	u := &s.opts.Upload
	if !u.on() || s.opts.DryRun {
		return nil
	}
	client, err := store.Usual()
	if err != nil {
		return output.StoreFailure(u.name, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	if err := client.Check(ctx, u.to); err != nil {
		if !store.IsPassing(err) {
			return output.StoreFailure(u.name, err)
		}
		s.term.Say("the store can't be reached now: %v", output.Cause(err))
		s.term.Hint("parts wait in %s until it can", console.Plain(u.Spool, 200))
	}
	o := store.SpoolOptions{Dir: u.Spool, To: u.to, Replace: s.opts.Out.Force, Hold: s.checkpoint.Enabled, Done: func(a store.Arrived) { logArrived(s, a) }}
	if s.checkpoint.Resumes() {
		if o.Arrived, err = arrivedBefore(client, u, s.checkpoint.Past); err != nil {
			return err
		}
	}
	spool, err := store.NewSpool(client, o)
	if err != nil {
		return output.StoreFailure(u.name, err).WithHint("each scan needs a folder of its own: --spool DIR")
	}
	s.uploads = &uploads{Upload: u, term: s.term, spool: spool, saved: s.checkpoint.Enabled}
	return nil
}

// checkTime is how long openStore waits for the store's first answer.
const checkTime = 15 * time.Second

func logArrived(s *Run, a store.Arrived) {
	s.term.Log.Info("uploaded", "object", s.opts.Upload.to.Beside(a.Name).String(), "bytes", a.Bytes, "sha256", a.SHA256)
}

// arrivedBefore returns the parts that earlier runs uploaded. It returns an error
// if a complete part is neither among them nor in the folder nor in the store.
func arrivedBefore(client *store.Client, u *Upload, past *checkpoint.Checkpoint) ([]store.Arrived, error) {
	all := past.Output.Arrived
	for i, part := range past.Output.Parts {
		name := sink.PartName(filepath.Join(u.Spool, u.to.Base()), past.Start, i+1)
		if past.Output.HasArrived(filepath.Base(name)) || isHere(name) || isHere(name+sink.PartSuffix) {
			continue
		}
		to := u.to.Beside(filepath.Base(name))
		n, err := client.Size(context.Background(), to)
		if err == nil && n != part.Bytes {
			err = fmt.Errorf("it has %d bytes there, and had %d", n, part.Bytes)
		}
		if err != nil {
			return nil, console.Fail(console.ExitCheckpoint, "cannot resume this scan: %s is gone, and not in the store: %w",
				console.Plain(name, 200), output.Cause(err)).WithHint("start a new scan with --fresh")
		}
		all = append(all, store.Arrived{Name: to.Base(), Bytes: n})
	}
	return all, nil
}

func isHere(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// begin starts to upload. judge calls stop when the folder is full.
func (u *uploads) begin(stop func()) error {
	if u == nil {
		return nil
	}
	u.stop = stop
	return u.spool.Start()
}

// forCheckpoint returns the uploads in the form that the checkpoint needs; nil:
// there is no store.
func (u *uploads) forCheckpoint() checkpoint.Uploads {
	if u == nil {
		return nil
	}
	return u.spool
}

// watch calls judge at regular intervals until the returned function is called.
func (u *uploads) watch() (end func()) {
	if u == nil {
		return func() {}
	}
	return console.Every(100*time.Millisecond, u.judge)
}

// judge reports changes and sets how much the scan is slowed down. It ends the scan
// if the folder is full or an object of the same name exists.
func (u *uploads) judge() {
	now := u.spool.State()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.report(&now)
	if u.asked {
		return // only the uploads are left
	}
	fill := float64(now.Bytes) / float64(u.Max)
	u.closed.Store(uint64(window * closedShare(fill)))
	switch {
	case u.why != nil:
	case errors.Is(now.Err, fs.ErrExist):
		u.why = now.Err
	case fill >= 1:
		u.why = cmp.Or(now.Err, error(&store.Error{Problem: "the store takes the parts too slowly"}))
		u.term.Say("%s wait in %s, and --spool-max is %s: no new targets, finishing what is open",
			console.Bytes(uint64(now.Bytes)), console.Plain(u.Spool, 200), u.Max.String())
	}
	if u.why != nil {
		u.stop()
	}
}

// report prints when uploads begin to fail or work again, and when the scan slows
// down or speeds up again. The lock must be held.
func (u *uploads) report(now *store.State) {
	if failing := now.Err != nil; failing != u.failing {
		u.failing = failing
		if failing {
			u.term.Log.Warn("upload failed", "error", now.Err.Error(), "waiting", now.Waiting, "bytes", now.Bytes)
			u.term.Say("can't upload to %s: %v", console.Plain(u.name, 200), output.Cause(now.Err))
			u.term.Hint("parts wait in %s, and the scan goes on", console.Plain(u.Spool, 200))
		} else {
			u.term.Log.Info("upload works again", "waiting", now.Waiting)
			u.term.Say("uploads work again")
		}
	}
	if slow := 2*now.Bytes >= int64(u.Max); slow != u.slow && !u.asked {
		u.slow = slow
		u.term.Log.Info("spool", "slowed", slow, "bytes", now.Bytes, "limit", int64(u.Max))
		if slow {
			u.term.Say("%s of %s wait for the store: scanning more slowly", console.Bytes(uint64(now.Bytes)), u.Max.String())
		} else {
			u.term.Say("half of the folder is free again: scanning as before")
		}
	}
}

// window is an interval, in nanoseconds. In a share of each window, no new target
// starts.
const window = float64(100 * time.Millisecond)

// closedShare returns the share of time in which no new target starts. fill is how
// full the folder is. The share grows once the folder is half full, up to 0.95. It
// never reaches 1, because a scan that stands still would never fill the folder,
// and only a full folder ends it.
func closedShare(fill float64) float64 { return min(max(0, 2*fill-1), 1) * 0.95 }

// pace delays new targets while parts wait. Open targets continue.
func (u *uploads) pace(all iter.Seq[scanner.Target]) iter.Seq[scanner.Target] {
	if u == nil {
		return all
	}
	return func(yield func(scanner.Target) bool) {
		for t := range all {
			if closed := u.closed.Load(); closed > 0 {
				if at := uint64(time.Now().UnixNano()) % uint64(window); at < closed {
					time.Sleep(time.Duration(closed - at))
				}
			}
			if !yield(t) {
				return
			}
		}
	}
}

// stopped returns why judge ended the scan, or nil if it did not.
func (u *uploads) stopped() error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.why
}

// interruptedWait is the maximum time that an interrupted scan waits for the store.
const interruptedWait = 10 * time.Second

// ship waits until the store has all files. If that fails, it returns the outcome
// with the error as its output; after an interrupt it only prints what is left.
func ship(s *Run, how outcome, sum *ledger.Summary) outcome {
	u := s.uploads
	if u == nil || how.output != nil {
		return how
	}
	err := u.stopped()
	if err == nil {
		wait := u.Wait
		if s.shutdown.Interrupted() {
			wait = min(wait, interruptedWait)
		}
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		err = u.flush(ctx)
	}
	if err == nil {
		return how
	}
	left := u.left()
	if s.shutdown.Interrupted() {
		s.term.Say("not everything is uploaded: %v", output.Cause(err))
		s.term.Hint("%s", left)
		return how
	}
	how.output = output.StoreFailure(u.name, err).WithHint("%s", strings.TrimPrefix(output.Advice(err)+"; "+left, "; "))
	sum.Ended = ledger.EndedOutput
	return how
}

// flush calls Spool.Flush and shows a status line. From then on, the scan is not
// slowed down for the store.
func (u *uploads) flush(ctx context.Context) error {
	u.mu.Lock()
	u.asked = true
	u.mu.Unlock()
	defer u.watch()()
	defer u.term.RepeatStatus(progress.Interval(u.term), func() string {
		now := u.spool.State()
		return fmt.Sprintf("uploading: %s left, %s", console.Plural(now.Waiting, "file"), console.Bytes(uint64(now.Bytes)))
	})()
	return u.spool.Flush(ctx)
}

// left describes how many files were not uploaded, where they are, and how to
// upload them.
func (u *uploads) left() string {
	now := u.spool.State()
	next := "the next scan with this --output uploads them"
	if u.saved {
		next = "the same command uploads them"
	}
	return fmt.Sprintf("%s with %s wait in %s; %s", console.Plural(now.Waiting, "file"),
		console.Bytes(uint64(now.Bytes)), console.Plain(u.Spool, 200), next)
}

// object returns the URL in the store of a file in the folder. It returns any other
// name unchanged.
func (u *uploads) object(file string) string {
	if u == nil || file == "" || filepath.Dir(file) != u.Spool {
		return file
	}
	return u.to.Beside(strings.TrimSuffix(filepath.Base(file), sink.PartSuffix)).String()
}

// place describes, for a message, where the parts of a census are. arrived is set
// if all parts are uploaded.
func (u *uploads) place(parts int, arrived bool) string {
	if arrived {
		return fmt.Sprintf("%s in %s", console.Plural(parts, "part"), console.Plain(u.name, 200))
	}
	return fmt.Sprintf("%s, not all of them uploaded", console.Plural(parts, "part"))
}

// also uploads a file in addition to the parts, if it is in the folder.
func (u *uploads) also(file string) {
	if u != nil && file != "" && filepath.Dir(file) == u.Spool {
		u.spool.Also(filepath.Base(file))
	}
}

// rename replaces the names of the summary's output and parts with those in the
// store.
func (u *uploads) rename(sum *ledger.Summary) {
	if u == nil {
		return
	}
	sum.Output = u.name
	for i := range sum.Parts {
		sum.Parts[i].Name = u.object(sum.Parts[i].Name)
	}
}

// end stops uploading. If the scan is complete, it removes the uploaded files.
func (u *uploads) end(complete bool) {
	if u != nil {
		u.spool.Close(complete)
	}
}

// status returns the progress of the uploads for the status lines; nil: there is no
// store.
func (u *uploads) status() *progress.Store {
	if u == nil {
		return nil
	}
	now := u.spool.State()
	p := &progress.Store{Waiting: now.Waiting, WaitingBytes: now.Bytes, Arrived: now.Arrived, Slowed: u.closed.Load() > 0}
	if now.Err != nil {
		p.Error = output.Cause(now.Err).Error()
	}
	return p
}
