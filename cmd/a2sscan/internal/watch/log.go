package watch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Log appends events to a file, or writes them to a stream.
type Log struct {
	last atomic.Int64 // ID of the last written event
	// began is the time when the current write began, or nil if no write is running.
	began atomic.Pointer[time.Time]

	path string
	// cursor is the name under which the database stores the value of last. Each file has a
	// cursor of its own, and all streams share one.
	cursor string
	// stream is standard output, a pipe or a device. It is nil if path is a file, or if the
	// stream is not open yet.
	stream io.Writer
	text   bool
	rotate sink.Rotation
	opened time.Time    // when the file began
	file   *sink.Output // nil if the events go to a stream
}

// OpenLog returns a Log that appends to the file at path. If screen is not nil, the Log
// writes to screen, which is standard output, and to no file. If text is true, events are
// lines for people, otherwise lines of JSON. When the file has reached the size or the age in
// rotate, Write first renames it and begins a new file. If path is a pipe or a device, the first
// Write opens it, because opening a pipe may wait for a reader.
func OpenLog(path string, screen io.Writer, text bool, rotate sink.Rotation) (*Log, error) {
	l := &Log{path: path, cursor: outputCursor, stream: screen, text: text, rotate: rotate}
	if info, err := os.Stat(path); screen != nil || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return l, nil
	}
	path = disk.Resolve(path)
	l.path = path
	if absolute, err := filepath.Abs(path); err == nil {
		l.cursor += " " + absolute
	}
	if err := l.open(); errors.Is(err, sink.ErrNotCensus) {
		return nil, fmt.Errorf("%s is not an event file of a watch", console.Plain(path, 200))
	} else if err != nil {
		return nil, err
	}
	first, err := l.findLast(path)
	if err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	if !first.IsZero() {
		l.opened = first // an earlier watch began the file
	}
	return l, nil
}

func (l *Log) open() (err error) {
	l.opened = time.Now().UTC()
	l.file, err = sink.Create(l.path, sink.Options{Append: true, Begins: `{"id":`})
	return err
}

// findLast sets l.last to the ID of the last event in a file, if the file has an event. It
// returns when the first event was reported.
func (l *Log) findLast(path string) (first time.Time, err error) {
	r, err := sink.Open(path)
	if err != nil {
		return first, err
	}
	defer r.Close()
	for {
		line, err := r.Next()
		if err == io.EOF {
			return first, nil
		}
		var e db.Event
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err != nil {
			return first, err
		}
		l.last.Store(e.ID)
		first = cmp.Or(first, e.Reported, e.Time)
	}
}

// Write writes events. It returns when a stream has taken the events, or when the events are
// on disk. It writes each event to a stream with a single system call, so a pipe takes an
// event of at most 4096 bytes completely or not at all.
func (l *Log) Write(events []db.Event) (err error) {
	defer l.began.Store(nil)
	l.began.Store(new(time.Now()))
	if l.file == nil && l.stream == nil {
		if l.stream, err = os.OpenFile(l.path, os.O_WRONLY, 0); err != nil {
			return err
		}
	}
	if l.file != nil && l.rotate.On() {
		if err := l.begin(); err != nil {
			return err
		}
	}
	for i := range events {
		line, err := json.Marshal(&events[i])
		if l.text {
			line = []byte(Text(&events[i]))
		}
		if l.file != nil {
			err = errors.Join(err, l.file.WriteLine(line))
		} else if err == nil {
			if _, err = l.stream.Write(append(line, '\n')); err != nil {
				return fmt.Errorf("can't write %s: %w", map[bool]string{true: "standard output", false: l.path}[l.path == "-"], console.WithoutPath(err))
			}
			l.last.Store(events[i].ID)
			l.began.Store(new(time.Now()))
		}
		if err != nil {
			return err
		}
	}
	if l.file == nil {
		return nil
	}
	_, err = l.file.Sync()
	if err == nil {
		l.last.Store(events[len(events)-1].ID)
	}
	return err
}

// begin begins a new file if the file has reached its size or age. The database then has the
// cursor of all events in the old file, so nobody needs to read that file again.
func (l *Log) begin() error {
	info, err := os.Stat(l.path)
	if err != nil || info.Size() == 0 {
		return err
	}
	full := l.rotate.Size > 0 && info.Size() >= l.rotate.Size
	if !full && (l.rotate.Every == 0 || time.Since(l.opened) < l.rotate.Every) {
		return nil
	}
	if err := l.file.Close(); err != nil {
		return err
	}
	for n := 1; ; n++ {
		part := sink.PartName(l.path, l.opened, n)
		if _, err := os.Lstat(part); errors.Is(err, fs.ErrNotExist) {
			if err := os.Rename(l.path, part); err != nil {
				return err
			}
			return l.open()
		}
	}
}
