package sink

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"
)

// sumText formats a hash as xxhsum -H64 prints it: xxHash64 with seed 0, in hex.
func sumText(d *xxhash.Digest) string { return fmt.Sprintf("%016x", d.Sum64()) }

// hashChunk is the number of bytes to read at a time from a file that is hashed.
const hashChunk = 1 << 20

// hash adds the first size bytes of the file to its hash.
func (out *output) hash(size int64, progress func(read, size int64)) error {
	return hashFile(out.sum, out, size, progress)
}

// hashFile adds the first size bytes of f to d. After each chunk it calls progress,
// unless that is nil.
func hashFile(d *xxhash.Digest, f io.ReaderAt, size int64, progress func(read, size int64)) error {
	b := make([]byte, min(size, hashChunk))
	for at := int64(0); at < size; {
		n, err := f.ReadAt(b[:min(size-at, hashChunk)], at)
		_, _ = d.Write(b[:n]) // it never fails
		at += int64(n)
		if err != nil && at < size {
			return err
		}
		if progress != nil {
			progress(at, size)
		}
	}
	return nil
}

// checkPart compares a part with the length and the hash in p. It is not an error
// if the part is gone: programs that upload parts remove them. progress must not be
// nil.
func checkPart(p *Part, progress func(read int64)) error {
	f, err := os.Open(p.Name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() != p.Bytes {
		return errors.Join(err, fmt.Errorf("%w: it has %d bytes, and had %d", ErrChanged, info.Size(), p.Bytes))
	}
	d := xxhash.New()
	err = hashFile(d, f, p.Bytes, func(read, _ int64) { progress(read) })
	if err == nil && p.Sum != "" && p.Sum != sumText(d) {
		err = fmt.Errorf("%w: it has xxh64 %s, and had %s", ErrChanged, sumText(d), p.Sum)
	}
	return err
}
