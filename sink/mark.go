package sink

import "github.com/a2sscan/a2sscan/sink/disk"

// Position is a place between two records of a census, up to which it is durable.
type Position struct {
	// The length in bytes up to this place: of the file or, in a census of parts, of the
	// part that follows Parts.
	Offset  int64  `json:"offset"`
	Sum     string `json:"xxh64,omitempty"` // xxHash64 of these bytes in hex, or empty if unknown
	Parts   []Part `json:"parts,omitempty"`
	Records uint64 `json:"records,omitempty"` // number of records in these bytes
}

// Mark is a place between two records of a census. A scan makes a mark when it takes a
// snapshot, and continues. Later, for a checkpoint, it asks the mark for the Position.
type Mark struct {
	w       *Output
	written chan struct{} // closed when the files have been written up to the mark
	before  []*file       // the complete parts
	in      *file         // the file after the complete parts, or nil if the mark is between two parts
	at      Position      // the position in this file, without Parts
}

// Mark marks the position after all records written so far. Like Write, it waits
// for the disk only if all blocks are full.
func (w *Output) Mark() (*Mark, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.writable(); err != nil {
		return nil, err
	}
	m := &Mark{w: w, written: make(chan struct{})}
	w.handOver(job{end: true, mark: m})
	return m, nil
}

// Sync waits until every record before the mark is in its file, the last frame of which
// is complete, and the files are durable: after any crash, Options.Resume can return to
// the position.
func (m *Mark) Sync() (Position, error) {
	<-m.written
	for _, f := range m.before {
		if <-f.done; f.err != nil {
			return Position{}, f.err
		}
	}
	at := m.at
	at.Parts = partsOf(m.before)
	if err := m.w.Err(); err != nil || m.in == nil {
		return at, err
	}
	disk.Step("output.written")
	m.w.fail(m.in.syncTo(at.Offset))
	return at, m.w.Err()
}

// Commit gives the parts that were complete at the mark their final names. See
// Rotation.Hold.
func (m *Mark) Commit() error { return commit(m.before) }
