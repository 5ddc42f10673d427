package udp

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// lower is added to the niceness of the thread, as nice(1) does by default. The thread
// then has a tenth of the weight of the others, so it runs late, but it always runs.
const lower = 10

// nicest is the highest possible niceness.
const nicest = 19

// LowerThread is for goroutines that can wait. In a scan one goroutine owns the socket;
// others make records, compress them and write them. Datagrams that wait in the socket are
// soon lost; records that wait in memory are not. With equal priorities the goroutine that
// owns the socket has to wait for the others, for a millisecond and more at a time, even
// while another processor is idle.
//
// LowerThread gives the calling goroutine a thread of its own and lowers the priority of
// that thread (nice(2)). The goroutine must end by returning, which also ends the
// thread, since the priority can't be raised again. If the system refuses, the
// priority stays the same. With one processor (GOMAXPROCS) LowerThread does nothing,
// because there every goroutine has to wait for the running goroutine anyway.
func LowerThread() {
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
// niceness, which is always positive.
func niceness(tid int) (int, error) {
	raised, err := unix.Getpriority(unix.PRIO_PROCESS, tid)
	return nicest + 1 - raised, err
}
