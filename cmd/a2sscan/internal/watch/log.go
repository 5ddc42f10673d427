package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/sink"
)

// Log writes events: to a file that it continues, or to standard output.
type Log struct {
	Last int64 // the ID of the last event in the file

	path   string
	screen io.Writer // stands for standard output; nil: path is a file
	text   bool
	rotate sink.Rotation
	opened time.Time
	file   *sink.Output
}

// OpenLog opens a file of events to continue it, or standard output if screen is set. Lines are
// for people if text is set, else JSON. When the file has the size or the age of rotate, it gets
// the name of a part, and a new file begins.
func OpenLog(path string, screen io.Writer, text bool, rotate sink.Rotation) (*Log, error) {
	l := &Log{path: path, screen: screen, text: text, rotate: rotate}
	if err := l.open(); errors.Is(err, sink.ErrNotCensus) {
		return nil, fmt.Errorf("%s is no file of events of a watch", console.Plain(path, 200))
	} else if err != nil || screen != nil {
		return l, err
	}
	literal := strings.ReplaceAll(path, "[", "[[]")
	pattern := strings.Replace(sink.PartName(literal, time.Unix(0, 0), 1), "19700101T000000Z-00001", "*Z-?????", 1)
	parts, _ := filepath.Glob(pattern) // the oldest first
	for _, part := range slices.Backward(append(parts, path)) {
		if err := l.findLast(part); err != nil {
			return nil, errors.Join(err, l.file.Close())
		}
		if l.Last > 0 {
			break
		}
	}
	return l, nil
}

func (l *Log) open() (err error) {
	l.opened = time.Now().UTC()
	l.file, err = sink.Create(l.path, sink.Options{Append: true, Begins: `{"id":`, Screen: l.screen})
	return err
}

// findLast sets Last to the ID of the last event in a file, if there is one.
func (l *Log) findLast(path string) error {
	r, err := sink.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		line, err := r.Next()
		if err == io.EOF {
			return nil
		}
		var e watchdb.Event
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err != nil {
			return err
		}
		l.Last = e.ID
	}
}

// Write writes events and returns when they are written, and on the disk if it is a file.
func (l *Log) Write(events []watchdb.Event) error {
	for i := range events {
		line, err := json.Marshal(&events[i])
		if l.text {
			line = []byte(Text(&events[i]))
		}
		if err = errors.Join(err, l.file.WriteLine(line)); err != nil {
			return err
		}
		l.Last = events[i].ID
	}
	at, err := l.file.Sync()
	if err != nil {
		return err
	}
	full := l.rotate.Size > 0 && at.Offset >= l.rotate.Size
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
