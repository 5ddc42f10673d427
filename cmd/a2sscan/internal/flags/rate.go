package flags

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// Value is a flag value of any type. Parse converts the text that the user typed.
type Value[T any] struct {
	To    *T
	Parse func(text string) (T, error)
	Text  string // what the user typed; at first, the default
	Word  string // placeholder in the help; empty: the flag's help text has the placeholder
}

// Set parses text and stores the result in v.To.
func (v *Value[T]) Set(text string) (err error) {
	*v.To, err = v.Parse(text)
	v.Text = text
	return err
}

func (v *Value[T]) String() string { return v.Text }

// Type returns the placeholder for the value in the help.
func (v *Value[T]) Type() string { return cmp.Or(v.Word, "VALUE") }

// Rate is the value of a flag for a number of datagrams per second, such as 800, 5k
// or 2.5M; 0 means no limit.
type Rate float64

// Set parses a number, which may be followed by k, K, M, G or T (powers of 1000), and then
// by pps.
func (r *Rate) Set(s string) error {
	v, err := scaled(strings.TrimSuffix(s, "pps"))
	if err != nil {
		return errors.New("use a number such as 800, 5k or 1.5M")
	}
	*r = Rate(v)
	return nil
}

func (r *Rate) String() string { return console.Short(float64(*r)) }

func (r *Rate) Type() string { return "N" }

// Limit converts the rate for scanner.Config. In a flag, 0 means no limit; in a
// Config, 0 means the default.
func (r Rate) Limit() float64 {
	if r == 0 {
		return scanner.Off
	}
	return float64(r)
}

// AutoRate is the value of a flag that is a Rate or "auto". With "auto", the scan finds
// the rate itself. A maximum may follow "auto", as in auto:20k.
type AutoRate struct {
	Rate Rate // if On is set, the highest rate
	On   bool // the value is "auto"
}

// Set parses "auto", "auto:N", or whatever Rate.Set accepts.
func (r *AutoRate) Set(s string) error {
	word, most, given := strings.Cut(s, ":")
	if word != autoWord {
		*r = AutoRate{}
		if r.Rate.Set(s) != nil {
			return errors.New("use auto, auto:20k, or a number such as 800, 5k or 1.5M")
		}
		return nil
	}
	*r = AutoRate{Rate: scanner.DefaultMostRate, On: true}
	if given && (r.Rate.Set(most) != nil || r.Rate == 0) {
		return errors.New("use a maximum rate after the colon, such as auto:20k")
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

// scaled parses a number that is not negative and may be followed by k, K, M, G or T,
// which are powers of 1000.
func scaled(s string) (float64, error) {
	factor := 1.0
	for unit, n := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12} {
		if number, found := strings.CutSuffix(s, unit); found {
			s, factor = number, n
			break
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 1) {
		return 0, errors.New("no such number")
	}
	return v * factor, nil
}

// wireBits is the number of bits that the longest request takes on Ethernet: 29 bytes of
// payload, the headers of UDP, IP and Ethernet, the checksum, the preamble and the
// interframe gap.
const wireBits = 8 * (29 + 8 + 20 + 18 + 20)

// ParseBandwidth parses a number of bits per second such as 10M, which may be followed by
// bps. It returns the highest rate at which a stream of the longest requests needs no
// more than this bandwidth.
func ParseBandwidth(s string) (Rate, error) {
	v, err := scaled(strings.TrimSuffix(s, "bps"))
	if err != nil || v < wireBits {
		return 0, errors.New("use a number of bits per second such as 500k, 10M or 1G")
	}
	return Rate(v / wireBits), nil
}

// ParseShare parses a percentage or a fraction, such as "2%" or "0.02".
func ParseShare(text string) (float64, error) {
	number, isPercent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if isPercent {
		v /= 100
	}
	if err != nil || math.IsNaN(v) || v < 0 || v > 1 {
		return 0, errors.New("use a share such as 2% or 0.02")
	}
	return v, nil
}

// minPartSize and minPartTime are the minimum size in bytes and the minimum duration of a
// part of a census. Smaller parts would have only a few records each.
const (
	minPartSize = 100_000
	minPartTime = time.Second
)

// ParseRotation parses the duration or the size after which a part of a census ends: 1h,
// 256M or 1G. k, M, G and T are powers of 1000.
func ParseRotation(s string) (sink.Rotation, error) {
	if every, err := time.ParseDuration(s); err == nil && every >= minPartTime {
		return sink.Rotation{Every: every}, nil
	}
	n, err := scaled(s)
	if err != nil || n < minPartSize || n > 1e15 {
		return sink.Rotation{}, errors.New("use a size of at least 100k, such as 256M or 1G, or a time of at least 1s, such as 1h")
	}
	return sink.Rotation{Size: int64(n)}, nil
}

// Auto is a duration, or "auto" to let the scan choose the duration.
type Auto struct {
	D  time.Duration
	On bool // the value is "auto"
}

const autoWord = "auto"

// Set parses a duration or "auto".
func (a *Auto) Set(s string) error {
	if s == autoWord {
		*a = Auto{On: true}
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return err
	}
	*a = Auto{D: d}
	return nil
}

// String returns the value in the form that Set parses.
func (a *Auto) String() string {
	if a.On {
		return autoWord
	}
	return a.D.String()
}

func (a *Auto) Type() string { return "auto|D" }

// Or returns its argument if the value is "auto", and otherwise the duration.
func (a *Auto) Or(auto time.Duration) time.Duration {
	if a.On {
		return auto
	}
	return a.D
}
