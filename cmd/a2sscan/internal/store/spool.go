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
	Name   string `json:"name"` // without folder
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// SpoolOptions name the folder, the place in the store, and what arrived before.
type SpoolOptions struct {
	Dir     string
	To      Location // of the census: its parts go beside it
	Replace bool     // overwrite objects with other content

	// Hold keeps each file in the folder after it arrived, until Release, because a
	// resumed scan must know that it arrived.
	Hold    bool
	Arrived []Arrived // in earlier runs

	Done func(Arrived) // called after each upload; may be nil
}

// Spool uploads the finished parts in a folder, one after the other, and tries again
// until it succeeds. A part is finished when its name does not end in
// sink.PartSuffix. The parts of earlier scans into the same place go first.
type Spool struct {
	o      SpoolOptions
	client *Client
	part   *regexp.Regexp // names of parts
	beside *regexp.Regexp // names of summaries and stats
	lock   *disk.Lock

	end   context.CancelFunc
	ended chan struct{}
	nudge chan struct{} // holds one request to look again now

	mu      sync.Mutex
	arrived map[string]Arrived
	also    []string // files that are no parts
	waiting int
	bytes   int64
	tries   int           // uploads, with and without success
	err     error         // of the last try; nil: it succeeded
	changed chan struct{} // closed at each change
}

// State is the progress of the uploads.
type State struct {
	Waiting int   // finished files that have not arrived
	Bytes   int64 // of them
	Arrived int   // files, in all runs
	Err     error // why the last try failed; nil: it did not
}

// NewSpool locks the folder and makes it if it is missing. It uploads nothing before
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

// lockName is the lock file in the folder. Only one scan at a time can lock it.
const lockName = ".lock"

// Start begins to upload.
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

// How often the folder is searched, and how long a failed upload waits.
const (
	lookEvery  = 200 * time.Millisecond
	firstPause = 250 * time.Millisecond
	maxPause   = 30 * time.Second
)

// run uploads until ctx ends.
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

// wait waits for a while, or until somebody asks to look again.
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

// pending returns the finished files that have not arrived. The lock must be held.
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

// set notes how the last try went. The lock must be held.
func (s *Spool) set(err error) {
	s.err = err
	s.announce()
}

// announce wakes those who wait for a change. The lock must be held.
func (s *Spool) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// upload uploads one file.
func (s *Spool) upload(ctx context.Context, name string) error {
	path := filepath.Join(s.o.Dir, name)
	isPart := s.part.MatchString(name)
	a, err := s.client.Put(ctx, path, s.o.To.Beside(name), s.o.Replace || !isPart)
	var local *fs.PathError
	if errors.As(err, &local) && errors.Is(err, fs.ErrNotExist) {
		return nil // somebody took it away
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

// remove removes a file that arrived.
func (s *Spool) remove(name string) {
	if os.Remove(filepath.Join(s.o.Dir, name)) == nil {
		disk.Step("part.unspooled")
	}
}

// Also uploads a file in the folder that is not a part, such as a summary, and
// replaces an older one.
func (s *Spool) Also(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.also = append(s.also, name)
	delete(s.arrived, name)
}

// Files are the files that arrived, by name.
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

// Release removes files from the folder. It is called once a checkpoint says that
// they arrived.
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

// Flush waits until all finished files have arrived, until ctx ends, or until
// waiting is useless. Its error says why something is left.
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

// errSlow means that uploads work but take too long.
var errSlow = &Error{Problem: "the store takes the parts too slowly", Hint: "wait longer for it with --store-wait"}

func (s *Spool) lookNow() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

// Stop ends uploading. What did not arrive stays in the folder.
func (s *Spool) Stop() {
	if s.end != nil {
		s.end()
		<-s.ended
		s.end = nil
	}
}

// Close stops uploading. If done is set, because the scan is complete, it removes
// the files that arrived. It removes the folder if it is empty.
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
	os.Remove(s.o.Dir) // fails if there are files in it
}
