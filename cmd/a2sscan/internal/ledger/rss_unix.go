//go:build unix

package ledger

import (
	"runtime"
	"syscall"
)

// peakRSS is the most memory that this process had at once, in bytes; 0: the
// system does not tell.
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
