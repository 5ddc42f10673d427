package flagvalue

import (
	"errors"
	"strconv"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Size is the value of a flag for a number of bytes, such as 500M or 4G.
type Size int64

var errSize = errors.New("want a size such as 500M or 4G")

// Set parses a number followed by k, M, G or T, which are powers of 1000.
func (s *Size) Set(text string) error {
	n, err := parseSize(text)
	if err != nil {
		return errSize
	}
	*s = Size(n)
	return nil
}

// parseSize parses a number with its unit and returns the number of bytes.
func parseSize(text string) (int64, error) {
	factors := map[byte]float64{'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}
	if text == "" || factors[text[len(text)-1]] == 0 {
		return 0, errSize
	}
	n, err := strconv.ParseFloat(text[:len(text)-1], 64)
	if n *= factors[text[len(text)-1]]; err != nil || !(n >= 1 && n <= 1e15) {
		return 0, errSize
	}
	return int64(n), nil
}

func (s *Size) String() string { return console.Bytes(uint64(max(*s, 0))) }

// Type returns the placeholder of the value in the help.
func (s *Size) Type() string { return "SIZE" }
