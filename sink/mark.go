package sink

import "github.com/a2sscan/a2sscan/sink/disk"

// Mark is a position between two records of a census. A scan makes a mark when it
// takes a snapshot, and continues. Later, for a checkpoint, it asks the mark for
// the length of the file at that position.
type Mark struct {
	w       *Writer
	written chan struct{} // closed when the file has been written up to the mark
	offset  int64         // length of the file at that point
	sum     string        // hash of the file at that point

	// In a Series:
	before  []*volume // parts before the open one
	records uint64    // records of the open part before the mark
}

// Mark marks the position after all records written so far. Like Write, it waits
// for the disk only if all blocks are full.
func (w *Writer) Mark() (*Mark, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.err(); err != nil {
		return nil, err
	}
	m := &Mark{w: w, written: make(chan struct{})}
	w.handOver(job{end: true, mark: m})
	return m, nil
}

// Parts returns the parts of a Series that were complete before the mark. It must
// be called after Sync.
func (m *Mark) Parts() []Part { return partsOf(m.before) }

// Sum returns the hash of the file up to the offset that Sync returned: xxHash64
// in hex, or "" if there is none. It is meant for Options.Sum.
func (m *Mark) Sum() string { return m.sum }

// Records returns how many records of the open part of a Series are before the mark. It
// is 0 if the mark is between two parts.
func (m *Mark) Records() uint64 { return m.records }

func (m *Mark) failure() error {
	if m.w == nil {
		return nil
	}
	return m.w.failure()
}

// Sync waits until every record before the mark is in the file, their last frame is
// complete, and the file is durable: after any crash, Options.Resume can return to the
// offset. That is the length of the file at the mark, in bytes; in a Series, that of the
// open part, or 0 if the mark is between two parts.
func (m *Mark) Sync() (offset int64, err error) {
	<-m.written
	for _, v := range m.before {
		if <-v.done; v.err != nil {
			return 0, v.err
		}
	}
	if err := m.failure(); err != nil || m.w == nil {
		return m.offset, err
	}
	disk.Step("output.written")
	m.w.syncTo(m.offset)
	return m.offset, m.failure()
}

// syncTo makes the file durable up to an offset, unless it already is. Records may
// be written meanwhile.
func (w *Writer) syncTo(offset int64) {
	w.disk.Lock()
	defer w.disk.Unlock()
	if offset <= w.offset.Load() {
		return
	}
	if err := w.dest.sync(); err != nil {
		w.fail(err)
		return
	}
	w.offset.Store(offset)
}
