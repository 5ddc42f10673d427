package reasm

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// pollUntil polls till done reports true.
func pollUntil(
	w *Worker, done func() bool, f func(tag uint64, packed, msg []byte, err error),
) {
	for !done() {
		w.Poll(f)
		runtime.Gosched()
	}
}

// Replies come back in order, each with its tag, its message or error, and the
// slice that was submitted.
func TestWorker(t *testing.T) {
	w := NewWorker(4)
	defer w.Close()
	msgs := make([][]byte, 40)
	sent := make([][]byte, len(msgs))
	for i := range msgs {
		msgs[i] = rulesMessage(100 + 50*i)
		sent[i] = packed(msgs[i], 9)
		if i%5 == 4 {
			sent[i][4] ^= 1
		}
	}
	next, got := 0, 0
	pollUntil(w, func() bool {
		for next < len(sent) && w.Submit(uint64(next), sent[next]) {
			next++
		}
		return got == len(sent)
	}, func(tag uint64, packed, msg []byte, err error) {
		if tag != uint64(got) || &packed[0] != &sent[got][0] {
			t.Fatalf("reply %d has tag %d", got, tag)
		}
		if want := msgs[got]; got%5 != 4 && (err != nil || !bytes.Equal(msg, want)) {
			t.Errorf("reply %d: %d bytes, %v; want %d", got, len(msg), err, len(want))
		}
		if got%5 == 4 && (err != wire.ErrChecksum || len(msg) != 0) {
			t.Errorf("reply %d: %d bytes, %v", got, len(msg), err)
		}
		got++
	})
	if n := w.Pending(); n != 0 {
		t.Errorf("%d pending", n)
	}
}

// The Worker accepts only as many replies as the queue has room for, until some are
// polled.
func TestWorkerQueue(t *testing.T) {
	w := NewWorker(3)
	defer w.Close()
	p := packed(rulesMessage(100), 9)
	for i := range 5 {
		if took := w.Submit(uint64(i), p); took != (i < 3) {
			t.Errorf("reply %d taken: %v", i, took)
		}
	}
	if n := w.Pending(); n != 3 {
		t.Errorf("%d pending", n)
	}
	again := 0
	pollUntil(w, func() bool {
		return again == 3 && w.Pending() == 0
	}, func(tag uint64, packed, _ []byte, _ error) {
		if tag >= 3 {
			return
		}
		again++
		if !w.Submit(tag+10, packed) {
			t.Errorf("reply %d not taken from within Poll", tag)
		}
	})
}

// Close ends the goroutine, whatever it is doing, and may be called twice.
func TestWorkerClose(t *testing.T) {
	bomb := declare(MaxReply, nil, compress(contents(100_000)["noise"], 9))
	for range 3 {
		w := NewWorker(8)
		for i := range 8 {
			w.Submit(uint64(i), bomb)
		}
		w.Close()
		select {
		case <-w.ended:
		default:
			t.Error("the goroutine runs after Close")
		}
		w.Close()
		if w.Submit(9, bomb) {
			t.Error("taken after Close")
		}
		w.Poll(func(_ uint64, _, _ []byte, err error) {
			if err == nil {
				t.Error("no error")
			}
		})
	}
	w := NewWorker(0)
	w.Close()
	if w.Submit(0, bomb) {
		t.Error("an empty queue took a reply after Close")
	}
}

// The Worker rests after a slow reply; half a megabyte of noise is slow on any
// machine.
func TestWorkerRests(t *testing.T) {
	rests := make(chan time.Duration, 2)
	w := NewWorker(2)
	w.pause = func(d time.Duration) { rests <- d }
	w.Submit(0, packed(contents(500_000)["noise"], 9))
	pollUntil(w, func() bool {
		return w.Pending() == 0
	}, func(uint64, []byte, []byte, error) {})
	w.Close()
	if len(rests) != 1 {
		t.Fatalf("%d rests", len(rests))
	}
	if d := <-rests; d < restFactor*briskTime {
		t.Errorf("a rest of %v", d)
	}
}
