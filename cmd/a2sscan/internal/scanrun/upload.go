package scanrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Upload says where the files of a census are uploaded to. They are written to this
// machine first.
type Upload struct {
	Prefix string // the folder in a store: s3://BUCKET/PREFIX/; empty: --output may name an object

	name string         // URL of the census or of the folder; empty: no upload
	to   store.Location // of the same
	dir  string         // folder of this machine for an --output in a store; empty: --output is a file
}

// outputName returns the name of the census for messages: its URL or its path.
func (o *Options) outputName() string {
	return cmp.Or(o.Upload.object(), o.Out.Path)
}

// object returns the URL of the census, or "" if it belongs on this machine.
func (u *Upload) object() string {
	if u.dir == "" {
		return ""
	}
	return u.name
}

// defaultPart is the --rotate of an output in a store.
const defaultPart = "64M"

// useStore makes an output in a store one in parts, in a folder of this machine from
// which they are uploaded.
func (o *Options) useStore() (err error) {
	u := &o.Upload
	inStore := store.IsURL(o.Out.Path)
	if u.name = u.Prefix; inStore {
		u.name = o.Out.Path
	}
	if u.name == "" {
		return nil
	}
	if u.to, err = store.Parse(u.name); err != nil {
		return console.Fail(console.ExitUsage, "%s: %w", console.Plain(store.Shown(u.name), 200), err).WithHint("%s", store.Advice(err))
	}
	old := u.to.Base() + ".spool" // of earlier versions
	left, _ := filepath.Glob(filepath.Join(old, "[^.]*"))
	err = console.FirstBroken(
		console.Rule{Broken: inStore && u.Prefix != "", Err: "--upload and an output in a store exclude each other",
			Hint: "-o LOCAL --upload s3://BUCKET/PREFIX/ keeps the files here, too"},
		console.Rule{Broken: inStore && u.to.IsPrefix(), Err: "--output names a folder of a store",
			Hint: "name the census in it: " + u.to.String() + "census.ndjson.zst"},
		console.Rule{Broken: !inStore && !u.to.IsPrefix(), Err: "--upload needs a folder of a store",
			Hint: "with a slash at its end: " + u.to.String() + "/"},
		console.Rule{Broken: !o.Out.ToFile(), Err: "--upload without --output", Hint: "name the file to write with -o PATH"},
		console.Rule{Broken: o.Out.Append, Err: "--append: an object can't be added to",
			Hint: "each scan has parts of its own; a2sscan cat reads several"},
		console.Rule{Broken: store.IsURL(o.Summary), Err: "--summary names an object",
			Hint: "omit --summary: it goes beside the parts"},
		console.Rule{Broken: inStore && o.Records.NoNames && o.Records.PlayerKey == "", Err: "--no-player-names needs --player-key with an output in a store",
			Hint: "the key stays on this machine: name a file"},
		console.Rule{Broken: inStore && len(left) > 0, Err: console.Plain(old, 200) + " has parts that an earlier version did not upload",
			Hint: "upload them with a tool such as rclone or aws s3 cp, then remove the folder"},
	)
	if err != nil || !inStore {
		return err
	}
	if !o.Rotate.On() {
		if err := o.Rotate.Set(defaultPart); err != nil {
			return err
		}
	}
	u.dir, err = filepath.Abs(u.to.Base() + ".upload")
	o.Out.Path = filepath.Join(u.dir, u.to.Base())
	return err
}

// uploads copies the closed files of a census to an object store. Its methods do
// nothing if it is nil.
type uploads struct {
	*Upload
	term    *console.Terminal
	client  *store.Client
	replace bool               // replace objects of other content
	parts   func() []sink.Part // of the output

	mu      sync.Mutex
	arrived map[string]int64 // lengths of the files that have arrived, by their names
	waiting int              // closed files that have not arrived
	bytes   int64            // their lengths
	err     error            // of the last upload
}

// checkTime is how long openStore waits for the store's first answer.
const checkTime = 15 * time.Second

// openStore prepares the upload, before anything is sent. If the store can't be
// reached, the scan begins anyway, because the store may come back. If the store
// refuses access, openStore returns an error.
func openStore(s *Run) error {
	u := &s.opts.Upload
	if u.name == "" || s.opts.DryRun {
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
		s.term.Say("the store can't be reached now: %v", store.Cause(err))
		s.term.Hint("the files wait on this machine until it can")
	}
	if u.dir != "" {
		if err := os.MkdirAll(u.dir, 0o777); err != nil {
			return console.Fail(console.ExitOutput, "can't create %s: %w", console.Plain(u.dir, 200), console.WithoutPath(err))
		}
	}
	s.uploads = &uploads{Upload: u, term: s.term, client: client, replace: s.opts.Out.Force,
		parts: func() []sink.Part { return s.out.Parts() }, arrived: map[string]int64{}}
	return nil
}

// The intervals of watch.
const (
	lookEvery = 200 * time.Millisecond
	maxPause  = 30 * time.Second
)

// watch uploads parts as they are closed, until end is called.
func (u *uploads) watch() (end func()) {
	if u == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for pause := lookEvery; ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			if pause = min(2*pause, maxPause); u.each(ctx, u.closed()) == nil {
				pause = lookEvery
			}
			u.clean(false)
		}
	})
	return func() { cancel(); done.Wait() }
}

// closed returns the paths of the closed files: the parts of the output, or everything
// in the folder for an output in a store, where an earlier scan may have left files.
func (u *uploads) closed() (paths []string) {
	for _, p := range u.parts() {
		paths = append(paths, p.Name)
	}
	if u.dir != "" {
		paths, _ = filepath.Glob(filepath.Join(u.dir, "*"))
	}
	return paths
}

// each uploads the files that have not arrived, up to the first error. It skips files
// that are not closed or not there.
func (u *uploads) each(ctx context.Context, paths []string) error {
	var left []string
	waiting := int64(0)
	for _, path := range paths {
		info, err := os.Stat(path)
		u.mu.Lock()
		_, arrived := u.arrived[filepath.Base(path)]
		u.mu.Unlock()
		if err == nil && !arrived && info.Mode().IsRegular() && !strings.HasSuffix(path, sink.PartSuffix) {
			left = append(left, path)
			waiting += info.Size()
		}
	}
	u.mu.Lock()
	u.waiting, u.bytes = len(left), waiting
	u.mu.Unlock()
	for _, path := range left {
		if err := u.upload(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// upload uploads a file, and proves that the store has it.
func (u *uploads) upload(ctx context.Context, path string) error {
	name := filepath.Base(path)
	a, err := u.client.Put(ctx, path, u.to.Beside(name), u.replace || strings.HasSuffix(name, ".summary.json"))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	u.mu.Lock()
	was := u.err
	if u.err = err; err == nil {
		u.arrived[name] = a.Bytes
		u.waiting--
		u.bytes -= a.Bytes
	}
	u.mu.Unlock()
	if err != nil {
		if was == nil {
			u.term.Log.Warn("upload failed", "error", err.Error())
			u.term.Say("can't upload to %s: %v", console.Plain(u.name, 200), store.Cause(err))
			u.term.Hint("the files wait on this machine, and the scan goes on")
		}
		return err
	}
	if was != nil {
		u.term.Log.Info("upload works again")
		u.term.Say("uploads work again")
	}
	u.term.Log.Info("uploaded", "object", u.to.Beside(name).String(), "bytes", a.Bytes, "sha256", a.SHA256)
	disk.Step("part.uploaded")
	return nil
}

// clean removes the copies of uploaded files that belong in the store. A resumed scan
// needs no closed part again. When the census is complete, it removes the folder, too.
func (u *uploads) clean(complete bool) {
	if u == nil || u.dir == "" {
		return
	}
	for _, path := range u.closed() {
		u.mu.Lock()
		_, arrived := u.arrived[filepath.Base(path)]
		u.mu.Unlock()
		if arrived && os.Remove(path) == nil {
			disk.Step("part.unspooled")
		}
	}
	if complete {
		os.Remove(u.dir) // fails if it still has files
	}
}

// shipTries is how often the upload of a census that has ended is tried: for some 15
// seconds, if the store refuses connections.
const shipTries = 10

// ship uploads the given files of a census that has ended, and proves that the store
// has each of them, with its length and checksum. A signal ends it. If it fails, the
// outcome is an error of the output, except after an interrupt.
func (u *uploads) ship(how outcome, sum *ledger.Summary, files []sink.Part) outcome {
	if u == nil || how.output != nil {
		return how
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer shutdown.Handle(func(os.Signal) { cancel() }, os.Interrupt, syscall.SIGTERM)()
	defer u.term.RepeatStatus(progress.Interval(u.term), func() string {
		now := u.status()
		return fmt.Sprintf("uploading: %s left, %s", console.Plural(now.Waiting, "file"), console.Bytes(uint64(now.WaitingBytes)))
	})()
	disk.Step("upload.final")
	tries := shipTries
	if how.stopped {
		tries = 1
	}
	err := store.Retry(ctx, tries, func() error { return u.each(ctx, append(paths(files), u.closed()...)) })
	for i := 0; i < len(files) && err == nil; i++ {
		if !strings.HasSuffix(files[i].Name, sink.PartSuffix) {
			err = u.prove(ctx, &files[i])
		}
	}
	if err == nil {
		return how
	}
	if ctx.Err() != nil {
		err = &store.Error{Problem: "interrupted before everything was uploaded"}
	}
	left := "the same command uploads what is missing"
	if u.dir != "" {
		left = fmt.Sprintf("the files wait in %s; %s", console.Plain(u.dir, 200), left)
	}
	if how.stopped {
		u.term.Say("not everything is uploaded: %v", store.Cause(err))
		u.term.Hint("%s", left)
		return how
	}
	how.output = output.StoreFailure(u.name, err).WithHint("%s", strings.TrimPrefix(store.Advice(err)+"; "+left, "; "))
	sum.Ended = ledger.EndedOutput
	return how
}

func paths(files []sink.Part) (all []string) {
	for _, f := range files {
		all = append(all, f.Name)
	}
	return all
}

// prove returns an error unless the store has the file. An earlier run may have uploaded
// it, and removed it here.
func (u *uploads) prove(ctx context.Context, p *sink.Part) error {
	name := filepath.Base(p.Name)
	u.mu.Lock()
	bytes, ok := u.arrived[name]
	u.mu.Unlock()
	if !ok {
		bytes = p.Bytes
	}
	n, err := u.client.Size(ctx, u.to.Beside(name))
	switch {
	case err == nil && n != bytes:
		return &store.Error{Problem: fmt.Sprintf("%s has %d bytes there, and had %d", u.to.Beside(name), n, bytes), Hint: "look for another program that writes there"}
	case errors.Is(err, fs.ErrNotExist):
		return &store.Error{Problem: u.to.Beside(name).String() + " is not there", Err: fs.ErrNotExist, Hint: "look for another program that removes objects there"}
	}
	return err
}

// object returns the URL of a file that belongs in the store, and any other name
// unchanged.
func (u *uploads) object(file string) string {
	if u == nil || file == "" || u.dir == "" || filepath.Dir(file) != u.dir {
		return file
	}
	return u.to.Beside(strings.TrimSuffix(filepath.Base(file), sink.PartSuffix)).String()
}

// place describes, for a message, where the files of a census are. arrived is set if
// all of them are uploaded.
func (u *uploads) place(here string, parts int, arrived bool) string {
	switch {
	case !arrived:
		return cmp.Or(here, console.Plural(parts, "part")) + ", not all of it uploaded"
	case u.dir == "":
		return here + " and " + console.Plain(u.name, 200)
	}
	return fmt.Sprintf("%s in %s", console.Plural(parts, "part"), console.Plain(u.name, 200))
}

// rename replaces the names of the summary's output and parts with those in the store,
// if they belong there.
func (u *uploads) rename(sum *ledger.Summary) {
	if u == nil || u.dir == "" {
		return
	}
	sum.Output = u.name
	for i := range sum.Parts {
		sum.Parts[i].Name = u.object(sum.Parts[i].Name)
	}
}

// status returns the progress of the uploads for the status lines; nil: there is no
// store.
func (u *uploads) status() *progress.Store {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	p := &progress.Store{Waiting: u.waiting, WaitingBytes: u.bytes, Arrived: len(u.arrived)}
	if u.err != nil {
		p.Error = store.Cause(u.err).Error()
	}
	return p
}
