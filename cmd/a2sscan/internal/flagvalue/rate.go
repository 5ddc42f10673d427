// Package flagvalue holds the values of flags: each reads its text and names its
// kind for the help.
package flagvalue

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Rate is a flag's number of datagrams or targets: 800, 5k, 2.5M.
type Rate float64

// Set reads a number with an optional k (thousand) or M (million) behind it.
func (r *Rate) Set(s string) error {
	digits, factor := s, 1.0
	switch {
	case strings.HasSuffix(s, "k"):
		digits, factor = strings.TrimSuffix(s, "k"), 1e3
	case strings.HasSuffix(s, "M"):
		digits, factor = strings.TrimSuffix(s, "M"), 1e6
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 1) {
		return errors.New("want a number such as 800, 5k or 1.5M")
	}
	*r = Rate(v * factor)
	return nil
}

func (r *Rate) String() string { return console.Short(float64(*r)) }

// Type is the word that stands for the value in the help.
func (r *Rate) Type() string { return "N" }

// Limit is the rate as a Config has it, where 0 lifts the limit.
func (r Rate) Limit() float64 {
	if r == 0 {
		return scanner.Off
	}
	return float64(r)
}

// PerSecond says a rate in words.
func PerSecond(r Rate) string {
	if r == 0 {
		return "as fast as it goes"
	}
	return console.Short(float64(r)) + " datagrams a second"
}

// OrOff is a number of a Config in which 0 would mean the default.
func OrOff[T int | ~int64](n T) T {
	if n == 0 {
		return scanner.Off
	}
	return n
}
