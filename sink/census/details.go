package census

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/a2sscan/a2sscan/sink/record"
)

// detailsAtOnce is the maximum number of servers, per census, whose rules and mods
// are in memory at once. If more are needed, all are written to temporary files
// first. A test changes it.
var detailsAtOnce = 8_000

// details holds the rules and mods of the servers for which they are needed. The
// servers are divided into groups, and only one group is in memory at a time.
type details struct {
	want  []wanted // by address
	mu    sync.Mutex
	small map[uint64]detail // all details, if there is only one group
	files []*os.File
	out   []*bufio.Writer
}

// wanted is a server whose rules and mods are needed, and the group that it is in.
type wanted struct {
	key   uint64
	group int32
}

// detail is the JSON of a server's rules and mods.
type detail struct{ rules, mods []byte }

// newDetails returns details for n servers in the given number of groups. If there
// are several groups, each has a temporary file in dir.
func newDetails(dir string, groups, n int) (*details, error) {
	d := &details{want: make([]wanted, 0, n), small: map[uint64]detail{}}
	if groups < 2 {
		return d, nil
	}
	for range groups {
		f, err := os.CreateTemp(dir, "a2sscan-diff-")
		if err != nil {
			d.close()
			return nil, err
		}
		d.files, d.out = append(d.files, f), append(d.out, bufio.NewWriterSize(f, 16<<10))
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

// add requests a server's rules and mods.
func (d *details) add(key uint64, group int32) { d.want = append(d.want, wanted{key, group}) }

// collect reads the census and keeps the rules and mods of the servers in d.want.
func (d *details) collect(c *Census, t *table) error {
	if len(d.want) == 0 {
		return nil
	}
	slices.SortFunc(d.want, func(a, b wanted) int { return cmp.Compare(a.key, b.key) })
	err := c.eachBlock(func(_ int, block []byte) error {
		return eachLine(block, func(line []byte) error { return d.line(t, line) })
	})
	for _, w := range d.out {
		if bad := w.Flush(); err == nil {
			err = bad
		}
	}
	d.want, d.out = nil, nil
	return err
}

func (d *details) line(t *table, line []byte) error {
	key, at := keyAndTime(line)
	n, ok := slices.BinarySearchFunc(d.want, key, func(w wanted, key uint64) int { return cmp.Compare(w.key, key) })
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
	return writeDetail(d.out[d.want[n].group], key, one)
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
	_, err := w.Write(one.mods) // a bufio.Writer keeps its first error
	return err
}

// read returns the details of a group, by address.
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
