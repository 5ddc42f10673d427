package thread

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestLower(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own := func() int {
		n, err := niceness(unix.Gettid())
		if err != nil {
			t.Error(err)
		}
		return n
	}
	before := own()
	lowered := make(chan [2]int)
	go func() {
		Lower()
		once := own()
		for range 5 { // until the niceness is at its maximum
			Lower()
		}
		lowered <- [2]int{once, own()}
	}()
	got := <-lowered
	if want := min(before+lower, nicest); got[0] != want || got[1] != nicest {
		t.Errorf("niceness %d, then %d; want %d, then %d", got[0], got[1], want, nicest)
	}
	runtime.GOMAXPROCS(1)
	alone := make(chan int)
	go func() {
		Lower()
		alone <- own()
	}()
	if got := <-alone; got != before {
		t.Errorf("niceness %d with one processor, want %d", got, before)
	}
	if after := own(); after != before {
		t.Errorf("niceness of another thread %d, was %d", after, before)
	}
}

// TestUsed: a thread that waits uses no processor time, and one that works does.
func TestUsed(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	from := Used()
	time.Sleep(50 * time.Millisecond)
	if used := Used() - from; used > 25*time.Millisecond {
		t.Errorf("%v used while the thread slept", used)
	}
	for from = Used(); Used()-from < time.Millisecond; { // ends only if the clock goes
	}
}
