//go:build unix

package ledger

import (
	"runtime"
	"syscall"
)

// peakRSS returns the peak memory of this process in bytes, or 0 if the system does
// not report it.
func peakRSS() uint64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return uint64(u.Maxrss)
	}
	return uint64(u.Maxrss) << 10
}
