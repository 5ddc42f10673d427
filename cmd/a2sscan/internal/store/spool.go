package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Arrived is a file that a store has confirmed to have. Its JSON is part of the
// checkpoint.
type Arrived struct {
	Name   string `json:"name"` // base name, without a folder
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// SpoolOptions names the folder, the location in the store, and the files that
// arrived in earlier runs.
type SpoolOptions struct {
	Dir     string
	To      Location // location of the census; its parts go beside it
	Replace bool     // overwrite objects with other content

	// Hold keeps each uploaded file in the folder until Release, because a
	// checkpoint must first record that the file arrived.
	Hold    bool
	Arrived []Arrived // files that arrived in earlier runs

	Done func(Arrived) // called after each upload; may be nil
}

// Spool uploads the finished parts in a folder one after another. It repeats failed
// uploads until they succeed. A part is finished when its name does not end in
// sink.PartSuffix. Parts that earlier scans left for the same location go first.
type Spool struct {
	o      SpoolOptions
	client *Client
	part   *regexp.Regexp // names of parts
	beside *regexp.Regexp // names of summaries and stats
	lock   *disk.Lock

	end   context.CancelFunc
	ended chan struct{}
	nudge chan struct{} // has room for one request to search the folder now

	mu      sync.Mutex
	arrived map[string]Arrived
	also    []string // files to upload that are not parts
	waiting int
	bytes   int64
	tries   int           // number of uploads, successful or not
	err     error         // error of the last upload; nil: it succeeded
	changed chan struct{} // closed, and replaced, at each change
}

// State is the progress of the uploads.
type State struct {
	Waiting int   // finished files that have not arrived
	Bytes   int64 // total size of these files
	Arrived int   // number of files that arrived, in all runs
	Err     error // why the last upload failed; nil: it succeeded
}

// NewSpool creates the folder if it is missing, and locks it. Uploads begin with
// Start.
func NewSpool(c *Client, o SpoolOptions) (*Spool, error) {
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return nil, err
	}
	lock, err := disk.TryLock(filepath.Join(o.Dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("%s %w", o.Dir, err)
	}
	s := &Spool{o: o, client: c, lock: lock, nudge: make(chan struct{}, 1), changed: make(chan struct{}), arrived: map[string]Arrived{}}
	for _, a := range o.Arrived {
		s.arrived[a.Name] = a
	}
	first := regexp.QuoteMeta(sink.PartName(o.To.Base(), time.Unix(0, 0), 1))
	head, ext, _ := strings.Cut(first, `19700101T000000Z-00001`)
	s.part = regexp.MustCompile("^" + head + `\d{8}T\d{6}Z-\d{5,}` + ext + "$")
	s.beside = regexp.MustCompile("^" + head + `\d{8}T\d{6}Z\.(?:summary|stats)\.json$`)
	return s, nil
}

// lockName is the name of the lock file in the folder. Only one scan at a time can
// hold the lock.
const lockName = ".lock"

// Start begins to upload in a goroutine. It adds the summaries and stats that
// earlier scans left in the folder.
func (s *Spool) Start() error {
	entries, err := os.ReadDir(s.o.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if s.beside.MatchString(e.Name()) {
			s.also = append(s.also, e.Name())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.end, s.ended = cancel, make(chan struct{})
	go func() {
		defer close(s.ended)
		s.run(ctx)
	}()
	return nil
}

// The intervals at which run searches the folder, and the limits of the pause after
// a failed upload.
const (
	lookEvery  = 200 * time.Millisecond
	firstPause = 250 * time.Millisecond
	maxPause   = 30 * time.Second
)

// run uploads files until ctx is done.
func (s *Spool) run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		name, ok := s.next()
		if !ok {
			s.wait(ctx, lookEvery)
			continue
		}
		err := s.upload(ctx, name)
		if err == nil {
			pause = firstPause
			continue
		}
		s.wait(ctx, pause/2+rand.N(pause/2))
		pause = min(2*pause, maxPause)
	}
}

// wait returns after d, after a nudge, or when ctx is done.
func (s *Spool) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.nudge:
	case <-ctx.Done():
	}
}

// next searches the folder and returns the first file to upload.
func (s *Spool) next() (name string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.pending()
	if len(names) == 0 {
		return "", false
	}
	return names[0], true
}

// pending returns the names of the finished files that have not arrived, and
// updates their number and size. The lock must be held.
func (s *Spool) pending() (names []string) {
	entries, err := os.ReadDir(s.o.Dir)
	if err != nil {
		s.set(err)
		return nil
	}
	before := s.waiting
	s.waiting, s.bytes = 0, 0
	for _, e := range entries {
		name := e.Name()
		if !s.part.MatchString(name) && !slices.Contains(s.also, name) {
			continue
		}
		if _, there := s.arrived[name]; there {
			continue
		}
		if info, err := e.Info(); err == nil {
			s.waiting++
			s.bytes += info.Size()
			names = append(names, name)
		}
	}
	if s.waiting != before {
		s.announce()
	}
	return names
}

// set records the error of the last upload, or nil. The lock must be held.
func (s *Spool) set(err error) {
	s.err = err
	s.announce()
}

// announce wakes every Flush. The lock must be held.
func (s *Spool) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// upload uploads one file of the folder. Without Hold it then removes the file.
func (s *Spool) upload(ctx context.Context, name string) error {
	path := filepath.Join(s.o.Dir, name)
	isPart := s.part.MatchString(name)
	a, err := s.client.Put(ctx, path, s.o.To.Beside(name), s.o.Replace || !isPart)
	var local *fs.PathError
	if errors.As(err, &local) && errors.Is(err, fs.ErrNotExist) {
		return nil // another program removed the file
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	s.tries++
	if err == nil {
		s.arrived[name] = a
		s.also = slices.DeleteFunc(s.also, func(n string) bool { return n == name })
		s.pending()
	}
	s.set(err)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	disk.Step("part.uploaded")
	if s.o.Done != nil {
		s.o.Done(a)
	}
	if !s.o.Hold {
		s.remove(name)
	}
	return nil
}

// remove removes a file that has arrived from the folder.
func (s *Spool) remove(name string) {
	if os.Remove(filepath.Join(s.o.Dir, name)) == nil {
		disk.Step("part.unspooled")
	}
}

// Also uploads a file in the folder that is not a part, such as a summary. It
// replaces an older object of the same name.
func (s *Spool) Also(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.also = append(s.also, name)
	delete(s.arrived, name)
}

// Files returns the files that have arrived, sorted by name.
func (s *Spool) Files() []Arrived {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Arrived, 0, len(s.arrived))
	for _, a := range s.arrived {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b Arrived) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Release removes files from the folder. The caller must have saved in a checkpoint
// that they arrived.
func (s *Spool) Release(arrived []Arrived) {
	for _, a := range arrived {
		s.remove(a.Name)
	}
}

// State returns the progress of the uploads.
func (s *Spool) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{Waiting: s.waiting, Bytes: s.bytes, Arrived: len(s.arrived), Err: s.err}
}

// Flush waits until all finished files have arrived. It returns an error if ctx is
// done first, or if the store will keep refusing the upload until somebody acts.
func (s *Spool) Flush(ctx context.Context) error {
	for before := -1; ; {
		s.mu.Lock()
		if before < 0 {
			before = s.tries
			s.lookNow()
		}
		s.pending()
		left, err, tried, changed := s.waiting, s.err, s.tries > before, s.changed
		s.mu.Unlock()
		if left == 0 {
			return nil
		}
		if tried && isFinal(err) || ctx.Err() != nil {
			return cmp.Or(err, error(errSlow))
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// errSlow means that uploads succeed but take too long.
var errSlow = &Error{Problem: "the store takes the parts too slowly", Hint: "wait longer for it with --store-wait"}

func (s *Spool) lookNow() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

// Stop stops uploading. Files that have not arrived stay in the folder.
func (s *Spool) Stop() {
	if s.end != nil {
		s.end()
		<-s.ended
		s.end = nil
	}
}

// Close stops uploading and unlocks the folder. If done is set, because the scan is
// complete, it removes the files that arrived. It removes the folder if that is
// then empty.
func (s *Spool) Close(done bool) {
	if s.lock == nil {
		return
	}
	s.Stop()
	if done {
		s.Release(s.Files())
	}
	s.lock.Remove()
	s.lock = nil
	os.Remove(s.o.Dir) // fails if the folder still has files
}
