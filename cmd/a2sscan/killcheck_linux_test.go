package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// checkKilled fails the test if the checkpoint that a killed scan left can't be read,
// or if the output has fewer complete records than the checkpoint counts.
func (k *killed) checkKilled() {
	k.Helper()
	k.checkOld()
	file, err := os.ReadFile(k.path(k.ofShard("scan.checkpoint")))
	if errors.Is(err, os.ErrNotExist) {
		files := slices.DeleteFunc(k.files(), func(name string) bool { // those of the shards before
			return k.shards > 0 && !strings.HasPrefix(filepath.Base(name), k.ofShard(""))
		})
		if len(files) > 0 {
			k.Errorf("%s: no checkpoint, but %v", k.last, files)
		}
		return // the scan had written nothing yet
	}
	c, err := checkpoint.Decode(file)
	if err != nil {
		k.Fatalf("%s: %v", k.last, err)
	}
	k.checkParts(c)
	want := c.Records
	for _, p := range c.Output.Parts {
		want -= p.Records
	}
	if c.Output.Offset > 0 {
		k.checkOffset(c, want)
	}
	if files := k.mine(); len(files) > 0 {
		if n := countLines(k.cat(false, files...)); n < c.Records {
			k.Errorf("%s: %d records can be read, but the checkpoint has %d", k.last, n, c.Records)
		}
	} else if c.Records > 0 {
		k.Errorf("%s: no output, but the checkpoint has %d records", k.last, c.Records)
	}
}

// mine returns the files of the scan or, if it is divided, of the current shard.
func (k *killed) mine() []string {
	return slices.DeleteFunc(k.files(), func(name string) bool {
		return k.shards > 0 && !strings.HasPrefix(filepath.Base(name), k.output)
	})
}

// checkOffset fails the test unless the output has want complete records before the
// offset in the checkpoint.
func (k *killed) checkOffset(c *checkpoint.Checkpoint, want uint64) {
	k.Helper()
	plan := c.Plan
	all := k.read(c.OutputFile(&plan))
	if int64(len(all)) < c.Output.Offset {
		k.Errorf("%s: %d bytes, %d in the checkpoint", k.last, len(all), c.Output.Offset)
		return
	}
	cut := k.path("cut")
	check(k, os.WriteFile(cut, all[:c.Output.Offset], 0o666))
	if n := countLines(k.cat(true, cut)); n != want {
		k.Errorf("%s: %d records in %d bytes, want %d", k.last, n, c.Output.Offset, want)
	}
}

// checkParts fails the test if a part has another number of records than in the
// checkpoint, or if a part that has its final name has changed.
func (k *killed) checkParts(c *checkpoint.Checkpoint) {
	k.Helper()
	for i, p := range c.Output.Parts {
		name := sink.PartName(c.Plan.Output, c.Start, i+1)
		if _, err := os.Stat(name); err != nil {
			name += disk.PartSuffix
		}
		if n := countLines(k.cat(true, name)); n != p.Records {
			k.Errorf("%s: part %d has %d records, want %d", k.last, i+1, n, p.Records)
		}
	}
	for _, name := range k.files() {
		if c.Plan.Rotate && !strings.HasSuffix(name, disk.PartSuffix) {
			now := k.read(name)
			if was, known := k.named[name]; known && !bytes.Equal(was, now) {
				k.Errorf("%s: %s has changed", k.last, name)
			}
			k.named[name] = now
		}
	}
}

// checkOld fails the test if a scan with --force removed the old census before a new
// one was complete.
func (k *killed) checkOld() {
	k.Helper()
	if k.old == nil || bytes.Equal(k.read(k.path(k.output)), k.old) {
		return
	}
	if _, err := os.Stat(k.path(k.output + disk.PartSuffix)); err == nil {
		return // the old census was replaced, and a later run starts over beside it
	}
	k.checkTruth(k.cat(true, k.path(k.output)), true)
}

// settle fails the test if the output of a scan that appends, and was killed, no longer
// begins with the old records. It keeps all readable records for the next time.
func (k *killed) settle() {
	k.Helper()
	files := k.files()
	if len(files) == 0 {
		return
	}
	lines := k.cat(false, files...)
	if !bytes.HasPrefix(lines, k.settled) {
		k.Errorf("%s: of %d records %d are left, or some have changed", k.last, countLines(k.settled), countLines(lines))
	}
	k.checkTruth(k.ofScan(lines, k.lastScan()), false)
	k.settled = lines
	k.checkRefused()
}

// lastScan returns the scan ID of the last run.
func (k *killed) lastScan() string {
	was := *k
	was.runs--
	return was.scanID()
}

// ofScan returns the records of a scan.
func (k *killed) ofScan(lines []byte, scan string) (of []byte) {
	for line := range bytes.Lines(lines) {
		var record struct{ Scan string }
		check(k, json.Unmarshal(line, &record))
		if record.Scan == scan {
			of = append(of, line...)
		}
	}
	return of
}

// checkRefused fails the test if a scan without --append changes an existing census, or
// does not exit with code 3.
func (k *killed) checkRefused() {
	k.Helper()
	before := k.read(k.path(k.output))
	cmd := exec.CommandContext(k.Context(), "a2sscan", "scan", "127.0.0.1:1", "--allow-reserved", "-q", "-o", k.output)
	cmd.Dir = k.dir
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 3 {
		k.Errorf("a scan without --append: %v", err)
	}
	if !bytes.Equal(before, k.read(k.path(k.output))) {
		k.Error("a scan without --append changed the census")
	}
}

// cat reads files with the program. It ends the test if a file is damaged or, with
// complete set, ends with a partial record.
func (k *killed) cat(complete bool, files ...string) []byte {
	k.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(k.Context(), "a2sscan", append([]string{"cat"}, files...)...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	// The exit code for a census that a kill cut off is the one for damage.
	cut := !complete && cmd.ProcessState.ExitCode() == console.ExitNumbers && bytes.Contains(said.Bytes(), []byte(": truncated: "))
	if !cut && (err != nil || complete && said.Len() > 0 || bytes.Contains(said.Bytes(), []byte("damaged"))) {
		k.Fatalf("%s: cat: %v\n%s", k.last, err, said.Bytes())
	}
	for line := range bytes.Lines(out) {
		if !json.Valid(line) || line[len(line)-1] != '\n' {
			k.Errorf("no record: %s", line)
		}
	}
	return out
}

func countLines(lines []byte) uint64 { return uint64(bytes.Count(lines, []byte{'\n'})) }

// checkTruth fails the test if a record has the wrong tag or differs from the fleet, if
// a server has two records, or if there are more scans than shards. If complete is set,
// it also fails if a server has no record. It returns how many servers answer,
// including those without a record.
func (k *killed) checkTruth(lines []byte, complete bool) uint64 {
	k.Helper()
	scans := map[string]int{}
	next := func() ([]byte, error) {
		line, rest, found := bytes.Cut(lines, []byte{'\n'})
		if lines = rest; !found {
			return nil, io.EOF
		}
		var rec struct{ Scan, Tag, IP string }
		if err := json.Unmarshal(line, &rec); err != nil {
			return nil, err
		}
		scans[rec.Scan]++
		if want := "tag " + rec.IP[strings.LastIndexByte(rec.IP, '.')+1:]; rec.Tag != want {
			k.Errorf("%s has the tag %q", rec.IP, rec.Tag)
		}
		return line, nil
	}
	report, err := fleetjudge.Compare(k.cfg, scanner.AskAll, next)
	check(k, err)
	if !complete {
		report.AsTheyAre += report.Missing
	}
	if report.Servers != report.AsTheyAre || report.Twice != 0 || report.Invented != 0 || len(scans) > max(1, k.shards) {
		k.Errorf("%s: %+v, scans %v", k.last, report, scans)
	}
	return uint64(report.Servers)
}

// checkEnd fails the test if the complete census differs from the fleet, if a summary
// is wrong, or if temporary files are left behind.
func (k *killed) checkEnd() {
	k.Helper()
	lines := k.cat(true, k.files()...)
	if k.appends {
		if !bytes.HasPrefix(lines, k.settled) {
			k.Errorf("of %d records, some are gone", countLines(k.settled))
		}
		lines = k.ofScan(lines, k.lastScan())
	}
	servers := k.checkTruth(lines, true)
	k.checkSummaries(servers)
	left, err := filepath.Glob(k.path("*scan.checkpoint*"))
	left = slices.DeleteFunc(left, func(name string) bool {
		return k.n > 0 && strings.HasSuffix(name, ".lock") // a scan was killed after it had finished
	})
	unfinished, err2 := filepath.Glob(k.path("*" + disk.PartSuffix))
	if left = append(left, unfinished...); len(left) > 0 || err != nil || err2 != nil {
		k.Errorf("%v were left behind, %v, %v", left, err, err2)
	}
}

// checkSummaries fails the test if the counts of the scan, or of all its shards
// together, do not match the number of servers.
func (k *killed) checkSummaries(servers uint64) {
	k.Helper()
	var records, sent, unscannable uint64
	for k.shard = 0; k.shard < max(1, k.shards); k.shard++ {
		s := k.checkSummary()
		records += s.Records
		sent += s.Datagrams.N("sent")
		unscannable += s.Targets.N("unscannable")
	}
	if records != servers || sent < 3*servers || unscannable != 1 {
		k.Errorf("%d records of %d servers, %d datagrams, %d unscannable", records, servers, sent, unscannable)
	}
}

func (k *killed) checkSummary() (s ledger.Summary) {
	k.Helper()
	b := k.read(k.path(k.ofShard("summary.json")))
	check(k, json.Unmarshal(b, &s))
	l := s.Targets
	if !s.Consistent || s.Ended != ledger.EndedComplete || l.N("read") != countLines(k.list) || s.Seconds <= 0 ||
		l.N("invalid") != 1 || l.N("duplicate") != 1 || l.N("unfinished") != 0 {
		k.Errorf("%s", b)
	}
	if rotates := slices.Contains(k.flags, "--rotate"); rotates != (len(s.Parts) > 0) || rotates && len(s.Parts) != len(k.files()) {
		k.Errorf("%d files, the summary has %v", len(k.files()), s.Parts)
	}
	return s
}
