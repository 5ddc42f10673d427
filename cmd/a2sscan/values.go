package main

import (
	"errors"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// rate is a flag's number of datagrams or targets: 800, 5k, 2.5M.
type rate float64

// Set reads a number with an optional k (thousand) or M (million) behind it.
func (r *rate) Set(s string) error {
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
	*r = rate(v * factor)
	return nil
}

func (r *rate) String() string { return console.Short(float64(*r)) }

// Type is the word that stands for the value in the help.
func (r *rate) Type() string { return "N" }

// limit is the rate as a Config has it, where 0 lifts the limit.
func (r rate) limit() float64 {
	if r == 0 {
		return scanner.Off
	}
	return float64(r)
}

// perSecond says a rate in words.
func perSecond(r rate) string {
	if r == 0 {
		return "as fast as it goes"
	}
	return console.Short(float64(r)) + " datagrams a second"
}

// orOff is a number of a Config in which 0 would mean the default.
func orOff[T int | ~int64](n T) T {
	if n == 0 {
		return scanner.Off
	}
	return n
}

// questions is a flag's set of questions: info,players,rules.
type questions scanner.Questions

// Set reads a list of questions.
func (q *questions) Set(s string) error {
	var set scanner.Questions
	for word := range strings.SplitSeq(s, ",") {
		one, ok := questionOf(word)
		if !ok {
			return errors.New("want one or more of info, players, rules with commas between them")
		}
		set |= one
	}
	*q = questions(set)
	return nil
}

func questionOf(word string) (scanner.Questions, bool) {
	for q := range wire.Question(wire.NumQuestions) {
		if q.String() == word {
			return 1 << q, true
		}
	}
	return 0, false
}

func (q *questions) String() string {
	var words []string
	for one := range wire.Question(wire.NumQuestions) {
		if scanner.Questions(*q).Has(one) {
			words = append(words, one.String())
		}
	}
	return strings.Join(words, ",")
}

// Type is the word that stands for the value in the help.
func (q *questions) Type() string { return "LIST" }

// source is a flag's address to send from: 192.0.2.1 or 192.0.2.1:40000.
type source netip.AddrPort

// Set reads an IPv4 address with or without a port.
func (s *source) Set(text string) error {
	if at, err := netip.ParseAddrPort(text); err == nil && at.Addr().Is4() {
		*s = source(at)
		return nil
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is4() {
		return errors.New("want an IPv4 address of this machine, with or without :PORT")
	}
	*s = source(netip.AddrPortFrom(addr, 0))
	return nil
}

func (s *source) String() string {
	at := netip.AddrPort(*s)
	switch {
	case !at.IsValid():
		return ""
	case at.Port() == 0:
		return at.Addr().String()
	}
	return at.String()
}

// Type is the word that stands for the value in the help.
func (s *source) Type() string { return "ADDR[:PORT]" }

func (s *source) addrPort() netip.AddrPort { return netip.AddrPort(*s) }

// failure is the error of a scan that got no socket, or could not begin for
// another reason.
func (s *source) failure(err error) *console.Failure {
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return console.Fail(console.ExitUsage, "--source %s: no address of this machine", s).
			WithHint("without --source the system chooses one")
	case errors.Is(err, syscall.EADDRINUSE):
		return console.Fail(console.ExitUsage, "--source %s: another program has the port", s).
			WithHint("without the port the system chooses one")
	case errors.Is(err, syscall.EACCES) && s.addrPort().Port() > 0:
		return console.Fail(console.ExitUsage, "--source %s: the port is not for everybody", s).
			WithHint("ports from 1024 on are, or leave the port away")
	}
	return console.Fail(console.ExitUsage, "%w", err).
		WithHint("a2sscan scan --help lists the flags with units and defaults")
}
