package census

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/a2sscan/a2sscan/sink/record"
)

// detailsAtOnce is how many servers' rules and mods are in memory at once, of each
// census. Those of more servers go to temporary files first.
const detailsAtOnce = 8_000

// details holds the rules and mods of the servers that need them, as their records
// have them: in groups, of which one is in memory.
type details struct {
	group map[uint64]uint32 // by address
	mu    sync.Mutex
	small map[uint64]detail // if there is one group
	files []*os.File
	out   []*bufio.Writer
}

// detail is the JSON of a server's rules and mods.
type detail struct{ rules, mods []byte }

// newDetails prepares for groups of servers.
func newDetails(dir string, groups int) (*details, error) {
	d := &details{group: map[uint64]uint32{}, small: map[uint64]detail{}}
	if groups < 2 {
		return d, nil
	}
	for range groups {
		f, err := os.CreateTemp(dir, "a2sscan-diff-")
		if err != nil {
			d.close()
			return nil, err
		}
		d.files, d.out = append(d.files, f), append(d.out, bufio.NewWriterSize(f, 64<<10))
	}
	return d, nil
}

// close removes the temporary files.
func (d *details) close() {
	for _, f := range d.files {
		f.Close()
		os.Remove(f.Name())
	}
}

// collect reads the census and keeps what the servers in d.group need.
func (d *details) collect(c *Census, t *table) error {
	if len(d.group) == 0 {
		return nil
	}
	err := c.eachBlock(func(_ int, block []byte) error {
		return eachLine(block, func(line []byte) error { return d.line(t, line) })
	})
	for _, w := range d.out {
		if bad := w.Flush(); err == nil {
			err = bad
		}
	}
	return err
}

func (d *details) line(t *table, line []byte) error {
	key, at := keyAndTime(line)
	group, ok := d.group[key]
	if !ok {
		return nil
	}
	if i, ok := t.index(key); !ok || t.rows[i].at != at {
		return nil // another record of the same address
	}
	one := detailOf(line)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files == nil {
		d.small[key] = detail{slices.Clone(one.rules), slices.Clone(one.mods)}
		return nil
	}
	return writeDetail(d.out[group], key, one)
}

// detailOf finds the rules and mods of a record.
func detailOf(line []byte) (one detail) {
	var c record.Cursor
	for c.Reset(line); c.Next(); {
		switch string(c.Key()) {
		case "rules":
			one.rules = c.Raw()
		case "game":
			for c.Enter(); c.Next(); {
				if string(c.Key()) == "mods" {
					one.mods = c.Raw()
				}
			}
		}
	}
	return one
}

func writeDetail(w *bufio.Writer, key uint64, one detail) error {
	var head [24]byte
	binary.LittleEndian.PutUint64(head[:], key)
	binary.LittleEndian.PutUint64(head[8:], uint64(len(one.rules)))
	binary.LittleEndian.PutUint64(head[16:], uint64(len(one.mods)))
	w.Write(head[:])
	w.Write(one.rules)
	_, err := w.Write(one.mods) // the first error of a Writer stays
	return err
}

// read returns a group.
func (d *details) read(group int) (map[uint64]detail, error) {
	if d.files == nil {
		return d.small, nil
	}
	f := d.files[group]
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	all := map[uint64]detail{}
	for in := bufio.NewReader(f); ; {
		var head [24]byte
		if _, err := io.ReadFull(in, head[:]); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		rules, mods := binary.LittleEndian.Uint64(head[8:]), binary.LittleEndian.Uint64(head[16:])
		body := make([]byte, rules+mods)
		if _, err := io.ReadFull(in, body); err != nil {
			return nil, err
		}
		all[binary.LittleEndian.Uint64(head[:])] = detail{body[:rules:rules], body[rules:]}
	}
}
