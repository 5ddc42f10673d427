package thread

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Lower gives the calling goroutine a thread of its own and lowers its
// priority (nice(2)). It is for goroutines that end by returning: the thread
// ends with them, since its priority can't be raised again. A system that
// refuses leaves the priority as it is. A program that has one processor only
// (GOMAXPROCS) is left alone: there the others wait for whoever has it.
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

// niceness returns how nice a thread is. The system call adds to it what makes
// all values positive.
func niceness(tid int) (int, error) {
	raised, err := unix.Getpriority(unix.PRIO_PROCESS, tid)
	return nicest + 1 - raised, err
}
