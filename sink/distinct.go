package sink

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
)

// keyOf packs a scan number of 16 bits and a server's address and port into 64
// bits.
func keyOf(scan int, ip [4]byte, port uint16) uint64 {
	return uint64(scan)<<48 | uint64(binary.BigEndian.Uint32(ip[:]))<<16 | uint64(port)
}

// splitKey unpacks a key.
func splitKey(key uint64) (scan int, addr netip.AddrPort) {
	var ip [4]byte
	binary.BigEndian.PutUint32(ip[:], uint32(key>>16))
	return int(key >> 48), netip.AddrPortFrom(netip.AddrFrom4(ip), uint16(key))
}

// distinct finds the keys that occur more than once among any number of keys. It
// holds up to limit keys in memory. When they reach the limit, it sorts them and
// writes them to a temporary file; at the end it merges the files.
type distinct struct {
	keys  []uint64
	limit int
	runs  []*os.File
}

// keysHeld is the maximum number of keys held in memory, where they take 32 MiB.
const keysHeld = 4 << 20

func newDistinct() *distinct { return &distinct{limit: keysHeld} }

// add adds a key.
func (d *distinct) add(key uint64) error {
	d.keys = append(d.keys, key)
	if len(d.keys) < d.limit {
		return nil
	}
	if err := d.spill(); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// spill writes the keys in memory to a temporary file, sorted.
func (d *distinct) spill() error {
	slices.Sort(d.keys)
	f, err := os.CreateTemp("", "a2sscan-verify-*")
	if err != nil {
		return err
	}
	d.runs = append(d.runs, f)
	w := bufio.NewWriterSize(f, 1<<16)
	for _, key := range d.keys {
		if err := binary.Write(w, binary.BigEndian, key); err != nil {
			return err
		}
	}
	d.keys = d.keys[:0]
	return w.Flush()
}

// each calls do for every key that occurs more than once, in ascending order.
func (d *distinct) each(do func(key uint64, times int)) error {
	runs, err := d.sorted()
	var last uint64
	times := 0
	for err == nil && len(runs) > 0 {
		i := least(runs)
		if key := runs[i].key; key != last || times == 0 {
			if times > 1 {
				do(last, times)
			}
			last, times = key, 0
		}
		times++
		var more bool
		if more, err = runs[i].next(); !more {
			runs = slices.Delete(runs, i, i+1)
		}
	}
	if times > 1 {
		do(last, times)
	}
	return err
}

// sorted returns the runs that hold the keys, each positioned at its first key.
func (d *distinct) sorted() (runs []run, err error) {
	slices.Sort(d.keys)
	all := []run{{keys: d.keys}}
	for _, f := range d.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		all = append(all, run{in: bufio.NewReaderSize(f, 1<<16)})
	}
	for _, r := range all {
		more, err := r.next()
		if err != nil {
			return nil, err
		}
		if more {
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// least returns the index of the run with the lowest key.
func least(runs []run) (i int) {
	for j := range runs {
		if runs[j].key < runs[i].key {
			i = j
		}
	}
	return i
}

// run is a sorted part of the keys.
type run struct {
	key  uint64
	keys []uint64      // the keys after key, if they are in memory
	in   *bufio.Reader // the keys after key, if they are in a file
}

// next advances to the next key, and reports whether there is one.
func (r *run) next() (more bool, err error) {
	if r.in == nil {
		if len(r.keys) == 0 {
			return false, nil
		}
		r.key, r.keys = r.keys[0], r.keys[1:]
		return true, nil
	}
	var b [8]byte
	if _, err := io.ReadFull(r.in, b[:]); err != nil {
		if err == io.EOF {
			return false, nil
		}
		return false, err
	}
	r.key = binary.BigEndian.Uint64(b[:])
	return true, nil
}

// close removes the temporary files.
func (d *distinct) close() {
	for _, f := range d.runs {
		f.Close()
		os.Remove(f.Name())
	}
}
