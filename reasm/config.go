package reasm

import "time"

// MaxReply is the size of the largest reply that is put together or
// unpacked, in bytes.
const MaxReply = 512 << 10

// Config bounds a Table. The zero value of a field is its default.
type Config struct {
	MaxAge time.Duration // how long a group waits for its fragments
}

// Stats are the numbers of a Table. Groups, Fragments, Remembered and the
// bytes are of now; the others only grow.
type Stats struct {
	Groups     int   // replies that wait for fragments
	Fragments  int   // fragments held for them
	Remembered int   // finished replies whose late duplicates would be known
	Bytes      int64 // in use; what Table.Bytes returns
	IdleBytes  int64 // kept to be used again

	Whole     uint64 // replies put together
	Packed    uint64 // compressed replies put together
	Duplicate uint64 // fragments dropped: came before
	Conflict  uint64 // fragments dropped: contradict their group
	Malformed uint64 // fragments dropped: no fragments at all
	TooLarge  uint64 // fragments dropped: above a bound
	Evicted   uint64 // incomplete groups dropped to make room
	Expired   uint64 // incomplete groups dropped for their age
}
