// Package flagvalue has the types of flag values. The method Set of each type parses a
// string, and Type returns the placeholder of the value in the help.
package flagvalue

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Rate is the value of a flag for a number of datagrams per second, such as 800, 5k
// or 2.5M; 0 means no limit.
type Rate float64

// Set parses a number, which may be followed by k, K (thousand), M (million) or G
// (billion), and then by pps.
func (r *Rate) Set(s string) error {
	v, err := scaled(strings.TrimSuffix(s, "pps"))
	if err != nil {
		return errors.New("want a number such as 800, 5k or 1.5M")
	}
	*r = Rate(v)
	return nil
}

// AutoRate is the value of a flag for a Rate, or "auto" for the rate that the path
// carries, which may be followed by a highest rate, as in auto:20k.
type AutoRate struct {
	Rate Rate // with On: the highest rate
	On   bool // the value is "auto"
}

// Set parses "auto", "auto:N", or whatever Rate.Set accepts.
func (r *AutoRate) Set(s string) error {
	word, most, given := strings.Cut(s, ":")
	if word != autoWord {
		*r = AutoRate{}
		if r.Rate.Set(s) != nil {
			return errors.New("want auto, auto:20k, or a number such as 800, 5k or 1.5M")
		}
		return nil
	}
	*r = AutoRate{Rate: scanner.DefaultMostRate, On: true}
	if given && (r.Rate.Set(most) != nil || r.Rate == 0) {
		return errors.New("after auto: want the highest rate, such as auto:20k")
	}
	return nil
}

func (r *AutoRate) String() string {
	switch {
	case !r.On:
		return r.Rate.String()
	case r.Rate == scanner.DefaultMostRate:
		return autoWord
	}
	return autoWord + ":" + r.Rate.String()
}

func (r *AutoRate) Type() string { return "N" }

// scaled parses a number that is not negative and may be followed by k, K, M, G or T, which are powers
// of 1000.
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
		case 'T':
			factor = 1e12
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

// Bandwidth is the value of a flag for a number of bits per second.
type Bandwidth float64

// wireBits is how many bits the longest request takes on Ethernet: 29 bytes of
// payload, the headers of UDP, IP and Ethernet, the checksum, the preamble and the
// interframe gap.
const wireBits = 8 * (29 + 8 + 20 + 18 + 20)

// Set parses a number such as 10M, which may be followed by bps.
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

func (b *Bandwidth) Type() string { return "BITS" }

// Rate returns the rate at which even the longest requests do not exceed the
// bandwidth.
func (b Bandwidth) Rate() Rate { return Rate(float64(b) / wireBits) }

func (r *Rate) String() string { return console.Short(float64(*r)) }

func (r *Rate) Type() string { return "N" }

// Limit converts the rate for scanner.Config. In a flag, 0 means no limit; in a
// Config it means the default.
func (r Rate) Limit() float64 {
	if r == 0 {
		return scanner.Off
	}
	return float64(r)
}

// OrOff converts a number for scanner.Config. It returns scanner.Off for 0, because
// 0 would mean the default there.
func OrOff[T int | ~int64](n T) T {
	if n == 0 {
		return scanner.Off
	}
	return n
}
