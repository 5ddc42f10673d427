package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/sink"
)

// openKeeper locks the checkpoint that the flags name and reads it if it is
// there. Without the flag it returns nil.
func (a *app) openKeeper(f *scanFlags) (*keeper, error) {
	if f.checkpoint == "" {
		return nil, nil
	}
	k := &keeper{app: a, path: f.checkpoint}
	k.silent.path = k.path + ".silent"
	if f.dryRun {
		return k.look(f.fresh)
	}
	var err error
	if k.lock, err = lockFile(k.path + ".lock"); err != nil {
		return nil, k.refuse("%v", console.WithoutPath(err)).WithHint("--checkpoint names a file in a folder that is there")
	}
	if k.lock == nil {
		return nil, k.refuse("another scan is using it").
			WithHint("wait until that is done, or give this one another --checkpoint")
	}
	if err := k.read(f.fresh); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// look reads the checkpoint for a dry run, which locks nothing: that would make
// a file. It returns nil where a run would begin anew.
func (k *keeper) look(fresh bool) (*keeper, error) {
	if err := k.read(fresh); err != nil || k.past == nil {
		return nil, err
	}
	return k, nil
}

// refuse is the error of a checkpoint that can't be used.
func (k *keeper) refuse(format string, args ...any) *console.Failure {
	return console.Fail(console.ExitCheckpoint, "checkpoint %s: %s", console.Plain(k.path, 200), fmt.Sprintf(format, args...))
}

// read reads the checkpoint. With fresh it only makes sure that the file is
// one: what is to be written over is not to be somebody's list.
func (k *keeper) read(fresh bool) error {
	if info, err := os.Stat(k.path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		k.foreign = true
		return k.refuse("is no regular file").WithHint("--checkpoint names a file of its own")
	}
	file, err := os.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return k.refuse("%v", console.WithoutPath(err)).WithHint("--checkpoint names a file that this scan may write")
	}
	past, err := decodeCheckpoint(file)
	switch {
	case errors.Is(err, errNoCheckpoint):
		k.foreign = true
		return k.refuse("%v", err).WithHint("--checkpoint names a file of its own")
	case fresh:
		return nil
	case err != nil:
		return k.refuse("%v", err).WithHint("%s", k.anew())
	}
	k.past = past
	if k.waiting, err = k.silent.load(past.Silent); err != nil {
		return k.refuse("%v", err).WithHint("%s", k.anew())
	}
	return nil
}

// anew is how to begin anew instead of going on.
func (k *keeper) anew() string {
	args := append(k.stale(), "--fresh")
	if !slices.Contains(args, "--force") {
		args = append(args, "--force")
	}
	return "to discard what was scanned and begin anew: " + command(args)
}

// again is the command that goes on with an unfinished scan.
func (k *keeper) again() string { return command(k.stale()) }

// stale are the arguments without those that are not the scan's: --fresh, and
// --dry-run.
func (k *keeper) stale() []string {
	return slices.DeleteFunc(slices.Clone(k.args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "--fresh" || name == "--dry-run"
	})
}

// command is a command line of ours as it can be typed.
func command(args []string) string {
	words := []string{self()}
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'`$&|;<>()*?[]{}~#!\\") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// inherit takes over what a scan keeps when it is gone on with, or says why
// that can't be done. plan is what the command asks for now.
func (k *keeper) inherit(f *scanFlags, plan scanPlan) error {
	k.plan = plan
	if k.past == nil {
		return nil
	}
	why := plan.differs(&k.past.Plan)
	if f.scanID != "" && f.scanID != k.past.Scan {
		why = fmt.Sprintf("--scan-id is %s, and was %s", console.Plain(f.scanID, 100), console.Plain(k.past.Scan, 100))
	}
	if why == "" {
		why = k.outputGone()
	}
	if why != "" {
		return k.refuseToGoOn(why)
	}
	f.scanID = k.past.Scan
	return nil
}

func (k *keeper) refuseToGoOn(why string) error {
	return k.refuse("the scan that it is of can't be gone on with: %s", why).WithHint("%s", k.anew())
}

// seed takes over the seed of the scan that is gone on with, if none was said.
func (k *keeper) seed(s *seed) {
	if k.resumes() && !s.said {
		s.n = k.past.Plan.Seed
	}
}

// outputGone says in words why the output is not the one of the checkpoint, ""
// if it is. What stands behind the checkpoint is cut off later: a file that
// is another one must not lose anything by that.
func (k *keeper) outputGone() string {
	path, was := k.outputFile(), &k.past.Output
	name := console.Plain(path, 200)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && was.Offset == 0:
		return folderGone(path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("%s is gone, of which %d bytes were written", name, was.Offset)
	case err != nil:
		return err.Error()
	case !info.Mode().IsRegular():
		return name + " is not a file any more"
	case info.Size() < was.Offset:
		return fmt.Sprintf("%s has %d bytes, and had %d", name, info.Size(), was.Offset)
	case was.Offset == 0 && !was.Replace && !ours(path, k.past.Scan):
		return name + " is not the file that it wrote"
	}
	tail, err := tailSum(path, was.Offset)
	switch {
	case err != nil:
		return err.Error()
	case tail != was.Tail:
		return name + " is not the file that it wrote"
	}
	return ""
}

// outputFile is the file that the checkpoint's offset is in. With --rotate it
// is the part that was being written, or was whole just after the checkpoint.
func (k *keeper) outputFile() string {
	plan := &k.plan // that of the checkpoint has names in UTF-8 only
	if !plan.Rotate {
		return plan.Output
	}
	name := sink.PartName(plan.Output, k.past.Start, len(k.past.Output.Parts)+1)
	if _, err := os.Stat(name + sink.PartSuffix); err == nil {
		return name + sink.PartSuffix
	}
	return name
}

func folderGone(path string) string {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Sprintf("the folder %s is gone", console.Plain(dir, 200))
	}
	return ""
}

// tailLen is how much of a file in front of a checkpoint has to be as it was.
const tailLen = 4 << 10

// tailSum returns the checksum of the bytes in front of an offset.
func tailSum(path string, offset int64) (uint32, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n := min(offset, tailLen)
	tail := make([]byte, n)
	if _, err := f.ReadAt(tail, offset-n); err != nil {
		return 0, err
	}
	return crc32.Checksum(tail, crc32.MakeTable(crc32.Castagnoli)), nil
}

// ours reports whether a file may be the begin of a scan's output of which no
// checkpoint tells: its first record is the scan's, or not whole.
func ours(path, scan string) bool {
	r, err := sink.Open(path)
	if err != nil {
		return false
	}
	defer r.Close()
	line, err := r.Next()
	if err != nil {
		return err == io.EOF
	}
	var record struct {
		Scan string `json:"scan"`
	}
	return bytes.HasPrefix(line, []byte(`{"schema":`)) &&
		json.Unmarshal(line, &record) == nil && record.Scan == scan
}
