package sink

// Mark is a place between two records of a census. It goes with them to the
// file: whoever writes a checkpoint makes a mark where the checkpoint stands,
// goes on with other things, and asks the mark how long the file is there.
type Mark struct {
	w       *Writer
	written chan struct{} // closed when the file was written up to here
	offset  int64         // of the end of the record or frame before; then
	sum     string        // of the file up to there

	// In a Series:
	whole   []*volume // the parts before
	records uint64    // in the part that is open, before the mark
}

// Mark marks the place behind all records that were written before. It waits
// for the disk no more than Write does.
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

// Written returns when every record before the mark was written to the file
// and the frame ended that holds the last of them, and how long the file was
// then, in bytes. After a crash of the machine they may be lost.
func (m *Mark) Written() (offset int64, err error) {
	<-m.written
	for _, v := range m.whole {
		if <-v.done; v.err != nil {
			return 0, v.err
		}
	}
	return m.offset, m.failure()
}

// Parts are the parts of a Series that were whole before the mark, when
// Written returned.
func (m *Mark) Parts() []Part { return partsOf(m.whole) }

// Sum returns the hash of the file up to the offset that Written returned, or
// "" if there is none: xxHash64 in hex. Options.Sum compares it.
func (m *Mark) Sum() string { return m.sum }

// Records returns how many records are before the mark in the part of a Series
// that it is in; 0 if it is between two parts.
func (m *Mark) Records() uint64 { return m.records }

// Name is the file that the mark is in, as it is called now: a part that is
// written has PartSuffix. It is empty between two parts.
func (m *Mark) Name() string {
	if m.w == nil {
		return ""
	}
	return m.w.dest.name
}

func (m *Mark) failure() error {
	if m.w == nil {
		return nil
	}
	return m.w.failure()
}

// Sync is Written, and then the disk was told to keep it: what it returns can
// be named by a checkpoint and resumed with Options.Resume.
func (m *Mark) Sync() (offset int64, err error) {
	if _, err := m.Written(); err != nil {
		return 0, err
	}
	if m.w != nil {
		m.w.syncTo(m.offset)
	}
	return m.offset, m.failure()
}

// syncTo makes the file durable up to an offset, unless it is already.
// Records may be written meanwhile.
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
