package censusfile

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
)

// Verify checks a census and compares it with the named summary or, if summary is empty,
// with the summaries beside the files. Verify prints a line for each file, and the
// problems. It returns an error if the census is damaged, or if the summaries do not show
// that the census is complete.
func Verify(t *console.Terminal, out io.Writer, files []string, summary string) error {
	var names []string
	if summary != "" {
		names = []string{summary}
	}
	want, err := census.ReadSummaries(files, names)
	if err != nil {
		return console.Fail(console.ExitInput, "can't read the summary: %s", console.Plain(err.Error(), 300)).
			WithHint("use --summary to name the summary that a2sscan scan wrote")
	}
	var missing []string
	for _, file := range files {
		name := census.Beside(file, ".summary.json")
		if _, err := os.Stat(name); summary == "" && err != nil && !slices.Contains(missing, name) {
			missing = append(missing, name)
			t.Say("there is no %s, so verify can't compare the census with a summary", console.Plain(name, 200))
		}
	}
	found, problems, err := Check(files, want, ReadProgress(t))
	t.ClearStatus()
	if err != nil {
		return Failure(err)
	}
	for _, f := range found {
		fmt.Fprintf(out, "%s: %d %s, %d %s, xxh64 %s\n", console.Plain(f.Name, 200),
			f.Records, console.Things(f.Records, "record"), f.Bytes, console.Things(uint64(f.Bytes), "byte"), f.Sum)
	}
	var incomplete *sink.Scan
	var scans []string
	for _, summary := range want {
		for _, s := range summary.Scans() {
			// The time shows whether the census is the latest one, or an older one because the
			// latest scan failed.
			line := fmt.Sprintf("scan %s: started %s", console.Plain(s.Name, 100), s.Start.UTC().Format("2006-01-02 15:04:05 UTC"))
			if !slices.Contains(scans, line) {
				scans = append(scans, line)
				fmt.Fprintln(out, line)
			}
			if s.Ended != "complete" && incomplete == nil {
				incomplete = &s
			}
		}
	}
	for _, problem := range problems {
		t.Say("%s", console.Plain(problem, 400))
	}
	if len(problems) > 0 {
		return console.Fail(console.ExitNumbers, "the census is damaged, or files, records or summaries are missing").
			WithHint("to print the records that can be read, run a2sscan cat")
	}
	switch {
	case incomplete != nil:
		return console.Fail(console.ExitNumbers, "the census is undamaged, but not complete: scan %s ended with %s",
			console.Plain(incomplete.Name, 100), console.Quoted(incomplete.Ended, 40)).
			WithHint("to complete the census, resume the scan from its checkpoint, or scan again into a new file")
	case len(missing) > 0:
		return console.Fail(console.ExitNumbers, "the census is undamaged, but without a summary, verify can't show that the census is complete").
			WithHint("if the scan was interrupted, resume it from its checkpoint; if its summary is elsewhere, name it with --summary")
	}
	fmt.Fprintln(out, "complete and undamaged")
	return nil
}

// ReadProgress returns a function that shows how much was read. It returns nil if
// messages do not go to a terminal.
func ReadProgress(t *console.Terminal) func(read, size int64) {
	if !t.Interactive {
		return nil
	}
	var next time.Time
	return func(read, size int64) {
		if now := time.Now(); size > 0 && now.After(next) {
			next = now.Add(time.Second / 4)
			t.ShowStatus(fmt.Sprintf("read %s of %s", console.Bytes(uint64(read)), console.Bytes(uint64(size))))
		}
	}
}
