package list

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// asNobody runs f without root's right to read every file. It uses a new thread,
// whose file system user is nobody and which ends with f.
func asNobody(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()   // never unlocked: the thread ends with the goroutine
		_ = unix.Setfsuid(65534) // nobody; no effect unless root runs the test
		f()
	}()
	<-done
}
