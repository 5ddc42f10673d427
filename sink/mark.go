package sink

// Mark is a place between two records of a census. A scan makes a mark where it
// takes a snapshot, continues, and later asks the mark for the length of the file
// at that place: what a checkpoint needs.
type Mark struct {
	w       *Writer
	written chan struct{} // closed when the file was written up to the mark
	offset  int64         // length of the file then
	sum     string        // its hash then

	// In a Series:
	before  []*volume // complete parts
	records uint64    // in the part that is open, before the mark
}

// Mark marks the place after all records that were written before. Like Write, it
// waits for the disk only if all blocks are full.
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

// Written waits until every record before the mark was written to the file, and
// their last frame has its end. It returns the length of the file then, in bytes.
// A crash of the machine may still lose them.
func (m *Mark) Written() (offset int64, err error) {
	<-m.written
	for _, v := range m.before {
		if <-v.done; v.err != nil {
			return 0, v.err
		}
	}
	return m.offset, m.failure()
}

// Parts are the parts of a Series that were complete before the mark. It is valid
// after Written.
func (m *Mark) Parts() []Part { return partsOf(m.before) }

// Sum returns the hash of the file up to the offset that Written returned, "" if
// there is none: xxHash64 in hex. Options.Sum compares it.
func (m *Mark) Sum() string { return m.sum }

// Records returns the number of records before the mark in its part of a Series;
// 0 between two parts.
func (m *Mark) Records() uint64 { return m.records }

func (m *Mark) failure() error {
	if m.w == nil {
		return nil
	}
	return m.w.failure()
}

// Sync is Written, and also makes the file durable: Options.Resume can return to
// its offset after any crash.
func (m *Mark) Sync() (offset int64, err error) {
	if _, err := m.Written(); err != nil {
		return 0, err
	}
	if m.w != nil {
		m.w.syncTo(m.offset)
	}
	return m.offset, m.failure()
}

// syncTo makes the file durable up to an offset, if it is not yet. Records may be
// written meanwhile.
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
