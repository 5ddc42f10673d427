package checkpoint

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
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Options say which checkpoint a scan has.
type Options struct {
	Path     string
	Fresh    bool     // discard the checkpoint that is there
	LookOnly bool     // for a dry run: lock nothing and write nothing
	Program  string   // how the program was started
	Args     []string // its command line
	Version  string   // of the program
}

// Off returns the checkpointer of a scan that has none.
func Off() *Checkpointer { return &Checkpointer{} }

// openKeeper locks the checkpoint and reads it if it exists.
func Open(t *console.Terminal, opt Options) (*Checkpointer, error) {
	k := &Checkpointer{Enabled: true, terminal: t, opt: opt, path: opt.Path}
	k.silent.path = k.path + ".silent"
	if opt.LookOnly {
		return k.inspect()
	}
	var err error
	switch k.lock, err = disk.TryLock(k.path + ".lock"); {
	case errors.Is(err, disk.ErrLocked):
		return nil, k.refuse("another scan is using it").
			WithHint("wait until that is done, or give this one another --checkpoint")
	case err != nil:
		return nil, k.refuse("%v", console.WithoutPath(err)).WithHint("--checkpoint names a file in a folder that exists")
	}
	if err := k.read(opt.Fresh); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// inspect reads the checkpoint for a dry run, which must not make a lock file.
// Where a scan would begin anew the checkpointer is off.
func (k *Checkpointer) inspect() (*Checkpointer, error) {
	if err := k.read(k.opt.Fresh); err != nil {
		return nil, err
	}
	if k.Past == nil {
		return Off(), nil
	}
	return k, nil
}

// refuse is the error of a checkpoint that can't be used.
func (k *Checkpointer) refuse(format string, args ...any) *console.Failure {
	return console.Fail(console.ExitCheckpoint, "checkpoint %s: %s", console.Plain(k.path, 200), fmt.Sprintf(format, args...))
}

// read reads the checkpoint. With fresh it only makes sure that the file is
// one: what is to be written over is not to be somebody's list.
func (k *Checkpointer) read(fresh bool) error {
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
	past, err := Decode(file)
	switch {
	case errors.Is(err, errNoCheckpoint):
		k.foreign = true
		return k.refuse("%v", err).WithHint("--checkpoint names a file of its own")
	case fresh:
		return nil
	case err != nil:
		return k.refuse("%v", err).WithHint("%s", k.opt.startOver())
	}
	k.Past = past
	if k.SilentTargets, err = k.silent.load(past.Silent); err != nil {
		return k.refuse("%v", err).WithHint("%s", k.opt.startOver())
	}
	return nil
}

// startOver is how to begin a new scan instead of resuming.
func (o *Options) startOver() string {
	args := append(o.scanArgs(), "--fresh")
	if !slices.Contains(args, "--force") {
		args = append(args, "--force")
	}
	return "to discard what was scanned and start over: " + o.command(args)
}

// again is the command that resumes an unfinished scan.
func (o *Options) again() string { return o.command(o.scanArgs()) }

// scanArgs are the arguments that name the scan: all but --fresh and --dry-run.
func (o *Options) scanArgs() []string {
	return slices.DeleteFunc(slices.Clone(o.Args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "--fresh" || name == "--dry-run"
	})
}

// command is a command line of this program as it can be typed.
func (o *Options) command(args []string) string {
	words := []string{o.Program}
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'`$&|;<>()*?[]{}~#!\\") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// Inherit compares the plan of this command with that of the checkpoint, and
// returns the name of the scan. scanID is the name that the command gives, if any.
func (k *Checkpointer) Inherit(plan Plan, scanID string) (string, error) {
	k.plan = plan
	if k.Past == nil {
		return scanID, nil
	}
	why := plan.differs(&k.Past.Plan)
	if scanID != "" && scanID != k.Past.Scan {
		why = fmt.Sprintf("--scan-id is %s, and was %s", console.Plain(scanID, 100), console.Plain(k.Past.Scan, 100))
	}
	if why == "" {
		why = k.outputGone()
	}
	if why != "" {
		return "", k.refuseResume(why)
	}
	k.hostNames.known = k.Past.Names
	return k.Past.Scan, nil
}

// SetDatabases notes which databases this part of the scan uses.
func (k *Checkpointer) SetDatabases(all []Database) { k.plan.Databases = all }

func (k *Checkpointer) refuseResume(why string) error {
	return k.refuse("the scan that it is of can't be gone on with: %s", why).WithHint("%s", k.opt.startOver())
}

// outputGone says in words why the output is not the one of the checkpoint, ""
// if it is. What stands behind the checkpoint is cut off later: a file that
// is another one must not lose anything by that.
func (k *Checkpointer) outputGone() string {
	path, was := k.Past.OutputFile(&k.plan), &k.Past.Output
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
	case was.Offset == 0 && !was.Replace && !ours(path, k.Past.Scan):
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

// OutputFile is the file that the checkpoint's offset is in. With --rotate it
// is the part that was being written, or was completed just after the
// checkpoint. plan is that of the checkpoint with names that need not be UTF-8.
func (c *Checkpoint) OutputFile(plan *Plan) string {
	if !plan.Rotate {
		beside := sink.Beside(plan.Output)
		if _, err := os.Stat(beside); err == nil && c.Output.Replace {
			return beside
		}
		return plan.Output
	}
	name := sink.PartName(plan.Output, c.Start, len(c.Output.Parts)+1)
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
