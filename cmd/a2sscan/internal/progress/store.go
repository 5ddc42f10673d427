package progress

import (
	"fmt"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Store is the progress of an upload to an object store. The parts that wait take space
// on this machine.
type Store struct {
	Waiting      int    `json:"waiting"`         // finished parts that have not arrived
	WaitingBytes int64  `json:"waiting_bytes"`   // size of these parts
	Arrived      int    `json:"arrived"`         // number of parts that have arrived
	Error        string `json:"error,omitempty"` // why the last upload failed
}

// line describes s for a status line. It returns "" if too little is waiting to be
// worth showing.
func (s *Store) line() string {
	if s == nil || s.Waiting == 0 || s.Error == "" && s.Waiting < 2 {
		return ""
	}
	return fmt.Sprintf(", %s (%s) for the store", console.Plural(s.Waiting, "part"), console.Bytes(uint64(s.WaitingBytes)))
}
