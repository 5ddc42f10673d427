//go:build !unix

package ledger

// peakRSS returns 0, because this system does not report the peak memory of a
// process.
func peakRSS() uint64 { return 0 }
