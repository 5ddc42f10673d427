package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/census"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
)

func (a *app) verifyCommand() *cobra.Command {
	var summary string
	cmd := &cobra.Command{
		Use:   "verify CENSUS…",
		Short: "Prove that a census is complete and undamaged",
		Long: `Reads the files of a census to their end and compares them with the summary
that the scan wrote: length and hash of each file, records in it, and the
ledger. Without a summary it checks what a census shows by itself: checksums
of compressed frames, the schema of each record, and that no address has two
records of one scan. Hashes show damage, not forgery.

Several files are one census: the parts that scan --rotate wrote.`,
		Example: `  a2sscan verify census.ndjson.zst
  a2sscan verify census-20261120T030000Z-*.ndjson.zst
  a2sscan verify --summary old.summary.json moved.ndjson.zst`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Fail(console.ExitUsage, "verify needs a file").WithHint("a2sscan verify census.ndjson.zst")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.verify(args, summary) },
	}
	cmd.Flags().StringVar(&summary, "summary", "",
		"`FILE` with the numbers of the scan (default: the one beside the census, if there is one)")
	return cmd
}

// verify prints what was found, and returns what is wrong.
func (a *app) verify(files []string, summary string) error {
	want, err := a.expected(files, summary)
	if err != nil {
		return err
	}
	v, err := sink.Verify(files, want, a.readProgress())
	a.term.ClearStatus()
	if err != nil {
		return census.Failure(err)
	}
	for _, f := range v.Files {
		fmt.Fprintf(a.out, "%s: %d records, %d bytes, xxh64 %s\n", console.Plain(f.Name, 200), f.Records, f.Bytes, f.Sum)
	}
	for _, problem := range v.Problems {
		a.term.Say("%s", console.Plain(problem, 400))
	}
	if v.More > 0 {
		a.term.Say("%d more problems", v.More)
	}
	if !v.Sound() {
		return console.Fail(console.ExitNumbers, "the census is damaged or not complete").
			WithHint("a2sscan cat prints the records that can be read")
	}
	return nil
}

// readProgress shows on a terminal how much of a census was read.
func (a *app) readProgress() func(read, size int64) {
	if !a.term.Interactive {
		return nil
	}
	var next time.Time
	return func(read, size int64) {
		if now := time.Now(); size > 0 && now.After(next) {
			next = now.Add(time.Second / 4)
			a.term.ShowStatus(fmt.Sprintf("read %s of %s", console.Bytes(uint64(read)), console.Bytes(uint64(size))))
		}
	}
}

// scanNumbers are the numbers of a summary that a census is compared with.
type scanNumbers struct {
	Scan    string      `json:"scan"`
	Output  string      `json:"output"`
	Records uint64      `json:"records"`
	Bytes   int64       `json:"bytes"`
	Sum     string      `json:"xxh64"`
	Parts   []sink.Part `json:"parts"`
	Targets struct {
		ByStatus map[string]uint64 `json:"by_status"`
	} `json:"targets"`
}

// expected reads the summary of a census; nil: it has none.
func (a *app) expected(files []string, name string) (*sink.Expected, error) {
	beside := name == ""
	if beside {
		name = summaryBeside(files[0])
	}
	text, err := os.ReadFile(name)
	if beside && errors.Is(err, fs.ErrNotExist) {
		a.term.Say("there is no %s: the census is compared with no summary", console.Plain(name, 200))
		return nil, nil
	}
	var n scanNumbers
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil || n.Scan == "" {
		return nil, console.Fail(console.ExitInput, "can't read the summary %s: %v", console.Plain(name, 200), console.WithoutPath(err)).
			WithHint("--summary names the file that scan wrote with the numbers of the run")
	}
	want := &sink.Expected{Scan: n.Scan, Records: n.Records, ByStatus: n.Targets.ByStatus, Parts: n.Parts}
	if n.Parts == nil && n.Sum != "" {
		want.Parts = []sink.Part{{Name: n.Output, Bytes: n.Bytes, Sum: n.Sum}}
	}
	return want, nil
}

// partNumber ends the name of a part of a census.
var partNumber = regexp.MustCompile(`-\d{8}T\d{6}Z-\d{5}`)

// summaryBeside is the name that a summary has unless scan was told another one.
func summaryBeside(file string) string {
	if at := partNumber.FindStringIndex(file); at != nil {
		return file[:at[1]-len("-00001")] + ".summary.json"
	}
	return file + ".summary.json"
}
