package sink

import "github.com/a2sscan/a2sscan/sink/disk"

// Position is a place between two records of a census. All bytes before it are durable.
type Position struct {
	// Offset is the number of bytes before this place: in the file or, if the census is
	// divided, in the part after those in Parts.
	Offset  int64  `json:"offset"`
	Sum     string `json:"xxh64,omitempty"` // xxHash64 of these bytes in hex, or empty if unknown
	Parts   []Part `json:"parts,omitempty"`
	Records uint64 `json:"records,omitempty"` // number of the scan's records in these bytes
}

// Mark is a place between two records of a census. The bytes before it need not be
// durable yet: Mark.Sync waits for that, and returns the Position.
type Mark struct {
	w       *Output
	written chan struct{} // closed when the files have been written up to the mark
	before  []*file       // the complete parts
	in      *file         // the file after the complete parts, or nil if the mark is between two parts
	at      Position      // the position in this file, without Parts
}

// Mark marks the place after all records written so far. Like Write, it waits for the
// disk only if all blocks are full.
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

// Sync waits until every record before the mark is in its file, the last frame is
// complete, and the files are durable. From then on, Options.Resume can return to the
// Position, even after a crash.
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

// Commit renames the parts that were complete at the mark to their final names. See
// Rotation.Hold.
func (m *Mark) Commit() error { return commit(m.before) }
