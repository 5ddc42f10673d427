package flagvalue

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Share is the value of a flag for a fraction from 0 to 1.
type Share float64

// Set parses a percentage or a fraction, such as "2%" or "0.02".
func (s *Share) Set(text string) error {
	number, isPercent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if isPercent {
		v /= 100
	}
	if err != nil || math.IsNaN(v) || v < 0 || v > 1 {
		return errors.New("want a part of all such as 2% or 0.02")
	}
	*s = Share(v)
	return nil
}

// String returns the share as a percentage, or "" for 0, which means no limit.
func (s *Share) String() string {
	if *s == 0 {
		return ""
	}
	return console.ExactPercent(float64(*s))
}

func (s *Share) Type() string { return "SHARE" }
