package scanner

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/wire"
)

// submission returns what reasm.Table.Add returns for a compressed reply.
func submission(msg string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(msg)))
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(msg)))
	return append(b, bzipped(msg).Bytes()...)
}

// noise returns bytes that are hard to compress, and slow to decompress.
func noise(n int) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return string(b)
}

// pollUntil polls until done returns true.
func pollUntil(d *decompressor, done func() bool, f func(from ref, msg []byte, err error)) {
	for !done() {
		d.poll(f)
		runtime.Gosched()
	}
}

// Replies come back in order, each with its target and its message or error.
func TestDecompressor(t *testing.T) {
	d := newDecompressor(4 * minRoom)
	defer d.close()
	msgs := make([]string, 40)
	sent := make([][]byte, len(msgs))
	for i := range msgs {
		msgs[i] = manyRules(1 + 3*i)
		sent[i] = submission(msgs[i])
		if i%5 == 4 {
			sent[i][4] ^= 1 // in the checksum
		}
	}
	next, got := 0, 0
	pollUntil(d, func() bool {
		for next < len(sent) && d.submit(ref{int32(next), 7}, sent[next]) {
			next++
		}
		return got == len(sent)
	}, func(from ref, msg []byte, err error) {
		if from != (ref{int32(got), 7}) {
			t.Fatalf("reply %d is for target %v", got, from)
		}
		if want := msgs[got]; got%5 != 4 && (err != nil || string(msg) != want) {
			t.Errorf("reply %d: %d bytes, %v; want %d", got, len(msg), err, len(want))
		}
		if got%5 == 4 && (err != wire.ErrChecksum || len(msg) != 0) {
			t.Errorf("reply %d: %d bytes, %v", got, len(msg), err)
		}
		got++
	})
	if n := d.pending(); n != 0 {
		t.Errorf("%d pending", n)
	}
}

// The decompressor accepts only as many small replies as the queue has room for, until some
// are polled.
func TestDecompressorQueue(t *testing.T) {
	d := newDecompressor(3 * minRoom)
	defer d.close()
	reply := submission(manyRules(5))
	for i := range 5 {
		if took := d.submit(ref{slot: int32(i)}, reply); took != (i < 3) {
			t.Errorf("reply %d taken: %v", i, took)
		}
	}
	if n := d.pending(); n != 3 {
		t.Errorf("%d pending", n)
	}
	again := 0
	pollUntil(d, func() bool {
		return again == 3 && d.pending() == 0
	}, func(from ref, _ []byte, _ error) {
		if from.slot >= 3 {
			return
		}
		again++
		if !d.submit(ref{slot: from.slot + 10}, reply) {
			t.Errorf("reply %d not taken from within poll", from.slot)
		}
	})
}

// A large reply takes as much room as it has bytes and declares for its message. The queue
// has room for the replies of thousands of honest servers at the same time, or for few large
// ones.
func TestDecompressorRoom(t *testing.T) {
	accepted := func(reply []byte) (n int) {
		d := newDecompressor(unpackRoom)
		defer d.close()
		for d.submit(ref{}, reply) {
			n++
		}
		return n
	}
	if n := accepted(submission(manyRules(200))); n < 2_000 {
		t.Errorf("room for %d honest replies", n)
	}
	bomb := submission(strings.Repeat("0", reasm.MaxReply))
	if n := accepted(bomb); n < 100 || n > unpackRoom/reasm.MaxReply {
		t.Errorf("room for %d bombs", n)
	}
}

// close ends the goroutine, whatever it is doing, and may be called twice.
func TestDecompressorClose(t *testing.T) {
	bomb := submission(noise(100_000))
	bomb[4] ^= 1 // in the checksum: every reply has an error
	for range 3 {
		d := newDecompressor(2 << 20)
		for range 8 {
			d.submit(ref{}, bomb)
		}
		d.close()
		select {
		case <-d.ended:
		default:
			t.Error("the goroutine runs after close")
		}
		d.close()
		if d.submit(ref{}, bomb) {
			t.Error("taken after close")
		}
		d.poll(func(_ ref, _ []byte, err error) {
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

// The decompressor rests after a slow reply; half a megabyte of noise is slow on any
// machine.
func TestDecompressorRests(t *testing.T) {
	rests := make(chan time.Duration, 2)
	d := newDecompressor(2 * 2 * reasm.MaxReply)
	d.pause = func(rest time.Duration) { rests <- rest }
	d.submit(ref{}, submission(noise(500_000)))
	pollUntil(d, func() bool {
		return d.pending() == 0
	}, func(ref, []byte, error) {})
	d.close()
	if len(rests) != 1 {
		t.Fatalf("%d rests", len(rests))
	}
	if rest := <-rests; rest < restFactor*briskTime {
		t.Errorf("a rest of %v", rest)
	}
}
