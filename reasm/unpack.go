package reasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"time"

	"github.com/dsnet/compress/bzip2"

	"github.com/a2sscan/a2sscan/wire"
)

// Our bounds of the work that one reply can make.
const (
	// unpackTime is a hundred times what a reply of some kilobytes takes.
	unpackTime = 20 * time.Millisecond
	// chunk is how much is unpacked between two looks at the clock. No
	// honest reply seen is as large, so a machine that is busy with other
	// things makes none of them a bad one.
	chunk = 64 << 10
)

// The form of a compressed reply, which is the protocol's and bzip2's and must
// not be changed.
const (
	packedHeader = 4 + 4   // declared size and CRC-32
	blockUnit    = 100_000 // bytes of a block for each step of the level
	streamMagic  = "BZh"   // and the level, a digit from 1 to 9
	blockMagic   = "\x31\x41\x59\x26\x53\x59"
	streamHeader = len(streamMagic) + 1
)

// Unpacker decompresses replies. It uses its memory, 10 MB at worst, for one
// after the other. The zero value is ready; it serves one goroutine.
type Unpacker struct {
	// Panics counts the replies on which the decompressor panicked, which
	// were reported as wire.ErrMalformed.
	Panics uint64

	zr   *bzip2.Reader
	in   []byte       // a copy of the bzip2 data, as its levels are lowered
	src  bytes.Reader // reads in
	more [1]byte
	now  func() time.Time // nil: time.Now
}

// Unpack appends to dst the message that is in packed, which is as Table.Add
// made it: declared size, CRC-32 (IEEE) of the message, bzip2 data (document
// 000). The errors, with which nothing is appended, are
//
//   - wire.ErrTooLarge: more than MaxReply is declared or was sent, which is
//     looked at before all else (EC-121); or after 20 ms it was not done, which
//     is looked at every 64 KiB
//   - wire.ErrChecksum: as many bytes as declared, but not those
//   - wire.ErrMalformed: no bzip2 data; more or fewer bytes than declared
//
// What stands behind the bzip2 data does not matter if the checksum is right.
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
	u.load(data, int(declared))
	msg, err := u.read(dst, int(declared))
	if err == nil && crc32.ChecksumIEEE(msg[len(dst):]) != sum {
		err = wire.ErrChecksum
	}
	if err != nil {
		return msg[:len(dst)], err
	}
	return msg, nil
}

// load readies the decompressor for data that claim to hold size bytes.
func (u *Unpacker) load(data []byte, size int) {
	u.in = append(u.in[:0], data...)
	lowerLevels(u.in, size)
	u.src.Reset(u.in)
	if u.zr == nil {
		u.zr = new(bzip2.Reader)
	}
	// Reset only notes where to read from and can't fail.
	_ = u.zr.Reset(&u.src)
}

// lowerLevels lowers the level of each bzip2 stream in data to what size bytes
// need. The decompressor works on a block at a time and can't be interrupted,
// but it refuses blocks that are larger than the level says.
//
// No stream that holds size bytes suffers. Before anything else bzip2 writes
// four equal bytes as five, the fifth saying how many more follow, so that
// a block of n bytes holds no fewer than n×4/5 when unpacked. No checksum covers
// the level. That other bytes than a stream's beginning look like one has a
// chance of 2^-76 each.
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
		if d := &data[at+streamHeader-1]; isLevel(*d) && (at == 0 || hasBlock(after)) {
			*d = min(*d, digit)
		}
	}
}

func isLevel(b byte) bool { return '1' <= b && b <= '9' }

func hasBlock(b []byte) bool { return bytes.HasPrefix(b, []byte(blockMagic)) }

// read appends size bytes of decompressed data to dst, and finds out that there
// are neither fewer nor more.
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

// abandon throws the decompressor away. One that still has output would give
// it out with the next reply: its Reset keeps that.
func (u *Unpacker) abandon() { u.zr = nil }

var errPanic = errors.New("the decompressor panicked")

// decompress reads into p. The decompressor was not written for bytes that are
// meant to harm it: should it panic, it is thrown away.
func (u *Unpacker) decompress(p []byte) (n int, err error) {
	defer func() {
		if recover() != nil {
			u.Panics++
			u.abandon()
			n, err = 0, errPanic
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
