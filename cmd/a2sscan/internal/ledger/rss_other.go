//go:build !unix

package ledger

// peakRSS is the peak memory of this process in bytes; 0: the system does not
// report it.
func peakRSS() uint64 { return 0 }
