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

// Set reads a number with an optional k (thousand) or M (million) behind it, and pps.
func (r *Rate) Set(s string) error {
	v, err := scaled(strings.TrimSuffix(s, "pps"))
	if err != nil {
		return errors.New("want a number such as 800, 5k or 1.5M")
	}
	*r = Rate(v)
	return nil
}

// scaled reads a number with an optional k, K, M or G behind it.
func scaled(s string) (float64, error) {
	factor := 1.0
	if s != "" {
		switch s[len(s)-1] {
		case 'k', 'K':
			factor = 1e3
		case 'M':
			factor = 1e6
		case 'G':
			factor = 1e9
		}
	}
	if factor > 1 {
		s = s[:len(s)-1]
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 1) {
		return 0, errors.New("no such number")
	}
	return v * factor, nil
}

// Bandwidth is a flag's number of bits per second.
type Bandwidth float64

// wireBits is how many bits the longest request takes on Ethernet: 29 bytes, headers
// of UDP, IP and Ethernet, checksum, preamble and gap.
const wireBits = 8 * (29 + 8 + 20 + 18 + 20)

// Set reads a number such as 10M, and bps behind it.
func (b *Bandwidth) Set(s string) error {
	v, err := scaled(strings.TrimSuffix(s, "bps"))
	if err != nil || v < wireBits {
		return errors.New("want a number of bits per second such as 500k, 10M or 1G")
	}
	*b = Bandwidth(v)
	return nil
}

func (b *Bandwidth) String() string {
	if *b == 0 {
		return ""
	}
	return console.Short(float64(*b))
}

// Type is the word that stands for the value in the help.
func (b *Bandwidth) Type() string { return "BITS" }

// Rate is the rate that never takes more.
func (b Bandwidth) Rate() Rate { return Rate(float64(b) / wireBits) }

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
		return "as fast as possible"
	}
	return console.Short(float64(r)) + " datagrams per second"
}

// OrOff is a number of a Config in which 0 would mean the default.
func OrOff[T int | ~int64](n T) T {
	if n == 0 {
		return scanner.Off
	}
	return n
}
