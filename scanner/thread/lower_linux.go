package thread

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Lower gives the calling goroutine a thread of its own and lowers the priority of that
// thread (nice(2)). The priority can't be raised again, so the goroutine must end by
// returning, which also ends the thread. If the system refuses, the priority stays the
// same. With one processor (GOMAXPROCS) Lower does nothing, because there every goroutine
// has to wait for the running goroutine anyway.
func Lower() {
	if runtime.GOMAXPROCS(0) == 1 {
		return
	}
	runtime.LockOSThread()
	tid := unix.Gettid()
	if nice, err := niceness(tid); err == nil {
		unix.Setpriority(unix.PRIO_PROCESS, tid, min(nice+lower, nicest))
	}
}

// niceness returns the niceness of a thread. The system call returns 20 minus the
// niceness, so that its result is positive.
func niceness(tid int) (int, error) {
	raised, err := unix.Getpriority(unix.PRIO_PROCESS, tid)
	return nicest + 1 - raised, err
}

// Used returns the processor time that the calling thread has used. This time does not
// advance while the thread waits for a processor. The goroutine must be locked to its
// thread.
func Used() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
