package bench

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Usage is the processor time that a process has spent.
type Usage struct{ User, System time.Duration }

// Total returns the sum of user and system time.
func (u Usage) Total() time.Duration { return u.User + u.System }

func (u Usage) minus(v Usage) Usage { return Usage{u.User - v.User, u.System - v.System} }

// usage returns the processor time that this process has spent so far.
func usage() Usage {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic("bench: getrusage: " + err.Error()) // it has no way to fail
	}
	return Usage{time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano())}
}

// peakRSS returns the peak memory of this process in bytes. Linux resets it on
// exec, so a child's peak does not include its parent's.
func peakRSS() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kib int64
	if _, err := fmt.Sscanf(string(after), "%d kB", &kib); err != nil {
		return 0, fmt.Errorf("VmHWM in /proc/self/status: %w", err)
	}
	return kib << 10, nil
}
