// Package doctor checks whether a machine is ready for a scan.
package doctor

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Options describe the scan for which the machine should be ready.
type Options struct {
	Rate    float64 // datagrams per second; 0: no limit
	Timeout time.Duration
	Retries int
	Output  string // path; empty or "-": standard output
	Targets uint64 // number of targets; 0: unknown
}

// fastest is the rate, in datagrams per second, that the checks assume for a scan without
// a rate limit. No known machine has reached it.
const fastest = 1e6

// rate returns the rate that the checks assume, in datagrams per second.
func (o *Options) rate() float64 {
	if o.Rate == 0 {
		return fastest
	}
	return math.Min(o.Rate, 1e8)
}

func (o *Options) config() scanner.Config {
	c := scanner.Config{Rate: o.Rate, Timeout: o.Timeout, Attempts: 1 + o.Retries}
	if o.Rate == 0 {
		c.Rate = scanner.Off
	}
	return c
}

// Level is the severity of a finding.
type Level string

// These are the levels. Only Bad means that the machine is not ready.
const (
	OK      Level = "ok"
	Warning Level = "warning" // a scan will run but may lose something
	Bad     Level = "bad"     // a scan will not run, or will lose much
	Unknown Level = "unknown" // the check failed, or does not exist on this system
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"` // name of the check; names never change
	Level Level  `json:"level"`
	Found string `json:"found"`
	Need  string `json:"need,omitempty"` // how much a scan needs, and why
	// Mend has the commands that fix the problem. If there are two commands, the first acts at
	// once; the second makes the change permanent.
	Mend []string `json:"mend,omitempty"`

	// Measured is the number of datagrams per second that were sent and answered on
	// loopback, or 0 if it was not measured.
	Measured uint64 `json:"measured,omitempty"`
}

// Report is the result of all checks.
type Report struct {
	Schema   int       `json:"schema"`
	Ready    bool      `json:"ready"` // no finding is Bad
	Rate     *float64  `json:"rate"`  // datagrams per second; null: no limit
	Findings []Finding `json:"findings"`
}

// Text formats the report in lines of at most width columns.
func (r *Report) Text(o *Options, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "checked for this scan: %s, timeout %v, retries %d\n\n",
		console.PerSecond(o.Rate), o.Timeout, o.Retries)
	const column = 26 // where the text of a finding begins
	indent := strings.Repeat(" ", column)
	for _, f := range r.Findings {
		lines := console.Wrap(fmt.Sprintf("%-9s%-17s%s", f.Level, strings.ReplaceAll(f.Check, "_", " "), f.Found), width, column)
		if f.Level != OK && f.Need != "" {
			lines = append(lines, console.Wrap(indent+"needed: "+f.Need, width, column)...)
		}
		if len(f.Mend) > 0 {
			lines = append(lines, indent+"to fix it:")
		}
		for _, command := range f.Mend { // not wrapped, so that users can copy the command
			lines = append(lines, "    "+command)
		}
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	word := "ready"
	if !r.Ready {
		word = "not ready"
	}
	fmt.Fprintf(&b, "\n%s: %s\n", word, r.Count())
	return b.String()
}

// Count formats the number of findings of each level.
func (r *Report) Count() string {
	n := map[Level]int{}
	for _, f := range r.Findings {
		n[f.Level]++
	}
	return fmt.Sprintf("%d ok, %s, %d bad, %d unknown",
		n[OK], console.Plural(n[Warning], "warning"), n[Bad], n[Unknown])
}
