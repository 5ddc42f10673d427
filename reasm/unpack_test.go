package reasm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// packed compresses msg and returns what Table.Add would return for it.
func packed(msg []byte, level int) []byte {
	return declare(len(msg), msg, compress(msg, level))
}

// declare puts size and the CRC-32 of msg before data.
func declare(size int, msg, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(size))
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(msg))
	return append(b, data...)
}

// patient returns an Unpacker whose clock stands still.
func patient() *Unpacker {
	return &Unpacker{now: func() time.Time { return time.Time{} }}
}

// contents returns messages that are easy and hard to compress. Runs of four equal
// bytes are the worst for bzip2's first step, which turns each of them into five
// bytes.
func contents(n int) map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise, fours, zeros := make([]byte, n), make([]byte, n), make([]byte, n)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
		fours[i] = byte(i / 4 * 37)
	}
	return map[string][]byte{
		"noise": noise,
		"fours": fours,
		"zeros": zeros,
		"rules": rulesMessage(n)[:n],
	}
}

// Honest replies of all sizes are unpacked, whatever their level: lowering the
// level does not break any of them.
func TestUnpackHonest(t *testing.T) {
	for _, size := range []int{0, 1, 4, 5, 10_000} {
		for name, msg := range contents(size) {
			unpackHonest(t, name, msg, 1)
			unpackHonest(t, name, msg, 9)
		}
	}
	unpackHonest(t, "fours", contents(80_000)["fours"], 9)
	unpackHonest(t, "fours", contents(80_001)["fours"], 9)
	large := contents(MaxReply)
	unpackHonest(t, "fours", large["fours"], 9)
	unpackHonest(t, "zeros", large["zeros"], 9)
	unpackHonest(t, "rules", large["rules"], 1)
	// Compressed noise of 512 KiB would be larger than MaxReply.
	unpackHonest(t, "noise", large["noise"][:500_000], 9)
}

func unpackHonest(t *testing.T, name string, msg []byte, level int) {
	t.Helper()
	got, err := patient().Unpack([]byte("before"), packed(msg, level))
	if err != nil || string(got) != "before"+string(msg) {
		t.Errorf("%d bytes of %s, level %d: %d bytes, %v", len(msg), name, level, len(got), err)
	}
}

// Each stream's level is lowered to the lowest that suffices for the hardest
// message of its size, which consists of runs of four equal bytes.
func TestLowerLevels(t *testing.T) {
	for _, row := range []struct {
		size int
		in   string
		want string
	}{
		{0, "BZh9" + blockMagic, "BZh1" + blockMagic},
		{80_000, "BZh9" + blockMagic, "BZh1" + blockMagic},
		{80_001, "BZh9" + blockMagic, "BZh2" + blockMagic},
		{MaxReply, "BZh9" + blockMagic, "BZh7" + blockMagic},
		{MaxReply, "BZh3" + blockMagic, "BZh3" + blockMagic},
		{720_000, "BZh9" + blockMagic, "BZh9" + blockMagic},
		{1 << 30, "BZh9" + blockMagic, "BZh9" + blockMagic},
		{10, "BZh9 BZh9" + blockMagic, "BZh1 BZh1" + blockMagic},
		{10, "BZh1 BZh9 BZh9", "BZh1 BZh9 BZh9"},
		{10, "BZhx" + blockMagic, "BZhx" + blockMagic},
		{10, "BZh", "BZh"},
		{10, "BZh9BZh", "BZh1BZh"},
		{10, "", ""},
	} {
		b := []byte(row.in)
		if lowerLevels(b, row.size); string(b) != row.want {
			t.Errorf("%d, %q: got %q, want %q", row.size, row.in, b, row.want)
		}
	}
}

func TestUnpackErrors(t *testing.T) {
	msg := rulesMessage(5000)
	good := compress(msg, 9)
	wrong := slices.Clone(good)
	wrong[len(wrong)/2] ^= 0x10
	for _, row := range []struct {
		name string
		in   []byte
		want error
	}{
		{"EC-121 absurd size", declare(1<<31, nil, good), wire.ErrTooLarge},
		{"EC-121 one byte above the bound", declare(MaxReply+1, nil, good), wire.ErrTooLarge},
		{"EC-121 absurd size of no bzip2 data", declare(1<<31, nil, nil), wire.ErrTooLarge},
		{"more data than the bound", declare(10, nil, make([]byte, MaxReply+1)), wire.ErrTooLarge},
		{"a byte fewer than declared", declare(len(msg)+1, msg, good), wire.ErrMalformed},
		{"a byte more than declared", declare(len(msg)-1, msg, good), wire.ErrMalformed},
		{"checksum of something else", declare(len(msg), good, good), wire.ErrChecksum},
		{"a bit wrong", declare(len(msg), msg, wrong), wire.ErrMalformed},
		{"cut", declare(len(msg), msg, good[:len(good)-400]), wire.ErrMalformed},
		{"noise", declare(len(msg), msg, msg), wire.ErrMalformed},
		{"nothing", declare(len(msg), msg, nil), wire.ErrMalformed},
		{"header cut", declare(len(msg), msg, nil)[:7], wire.ErrMalformed},
		{"empty", nil, wire.ErrMalformed},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := patient().Unpack([]byte("before"), row.in)
			if err != row.want || string(got) != "before" {
				t.Errorf("%d bytes, %v; want %v", len(got), err, row.want)
			}
		})
	}
}

// Bytes after the data matter only if they are a stream that adds to the message.
func TestUnpackTail(t *testing.T) {
	msg := rulesMessage(3000)
	data := compress(msg, 9)
	half := slices.Concat(compress(msg[:2000], 9), compress(msg[2000:], 9))
	for name, row := range map[string]struct {
		data []byte
		want error
	}{
		"zeros":        {append(slices.Clone(data), 0, 0, 0), nil},
		"empty stream": {slices.Concat(data, compress(nil, 9)), nil},
		"two streams":  {half, nil},
		"more":         {slices.Concat(data, compress([]byte("x"), 9)), wire.ErrMalformed},
	} {
		got, err := patient().Unpack(nil, declare(len(msg), msg, row.data))
		if err != row.want || err == nil && !bytes.Equal(got, msg) {
			t.Errorf("%s: %d bytes, %v; want %v", name, len(got), err, row.want)
		}
	}
}

// EC-121: 5 MB compressed to a few bytes are not decompressed beyond the declared
// size.
func TestUnpackBomb(t *testing.T) {
	bomb := declare(MaxReply, nil, compress(make([]byte, 5_000_000), 9))
	got, err := patient().Unpack(nil, bomb)
	if err != wire.ErrMalformed || cap(got) > 2*MaxReply {
		t.Errorf("%d bytes, %v", cap(got), err)
	}
}

// A block that is larger than a reply of the declared size can have is refused
// before any of it is decompressed.
func TestUnpackLargeBlock(t *testing.T) {
	u := patient()
	_, err := u.Unpack(nil, declare(80_000, nil, compress(contents(100_000)["fours"], 9)))
	if err != wire.ErrMalformed || u.zr.OutputOffset != 0 {
		t.Errorf("%v after %d bytes", err, u.zr.OutputOffset)
	}
}

// The unread output of an abandoned reply does not become part of the next.
func TestUnpackAfterGivingUp(t *testing.T) {
	u := patient()
	msg := rulesMessage(3000)
	for range 2 {
		if _, err := u.Unpack(nil, declare(2000, nil, compress(msg, 9))); err != wire.ErrMalformed {
			t.Errorf("of too many bytes: %v", err)
		}
		if got, err := u.Unpack(nil, packed(msg, 9)); err != nil || !bytes.Equal(got, msg) {
			t.Errorf("after that: %d bytes, %v", len(got), err)
		}
	}
}

// A reply that takes too long is abandoned between two chunks; a reply of a single
// chunk never is.
func TestUnpackTime(t *testing.T) {
	now := time.Time{}
	u := Unpacker{now: func() time.Time {
		now = now.Add(unpackTime + 1)
		return now
	}}
	if _, err := u.Unpack(nil, packed(rulesMessage(200_000), 9)); err != wire.ErrTooLarge {
		t.Errorf("of several chunks: %v", err)
	}
	if _, err := u.Unpack(nil, packed(rulesMessage(60_000), 9)); err != nil {
		t.Errorf("of one chunk: %v", err)
	}
}

// If the decompressor panics, the reply counts as malformed, and the next one is
// unpacked as usual.
func TestUnpackPanic(t *testing.T) {
	var u Unpacker
	msg := rulesMessage(1000)
	if n, err := u.decompress(nil); n != 0 || err != wire.ErrMalformed {
		t.Errorf("without a decompressor: %d, %v", n, err)
	}
	if got, err := u.Unpack(nil, packed(msg, 9)); err != nil || !bytes.Equal(got, msg) {
		t.Errorf("after that: %d bytes, %v", len(got), err)
	}
}

func BenchmarkUnpack(b *testing.B) {
	for _, size := range []int{1 << 10, 4 << 10, 16 << 10, 64 << 10} {
		msg := rulesMessage(size)
		p := packed(msg, 9)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var u Unpacker
			dst := make([]byte, 0, 2*size)
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := u.Unpack(dst, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
