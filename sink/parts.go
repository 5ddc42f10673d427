package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/sink/disk"
)

// Rotation divides a census into files.
type Rotation struct {
	Start time.Time     // start of the scan; the names of the parts contain it
	Size  int64         // size in bytes at which a part ends; 0 means no limit
	Every time.Duration // time after which a part ends; 0 means no limit

	// Hold makes complete parts keep disk.PartSuffix until Mark.Commit or Output.Commit.
	// So a scan that commits its parts at each checkpoint never changes a part whose name
	// lacks the suffix, even after the scan is resumed.
	Hold bool
}

// On reports whether the census is divided.
func (r *Rotation) On() bool { return r.Size > 0 || r.Every > 0 }

// SummarySchema is the version of the summary that is written beside a census. It rises
// when the meaning of a key changes, but not when keys are added.
const SummarySchema = 1

// CheckSummary returns an error if a summary has a schema that this version does not
// know.
func CheckSummary(schema int) error {
	if schema > SummarySchema {
		return fmt.Errorf("the summary has schema %d, but this version of a2sscan knows only schema %d; use a newer version",
			schema, SummarySchema)
	}
	return nil
}

// Part is one file of a census.
type Part struct {
	// Name is the current path. Until the file gets its final name, the path ends in
	// disk.PartSuffix.
	Name    string `json:"name"`
	Records uint64 `json:"records"`
	Bytes   int64  `json:"bytes"`

	Sum string `json:"xxh64,omitempty"` // xxHash64 of the file in hex
}

// PartName returns the file name of part n of a census. The first part has the number 1.
// The scan began at start. For census.ndjson.zst, PartName returns, for example,
// census-20261120T030000Z-00001.ndjson.zst. The names sort by scan, then by part.
func PartName(path string, start time.Time, n int) string {
	head, ext := splitName(path)
	return fmt.Sprintf("%s-%s-%05d%s", head, start.UTC().Format("20060102T150405Z"), n, ext)
}

// splitName splits a path before its extension. The extension includes the suffix of a
// compressed file, as in .ndjson.zst.
func splitName(path string) (head, ext string) {
	head = strings.TrimSuffix(path, string(packingOf(path)))
	ext = filepath.Ext(head)
	if ext == filepath.Base(head) {
		ext = "" // path names a hidden file
	}
	return strings.TrimSuffix(head, ext), ext + path[len(head):]
}

func (w *Output) partName(n int) string { return PartName(w.path, w.o.Rotate.Start, n) }

// resume truncates a census in parts to the position in Options.Resume. Before it
// truncates or removes any file, it checks that no file that it will keep has changed.
func (w *Output) resume() error {
	o, at := w.o, w.o.Resume
	total := at.Offset
	for _, p := range at.Parts {
		total += p.Bytes
	}
	var before int64
	o.Progress = func(read, _ int64) {
		if w.o.Progress != nil {
			w.o.Progress(before+read, total)
		}
	}
	for i, p := range at.Parts {
		f := &file{name: w.partName(i + 1), whole: p, done: make(chan struct{})}
		close(f.done)
		w.ended = append(w.ended, f)
		now := f.name
		if _, err := os.Lstat(now + disk.PartSuffix); err == nil {
			now += disk.PartSuffix
		}
		if err := checkPart(now, &p, o.Progress); err != nil {
			return o.refuse(now, err, "start a new scan")
		}
		before += p.Bytes
	}
	keep := len(w.ended)
	if at.Offset > 0 {
		keep++
		name := w.partName(keep)
		renamed := os.Rename(name, name+disk.PartSuffix) // if the part was complete
		if renamed != nil && !errors.Is(renamed, fs.ErrNotExist) {
			return newError("resume", name, renamed)
		}
		if err := w.begin(name, &o); err != nil {
			if renamed == nil {
				err = errors.Join(err, os.Rename(name+disk.PartSuffix, name))
			}
			return err
		}
	}
	if err := w.removeAfter(keep); err != nil {
		return newError("resume", w.partName(keep+1), err)
	}
	for _, f := range w.ended {
		if err := os.Rename(f.name+disk.PartSuffix, f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return newError("resume", f.name, err)
		}
	}
	return nil
}

// checkPart compares the file called name with its description p. A missing file is no
// error, because users may move complete parts.
func checkPart(name string, p *Part, progress func(read, size int64)) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != p.Bytes {
		return fmt.Errorf("%w: the part has %d bytes instead of %d", ErrChanged, info.Size(), p.Bytes)
	}
	d := xxhash.New()
	err = hashFile(d, f, p.Bytes, progress)
	if err == nil && p.Sum != "" && p.Sum != sumText(d) {
		err = fmt.Errorf("%w: the xxh64 of the part is %s, but was %s", ErrChanged, sumText(d), p.Sum)
	}
	return err
}

func (w *Output) removeAfter(n int) error {
	dir, err := os.ReadDir(filepath.Dir(w.path))
	if err != nil {
		return err
	}
	_, ext := splitName(w.path)
	head := strings.TrimSuffix(filepath.Base(w.partName(1)), "00001"+ext)
	numbers := map[int]bool{}
	for _, f := range dir {
		digits, _ := strings.CutPrefix(baseOf(f.Name()), head)
		i, err := strconv.Atoi(strings.TrimSuffix(digits, ext))
		if err == nil && i > n && filepath.Base(w.partName(i)) == baseOf(f.Name()) {
			numbers[i] = true
		}
	}
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(numbers))) {
		for _, name := range []string{w.partName(i), w.partName(i) + disk.PartSuffix} {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		disk.Step("part.removed")
	}
	return nil
}

// Scan describes how a scan ended, and how many records it wrote.
type Scan struct {
	Name     string            `json:"scan"`
	Start    time.Time         `json:"start"`
	Ended    string            `json:"ended"`
	Records  uint64            `json:"records"`
	ByStatus map[string]uint64 `json:"by_status"` // number of targets with each status
}
