package flagvalue

import (
	"errors"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Size is the value of a flag for a number of bytes, such as 500M or 4G.
type Size int64

// Set parses a number followed by k, M, G or T, which are powers of 1000.
func (s *Size) Set(text string) error {
	n, err := scaled(text)
	if err != nil || n < 1 || n > 1e15 {
		return errors.New("want a size such as 500M or 4G")
	}
	*s = Size(n)
	return nil
}

func (s *Size) String() string { return console.Bytes(uint64(max(*s, 0))) }

func (s *Size) Type() string { return "SIZE" }
