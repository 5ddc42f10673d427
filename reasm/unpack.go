package reasm

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"time"

	"github.com/dsnet/compress/bzip2"

	"github.com/a2sscan/a2sscan/wire"
)

// Our limits on the work for one reply.
const (
	// unpackTime is the maximum time for decompressing a reply. A reply of a few kilobytes
	// takes about a hundredth of this time.
	unpackTime = 20 * time.Millisecond
	// chunk is the number of bytes to decompress between two readings of the clock.
	// All known honest replies are smaller than one chunk, so a busy machine makes none
	// of them fail.
	chunk = 64 << 10
)

// The format of a compressed reply. It is defined by the protocol and by bzip2, and
// must not be changed.
const (
	packedHeader = 4 + 4   // declared size and CRC-32
	blockUnit    = 100_000 // a block of level n has at most n × blockUnit bytes
	streamMagic  = "BZh"   // followed by the level, a digit from 1 to 9
	blockMagic   = "\x31\x41\x59\x26\x53\x59"
	streamHeader = len(streamMagic) + 1
)

// Unpacker decompresses replies one after the other, with up to 10 MB of memory.
// The zero value is ready to use. An Unpacker serves one goroutine.
type Unpacker struct {
	zr *bzip2.Reader
	// A copy of the bzip2 data, in which Unpack lowers the levels.
	in   []byte
	src  bytes.Reader // reads u.in
	more [1]byte
	now  func() time.Time // nil means time.Now
}

// Unpack decompresses packed, which comes from Table.Add, and appends the message
// to dst. packed holds the declared size and the CRC-32 (IEEE) of the message, then
// bzip2 data (document 000). On an error Unpack appends nothing. The errors are
//
//   - wire.ErrTooLarge: the declared size or the compressed data exceed MaxReply (EC-121);
//     or the decompression took more than 20 ms. Unpack checks the sizes first, and the
//     time every 64 KiB.
//   - wire.ErrChecksum: the size is as declared, but the CRC-32 does not match
//   - wire.ErrMalformed: no bzip2 data, or more or fewer bytes than declared
//
// Bytes after the bzip2 data are ignored if the checksum is right.
func (u *Unpacker) Unpack(dst, packed []byte) ([]byte, error) {
	if len(packed) < packedHeader {
		return dst, wire.ErrMalformed
	}
	declared := binary.LittleEndian.Uint32(packed)
	sum := binary.LittleEndian.Uint32(packed[4:])
	data := packed[packedHeader:]
	if declared > MaxReply || len(data) > MaxReply {
		return dst, wire.ErrTooLarge
	}
	u.in = append(u.in[:0], data...)
	lowerLevels(u.in, int(declared))
	u.src.Reset(u.in)
	if u.zr == nil {
		u.zr = new(bzip2.Reader)
	}
	_ = u.zr.Reset(&u.src) // Reset only stores the reader and can't fail
	msg, err := u.read(dst, int(declared))
	if err == nil && crc32.ChecksumIEEE(msg[len(dst):]) != sum {
		err = wire.ErrChecksum
	}
	if err != nil {
		return msg[:len(dst)], err
	}
	return msg, nil
}

// Declared returns the size in bytes that a compressed reply declares for its message, but
// at most MaxReply. packed comes from Table.Add.
func Declared(packed []byte) int {
	if len(packed) < packedHeader {
		return 0
	}
	return int(min(binary.LittleEndian.Uint32(packed), MaxReply))
}

// lowerLevels lowers the level of each bzip2 stream in data, which limits the size of its
// blocks, to the lowest level that suffices for size bytes. The decompressor works on a
// block at a time and can't be interrupted, but it rejects blocks that exceed this limit.
//
// The lower level breaks no stream that decompresses to size bytes. bzip2 first encodes
// runs: after four equal bytes, a fifth byte is the number of further repetitions. So a
// block of n bytes decompresses to at least n×4/5 bytes. No checksum covers the level.
// Random bytes look like the beginning of a stream with a probability of 2^-76.
func lowerLevels(data []byte, size int) {
	block := (size*5 + 3) / 4
	level := max((block+blockUnit-1)/blockUnit, 1)
	digit := byte('0' + min(level, 9))
	for at := 0; ; at += streamHeader {
		i := bytes.Index(data[at:], []byte(streamMagic))
		if i < 0 || len(data)-at-i < streamHeader {
			return
		}
		at += i
		after := data[at+streamHeader:]
		if d := &data[at+streamHeader-1]; '1' <= *d && *d <= '9' && (at == 0 || bytes.HasPrefix(after, []byte(blockMagic))) {
			*d = min(*d, digit)
		}
	}
}

// read appends size bytes of decompressed data to dst. The error is wire.ErrMalformed
// if the data have fewer or more bytes, and wire.ErrTooLarge if the decompression took
// longer than unpackTime.
func (u *Unpacker) read(dst []byte, size int) ([]byte, error) {
	start := u.clock()
	for left := size; left > 0; {
		dst = slices.Grow(dst, min(left, chunk))
		n, err := u.decompress(dst[len(dst) : len(dst)+min(left, chunk)])
		if err != nil {
			return dst, wire.ErrMalformed
		}
		dst = dst[:len(dst)+n]
		left -= n
		if left > 0 && u.clock().Sub(start) > unpackTime {
			u.abandon()
			return dst, wire.ErrTooLarge
		}
	}
	if n, _ := u.decompress(u.more[:]); n > 0 {
		u.abandon()
		return dst, wire.ErrMalformed
	}
	return dst, nil
}

// abandon drops the decompressor. Resetting the decompressor is not enough, because it
// would keep unread output, which would become part of the next reply.
func (u *Unpacker) abandon() { u.zr = nil }

// decompress reads into p. Package bzip2 was not written for hostile data, so decompress
// recovers if the package panics, and then drops the decompressor.
func (u *Unpacker) decompress(p []byte) (n int, err error) {
	defer func() {
		if recover() != nil {
			u.abandon()
			n, err = 0, wire.ErrMalformed
		}
	}()
	return u.zr.Read(p)
}

func (u *Unpacker) clock() time.Time {
	if u.now != nil {
		return u.now()
	}
	return time.Now()
}
