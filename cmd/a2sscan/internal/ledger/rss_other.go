//go:build !unix

package ledger

// peakRSS is the most memory that this process had at once, in bytes; 0: the
// system does not tell.
func peakRSS() uint64 { return 0 }
