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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
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

	name   string         // URL of the census or of the folder; empty: no upload
	to     store.Location // of the same
	census string         // URL of the census; empty: it belongs on this machine
	dir    string         // folder of this machine for a census in a store; empty: it is not in one
}

// useStore makes an output in a store one in parts, in a folder of this machine from
// which they are uploaded.
func (o *Options) useStore() (err error) {
	u, inStore := &o.Upload, store.IsURL(o.Out.Path)
	if u.name = u.Prefix; inStore {
		u.name = o.Out.Path
	}
	if u.name == "" {
		return nil
	}
	if u.to, err = store.Parse(u.name); err != nil {
		return store.Failure(console.ExitUsage, "", u.name, err)
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
		if err := o.Rotate.Set("64M"); err != nil {
			return err
		}
	}
	u.census = u.name
	u.dir, err = filepath.Abs(u.to.Base() + ".upload")
	o.Out.Path = filepath.Join(u.dir, u.to.Base())
	return err
}

// uploads copies the closed files of a census to an object store. Its methods do
// nothing if it is nil. Only one goroutine at a time may call them, except status.
type uploads struct {
	*Upload
	term    *console.Terminal
	client  *store.Client
	replace bool                    // replace objects of other content
	parts   func() []sink.Part      // of the output
	arrived map[string]store.Object // by the last parts of their keys
	now     atomic.Pointer[progress.Store]

	summary, beside string // the path of the summary, and the name that it has beside the parts
}

// openStore prepares the upload, before anything is sent. If the store can't be
// reached, the scan begins anyway, because the store may come back. If the store
// refuses access, openStore returns an error.
func (s *Run) openStore() error {
	u := &s.opts.Upload
	if u.name == "" || s.opts.DryRun {
		return nil
	}
	client, _, err := store.Find(u.name)
	if err != nil {
		return store.Failure(console.ExitOutput, "can't write", u.name, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	err = client.Check(ctx, u.to)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return store.Failure(console.ExitOutput, "can't write", u.name, err)
	}
	if err != nil {
		s.term.Say("the store can't be reached now: %v", err)
		s.term.Hint("the files wait on this machine until it can")
	}
	if u.dir != "" {
		if err := u.claim(); err != nil {
			return err
		}
	}
	s.uploads = &uploads{Upload: u, term: s.term, client: client, replace: s.opts.Out.Force,
		parts: func() []sink.Part { return s.out.Parts() }, arrived: map[string]store.Object{}}
	s.uploads.now.Store(&progress.Store{})
	return nil
}

// ownerFile is in the upload folder of a census, and names the census.
const ownerFile = ".census"

// claim creates the upload folder. If the folder belongs to another census, which has the
// same name in another place, claim returns an error: its files must not be uploaded to
// this place.
func (u *Upload) claim() error {
	file, folder := filepath.Join(u.dir, ownerFile), console.Plain(u.dir, 200)
	err := os.MkdirAll(u.dir, 0o777)
	owner, _ := os.ReadFile(file)
	switch {
	case string(owner) == u.name: // a full disk has no space to write it again
	case len(owner) > 0:
		return console.Fail(console.ExitOutput, "%s belongs to %s", folder, console.Plain(string(owner), 200)).
			WithHint("run this scan in another folder; the scan of the other census uploads its files, and removes the folder")
	case err == nil:
		err = disk.Replace(file, []byte(u.name), 0o666)
	}
	if err != nil {
		return console.Fail(console.ExitOutput, "can't create %s: %w", folder, console.WithoutPath(err))
	}
	return nil
}

// watch uploads files as they are closed, until end is called. After an error it
// pauses longer each time.
func (u *uploads) watch() (end func()) {
	if u == nil {
		return func() {}
	}
	const often, seldom = 200 * time.Millisecond, 30 * time.Second
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for pause := often; ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			if pause = min(2*pause, seldom); u.each(ctx, u.closed()) == nil {
				pause = often
			}
			u.clean()
		}
	})
	return func() { cancel(); done.Wait() }
}

// closed returns the paths of the closed files: the parts of the output, or everything
// in the folder for an output in a store, where an earlier scan may have left files.
func (u *uploads) closed() (paths []string) {
	if u.dir != "" {
		files, _ := os.ReadDir(u.dir)
		for _, f := range files {
			if f.Name() != ownerFile {
				paths = append(paths, filepath.Join(u.dir, f.Name()))
			}
		}
		return paths
	}
	for _, p := range u.parts() {
		paths = append(paths, p.Name)
	}
	return paths
}

// each uploads the files that have not arrived, up to the first error, and proves that
// the store has them. It skips files that are not closed or not there. It prints when
// uploads begin to fail, and when they work again.
func (u *uploads) each(ctx context.Context, paths []string) error {
	now := progress.Store{Error: u.now.Load().Error}
	var left []string
	for _, path := range paths {
		info, err := os.Stat(path)
		_, arrived := u.arrived[u.key(path)]
		if err == nil && !arrived && info.Mode().IsRegular() && !strings.HasSuffix(path, disk.PartSuffix) {
			left = append(left, path)
			now.WaitingBytes += info.Size()
		}
	}
	show := func() {
		shown := now
		shown.Arrived = len(u.arrived)
		u.now.Store(&shown)
	}
	for i, path := range left {
		now.Waiting = len(left) - i
		show()
		name := u.key(path)
		o, err := u.client.Put(ctx, path, u.to.Beside(name), u.replace || strings.HasSuffix(name, ".summary.json"))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if now.Error == "" {
				u.term.Log.Warn("upload failed", "error", err)
				u.term.Say("can't upload to %s: %v", console.Plain(u.name, 200), err)
				u.term.Hint("the files wait on this machine, and the scan goes on")
			}
			now.Error = err.Error()
			show()
			return err
		}
		now.WaitingBytes -= o.Bytes
		u.arrived[name] = o
		u.term.Log.Info("uploaded", "object", u.to.Beside(name).String(), "bytes", o.Bytes, "sha256", o.SHA256)
		disk.Step("part.uploaded")
	}
	if now.Error != "" {
		u.term.Log.Info("upload works again")
		u.term.Say("uploads work again")
	}
	now = progress.Store{}
	show()
	return nil
}

// clean removes the copies of uploaded files that belong in the store. A resumed scan
// needs no closed part again.
func (u *uploads) clean() {
	if u == nil || u.dir == "" {
		return
	}
	for _, path := range u.closed() {
		if _, arrived := u.arrived[u.key(path)]; arrived && os.Remove(path) == nil {
			disk.Step("part.unspooled")
		}
	}
}

// ship uploads the given files of a census that has ended, and proves that the store
// has each of them. A signal ends it. If it fails, that is an error of the output,
// except after an interrupt or another such error.
func (s *Run) ship(sum *ledger.Summary, files []sink.Part) {
	u := s.uploads
	if u == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer shutdown.Handle(func(os.Signal) { cancel() }, os.Interrupt, syscall.SIGTERM)()
	defer u.term.RepeatStatus(progress.Interval(u.term), func() string {
		now := u.status()
		return fmt.Sprintf("uploading: %s left, %s", console.Plural(now.Waiting, "file"), console.Bytes(uint64(now.WaitingBytes)))
	})()
	disk.Step("upload.final")
	paths := u.closed()
	for _, f := range files {
		paths = append(paths, f.Name)
	}
	err := u.each(ctx, paths)
	for _, f := range files { // an earlier run may have uploaded it, and removed it here
		if err != nil {
			break
		}
		at := u.to.Beside(u.key(f.Name))
		was, ours := u.arrived[u.key(f.Name)]
		var now store.Object
		switch now, err = u.client.Stat(ctx, at); {
		case errors.Is(err, fs.ErrNotExist):
			err = &store.Error{Problem: at.String() + " is not there", Err: fs.ErrNotExist,
				Hint: "look for another program that removes objects there"}
		case err == nil && (now.Bytes != f.Bytes && !ours || ours && now != was):
			err = store.NotUploaded(at)
		}
	}
	if err == nil || s.how.output != nil {
		return
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted before everything was uploaded")
	}
	left := "the same command uploads what is missing"
	switch {
	case u.dir != "":
		left = fmt.Sprintf("the files wait in %s; %s", console.Plain(u.dir, 200), left)
	case !s.checkpoint.Enabled:
		left = "the files stay on this machine: upload them with a tool such as rclone or aws s3 cp"
	}
	if s.how.stopped {
		u.term.Say("not everything is uploaded: %v", err)
		u.term.Hint("%s", left)
		return
	}
	f := store.Failure(console.ExitOutput, "can't write", u.name, err)
	s.how.output = f.WithHint("%s", strings.TrimPrefix(f.Hint+"; "+left, "; "))
	sum.Ended = ledger.EndedOutput
}

// key returns the last part of the key of a file's object.
func (u *uploads) key(path string) string {
	if path == u.summary {
		return u.beside
	}
	return filepath.Base(path)
}

// object returns the URL of a file that belongs in the store, and any other name
// unchanged.
func (u *uploads) object(file string) string {
	if u == nil || file == "" || u.dir == "" || filepath.Dir(file) != u.dir {
		return file
	}
	return u.to.Beside(strings.TrimSuffix(filepath.Base(file), disk.PartSuffix)).String()
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

// status returns the progress of the uploads for the status lines; nil: there is no
// store.
func (u *uploads) status() *progress.Store {
	if u == nil {
		return nil
	}
	return u.now.Load()
}
