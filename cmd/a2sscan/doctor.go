package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/scanner"
)

// doctorFlags are the flags of doctor: what a scan is to be like.
type doctorFlags struct {
	timeoutFlags
	rate    flagvalue.Rate
	output  string
	targets uint64
	source  flagvalue.Source
	json    bool
}

func (a *app) doctorCommand() *cobra.Command {
	f := &doctorFlags{rate: scanner.DefaultRate}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say whether this machine is ready for a scan, and what to change",
		Long: `Looks at what a scan needs of this machine: buffers that the kernel grants,
connection tracking, fragments, files, memory, processors, the clock, the disk,
the address to send from. What falls short is said with the reason and the
command that mends it. Nothing is changed and nothing is sent.

The flags are those of scan: a higher --rate needs more. What other machines on
the way allow, such as a home router's table of connections, can't be seen here.

The exit code is 0 if the machine is ready, with warnings too, and 5 if
something is bad.`,
		Example: `  a2sscan doctor
  a2sscan doctor -r 100k -n 5000000 -o /data/census.ndjson.zst
  a2sscan doctor -r 20k --json | jq '.findings[] | select(.level != "ok")'`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.doctor(f, thisMachine())
		},
	}
	f.add(cmd)
	return cmd
}

func (f *doctorFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.VarP(&f.rate, "rate", "r", "datagrams a second, k and M are understood; 0: as fast as it goes")
	f.timeoutFlags.add(cmd)
	fs.StringVarP(&f.output, "output", "o", "", "the `PATH` that records would go to, for its disk (default: the working directory's)")
	fs.Uint64VarP(&f.targets, "max-targets", "n", 0, "`N` targets there would be; 0: not known (default 0)")
	fs.Var(&f.source, "source", "address of this machine to send from (default: the system's choice)")
	fs.BoolVar(&f.json, "json", false, "print one JSON object")
}

// fastest stands for a scan without a limit: more than this no machine that we
// know has reached.
const fastest = 1e6

// perSecond is the rate in datagrams a second, for reckoning.
func (f *doctorFlags) perSecond() float64 {
	if f.rate == 0 {
		return fastest
	}
	return math.Min(float64(f.rate), 1e8)
}

// dir is the directory that the output is in.
func (f *doctorFlags) dir() string {
	if f.output == "" || f.output == "-" {
		return "."
	}
	return filepath.Dir(f.output)
}

// level says how bad a finding is.
type level string

// The levels. Only a bad one makes the machine unready.
const (
	levelOK      level = "ok"
	levelWarning level = "warning" // a scan will run, and may lose something
	levelBad     level = "bad"     // a scan will not run, or lose much
	levelUnknown level = "unknown" // can't be seen, or is not there on this system
)

// finding is what one look at the machine came to.
type finding struct {
	Check string   `json:"check"` // fixed word
	Level level    `json:"level"`
	Found string   `json:"found"`
	Need  string   `json:"need,omitempty"` // how much is needed, and why
	Mend  []string `json:"mend,omitempty"` // commands; of two the second makes it last
}

// report is what doctor prints.
type report struct {
	Schema   int       `json:"schema"`
	Ready    bool      `json:"ready"` // nothing is bad
	Rate     *float64  `json:"rate"`  // datagrams a second; null: as fast as it goes
	Findings []finding `json:"findings"`
}

// doctor examines a machine, prints what it found, and chooses the exit code.
func (a *app) doctor(f *doctorFlags, m *machine) error {
	r := m.examine(f)
	if f.json {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		enc.Encode(r) // an error of writing is the output's, which run says
	} else {
		io.WriteString(a.out, r.text(f, a.width()))
	}
	if r.Ready {
		return nil
	}
	bad := console.Fail(console.ExitGuard, "not ready: %s", r.count())
	bad.Reported = !f.json
	return bad
}

// text is the report for a person.
func (r *report) text(f *doctorFlags, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a scan with %s, timeout %v, retries %d would find here:\n\n", flagvalue.PerSecond(f.rate), f.timeout, f.retries)
	for _, one := range r.Findings {
		b.WriteString(one.text(width))
	}
	word := "ready"
	if !r.Ready {
		word = "not ready"
	}
	fmt.Fprintf(&b, "\n%s: %s\n", word, r.count())
	return b.String()
}

// Columns of a finding.
const (
	levelColumn = 9
	foundColumn = levelColumn + 17
)

func (f *finding) text(width int) string {
	head := fmt.Sprintf("%-*s%-*s%s", levelColumn, f.Level, foundColumn-levelColumn,
		strings.ReplaceAll(f.Check, "_", " "), f.Found)
	lines := console.Wrap(head, width, foundColumn)
	if f.Level == levelOK {
		return strings.Join(lines, "\n") + "\n"
	}
	indent := strings.Repeat(" ", foundColumn)
	if f.Need != "" {
		lines = append(lines, console.Wrap(indent+"needed: "+f.Need, width, foundColumn)...)
	}
	if len(f.Mend) > 0 {
		lines = append(lines, indent+"to mend it:")
	}
	for _, command := range f.Mend { // not broken, to be copied
		lines = append(lines, "    "+command)
	}
	return strings.Join(lines, "\n") + "\n"
}

// count says how many findings there are of each level.
func (r *report) count() string {
	n := map[level]int{}
	for _, f := range r.Findings {
		n[f.Level]++
	}
	return fmt.Sprintf("%d ok, %s, %d bad, %d unknown",
		n[levelOK], console.Plural(n[levelWarning], "warning"), n[levelBad], n[levelUnknown])
}
