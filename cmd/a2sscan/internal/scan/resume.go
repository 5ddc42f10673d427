package scan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// CheckpointOptions select the checkpoint of a scan.
type CheckpointOptions struct {
	Path  string
	Fresh bool // discard an existing checkpoint
}

// files returns the names of the checkpoint and of the files beside it.
func (o *CheckpointOptions) files() []string {
	if o.Path == "" {
		return nil
	}
	return []string{o.Path, o.Path + ".lock", o.Path + ".silent", o.Path + disk.PartSuffix, o.stepPath(), o.stepPath() + disk.PartSuffix}
}

// stepPath returns the name of the file of the step, which has the format of a checkpoint.
func (o *CheckpointOptions) stepPath() string { return o.Path + ".step" }

// OpenCheckpoint locks the checkpoint, and reads the file if there is one. For a dry run it
// takes no lock, and disables the checkpointer if there is nothing to resume.
func OpenCheckpoint(t *console.Terminal, p *Program, plan *Plan) (*Checkpointer, error) {
	opt := CheckpointOptions{Path: disk.Resolve(plan.Saved.Path), Fresh: plan.Saved.Fresh} // two scans may use different names for one file
	k := &Checkpointer{Enabled: true, terminal: t, program: p, plan: plan, opt: opt, file: opt.Path}
	k.silent.path = k.opt.Path + ".silent"
	if plan.DryRun {
		err := k.read()
		k.Enabled = k.Resumes
		return k, err
	}
	var err error
	switch k.lock, err = disk.TryLock(k.opt.Path + ".lock"); {
	case errors.Is(err, disk.ErrLocked):
		return nil, k.refuse("another scan is using this checkpoint").
			WithHint("wait until the other scan ends, or choose another file for --checkpoint")
	case err != nil:
		return nil, k.refuse("%v", console.WithoutPath(err)).WithHint("--checkpoint needs a file name in an existing folder")
	}
	if err := k.read(); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

func (k *Checkpointer) refuse(format string, args ...any) *console.Failure {
	return console.Fail(console.ExitCheckpoint, "checkpoint %s: %s", console.Plain(k.file, 200), fmt.Sprintf(format, args...))
}

// read reads the checkpoint or, if there is none, the step of a complete scan. With --fresh
// it only checks that the file is a checkpoint, so that the scan does not overwrite, say, a
// list of targets.
func (k *Checkpointer) read() error {
	if info, err := os.Stat(k.opt.Path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		k.foreign = true
		return k.refuse("the file is not a regular file").WithHint("choose another file for --checkpoint")
	}
	file, err := disk.ReadFile(k.file, maxCheckpoint)
	if errors.Is(err, fs.ErrNotExist) {
		k.file = k.opt.stepPath()
		file, err = disk.ReadFile(k.file, maxCheckpoint)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return k.refuse("%v", console.WithoutPath(err)).WithHint("--checkpoint needs a file that you may read and write")
	}
	past, err := DecodeCheckpoint(file)
	switch {
	case errors.Is(err, errNoCheckpoint):
		k.foreign = true
		return k.refuse("%v", err).WithHint("choose another file for --checkpoint")
	case k.opt.Fresh:
		return nil
	case errors.Is(err, errVersion):
		return k.refuse("%v", err).WithHint("resume the scan with the version of a2sscan that began it; %s", k.startOver())
	case err != nil:
		return k.refuse("%v", err).WithHint("%s", k.startOver())
	}
	if k.Step = past.Step; k.Step != nil {
		return nil
	}
	k.Past, k.Resumes, k.TimesResumed = *past, true, past.Resumed+1
	k.progress.past, k.Names.known = past.List, past.Names
	if k.SilentTargets, err = k.silent.load(past.Silent); err != nil {
		return k.refuse("%v", err).WithHint("%s", k.startOver())
	}
	return nil
}

func (k *Checkpointer) startOver() string {
	more := []string{"--fresh", "--force"}
	if slices.Contains(k.program.Args, "--force") {
		more = more[:1]
	}
	return "to discard the results and start over: " + k.again(more...)
}

// again returns the command that resumes an unfinished scan, quoted for the shell. It adds
// the arguments in more to the end of the command.
func (k *Checkpointer) again(more ...string) string {
	args := slices.DeleteFunc(slices.Clone(k.program.Args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "--fresh" || name == "--dry-run"
	})
	command := k.program.Name
	for _, arg := range append(args, more...) {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'`$&|;<>()*?[]{}~#!\\") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		command += " " + arg
	}
	return command
}

// Inherit compares the plan of this run with that of the checkpoint, and returns the ID of
// the scan. A new scan gets scanID, from the command line; a resumed scan has the ID in the checkpoint.
// Inherit returns an error if this command can't resume the scan of the checkpoint.
func (k *Checkpointer) Inherit(scanID string) (string, error) {
	if !k.Resumes {
		return scanID, nil
	}
	past := k.Past.Plan
	past.Lists = k.plan.Lists // the lists have not been read yet
	why, now, was := ledger.Difference(k.plan, past, "resume")
	if strings.HasPrefix(why, "--") && !strings.Contains(why, " ") {
		why += " is"
	}
	if why != "" {
		why = fmt.Sprintf("%s %s, but was %s", why, now, was)
	}
	if scanID != "" && scanID != k.Past.Scan {
		why = fmt.Sprintf("--scan-id is %s, but was %s", console.Plain(scanID, 100), console.Plain(k.Past.Scan, 100))
	}
	if why == "" {
		why = k.outputGone()
	}
	if why != "" {
		return "", k.refuseResume(why)
	}
	return k.Past.Scan, nil
}

func (k *Checkpointer) refuseResume(why string) error {
	return k.refuse("this scan can't be resumed, because %s", why).WithHint("undo this change to resume the scan; %s", k.startOver())
}

// outputGone explains why the output file can't be the file of the checkpoint. It returns
// "" if it finds no reason. Resuming truncates the file at the checkpoint's offset, which
// must never happen to an unrelated file. When the scan opens the file, it also checks the
// hash of the bytes before the offset.
func (k *Checkpointer) outputGone() string {
	path, was := k.Past.OutputFile(k.plan), &k.Past.Output
	name := console.Plain(path, 200)
	info, err := os.Stat(path)
	_, noFolder := os.Stat(filepath.Dir(path))
	switch {
	case noFolder != nil && was.Offset == 0:
		return fmt.Sprintf("the folder of %s is gone", name)
	case errors.Is(err, fs.ErrNotExist) && was.Offset == 0:
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("%s is gone; the scan had written %d bytes to it", name, was.Offset)
	case err != nil:
		return err.Error()
	case !info.Mode().IsRegular():
		return name + " is no longer a regular file"
	case info.Size() < was.Offset:
		return fmt.Sprintf("%s has %d bytes, but had %d at the last checkpoint", name, info.Size(), was.Offset)
	case was.Offset == 0 && !was.Replace && !ours(path, k.Past.Scan, k.plan.Columns):
		return name + " is not the file that the scan wrote"
	}
	return ""
}

// OutputFile returns the path of the file that the checkpoint's offset refers to. With
// --rotate this is the part that the scan was writing; the scan may have completed the
// part just after the checkpoint. The argument is the plan of the command, because the
// plan in the checkpoint does not preserve file names that are not UTF-8.
func (c *Checkpoint) OutputFile(plan *Plan) string {
	if !plan.Parts {
		beside := disk.Resolve(plan.Output) + disk.PartSuffix
		if _, err := os.Stat(beside); err == nil && c.Output.Replace {
			return beside
		}
		return plan.Output
	}
	name := sink.PartName(plan.Output, c.Start, len(c.Output.Parts)+1)
	if _, err := os.Stat(name + disk.PartSuffix); err == nil {
		return name + disk.PartSuffix
	}
	return name
}

// ours reports whether the file at path can be output of this scan, although no checkpoint
// describes the file yet. If the file has a complete line, the first line must be the
// header of the columns or, without columns, a record with the scan's ID.
func ours(path, scan, shown string) bool {
	r, err := sink.Open(path)
	if err != nil {
		return false
	}
	defer r.Close()
	if shown != "" {
		r.KeepLines()
	}
	line, err := r.Next()
	if err != nil {
		return err == io.EOF
	}
	if shown != "" {
		words := strings.FieldsFunc(shown, func(c rune) bool { return c == ' ' || c == ',' })
		table, err := censusfile.NewTable(censusfile.Format(words[0]), words[1:], censusfile.Display{})
		return err == nil && string(line)+"\n" == string(table.Header())
	}
	rec, err := record.NewReader("scan").Read(line)
	return err == nil && rec.Scan == scan
}
