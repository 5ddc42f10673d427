package scan

import (
	"errors"
	"io/fs"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Checkpointer saves the progress of a scan. For each snapshot that arrives among the
// results, it puts a mark into the output. A goroutine waits until the output is durable
// up to the mark, then replaces the checkpoint file. Meanwhile the scan handles further
// results.
type Checkpointer struct {
	Enabled      bool        // false: the scan has no checkpoint
	Resumes      bool        // this run resumes an earlier run
	TimesResumed int         // how many times the scan was resumed, including this run
	Past         Checkpoint  // the checkpoint to resume from; zero: the scan is new
	Step         Step        // the step that the previous scan did not finish; nil: none
	Scan         RunningScan // the scan whose progress is saved; set before Targets is called

	terminal *console.Terminal
	program  *Program
	opt      CheckpointOptions
	lock     *disk.Lock
	file     string // the file that was read: opt.Path, or the file of the step
	foreign  bool   // the file is not a checkpoint
	plan     *Plan
	lists    []list.Input // the lists of this run, with their hashes

	Names  HostNames
	silent silentFile
	// SilentTargets are targets that earlier runs saved for the second pass; nil: none.
	SilentTargets iter.Seq[scanner.Target]
	// Recount sets rest and asked when it reads the list. rest yields the unread part of
	// the list. asked maps each address to the number of its targets that earlier runs took.
	rest     iter.Seq[scanner.Target]
	asked    map[netip.Addr]int
	size     uint64 // number of places in the list; 0: unknown
	progress listProgress

	written atomic.Pointer[time.Time] // when this run last wrote the file; nil: never
	pending chan draft                // holds one draft, which a newer draft replaces
	gone    sync.WaitGroup
	err     atomic.Pointer[error] // the first error; nil: none
}

// RunningScan is what a checkpointer needs to know about the running scan.
type RunningScan struct {
	ID     string
	Start  time.Time
	Output *sink.Output
	Failed func()              // called when a checkpoint can't be saved
	Tally  func() ledger.Tally // returns a copy; called between results
}

// draft is a checkpoint that still lacks the state of the output. This state is known once
// the output is durable up to mark.
type draft struct {
	*Checkpoint
	mark *sink.Mark
	at   *scanner.Snapshot
}

// Begin starts the goroutine that saves snapshots. Call it before the scan takes its first
// target.
func (k *Checkpointer) Begin() {
	k.pending = make(chan draft, 1)
	k.gone.Go(func() {
		for c := range k.pending {
			k.fail(k.save(c))
		}
	})
}

// Recount supports --max-per-address in a resumed scan. It reads the list up to the place
// in the checkpoint. For each address it returns how many targets earlier runs took from
// the list, not counting targets that were open at the checkpoint. It returns nil for a
// new scan, and for a scan without --max-per-address.
func (k *Checkpointer) Recount(list *list.List) map[netip.Addr]int {
	if !k.Resumes || k.plan.MaxPerAddress == 0 {
		return nil
	}
	asked := map[netip.Addr]int{}
	k.asked = asked
	next, stop := iter.Pull(list.From(k.Past.Place))
	t, more := next()
	for addr, n := range asked {
		asked[addr] = min(n, k.plan.MaxPerAddress) // earlier runs skipped all further targets of the address
	}
	for i := range k.Past.OpenTargets {
		asked[k.Past.OpenTargets[i].Addr.Addr()]--
	}
	k.rest = func(yield func(scanner.Target) bool) {
		defer stop()
		for ; more && yield(t); t, more = next() {
		}
	}
	return asked
}

// CountGiven counts, for Recount, a target that an earlier run took from the list.
func (k *Checkpointer) CountGiven(addr netip.Addr) {
	if k.asked != nil {
		k.asked[addr]++
	}
}

// WriteFirst writes the first checkpoint of a new scan, before the output file
// exists. From then on the same command resumes the scan.
func (k *Checkpointer) WriteFirst() error {
	if !k.Enabled || k.Resumes {
		return nil
	}
	err := k.write(k.opt.Path, k.compose(&scanner.Snapshot{}))
	if err == nil && k.opt.Fresh {
		_ = os.Remove(k.opt.stepPath()) // it belongs to the census that --fresh discards
	}
	k.fail(err)
	return err
}

// Targets yields the open targets of the checkpoint, then the rest of the list, up
// to MaxTargets.
func (k *Checkpointer) Targets(list *list.List) iter.Seq[scanner.Target] {
	return func(yield func(scanner.Target) bool) {
		for _, t := range k.Past.OpenTargets {
			if !yield(t) {
				return
			}
		}
		given := k.Past.List.Given
		if most := k.plan.MaxTargets; most > 0 && given >= most {
			return
		}
		rest := k.rest
		if rest == nil {
			rest = list.From(k.Past.Place)
		}
		for t := range rest {
			if k.Enabled {
				k.progress.pass(t.Place, list.Stats())
			}
			given++
			if !yield(t) || given == k.plan.MaxTargets {
				return
			}
		}
	}
}

// Snapshot composes a draft from s, and hands the draft to the goroutine that saves
// drafts. The draft replaces an older draft that is still pending. The scan calls Snapshot
// between results.
func (k *Checkpointer) Snapshot(s *scanner.Snapshot) {
	mark, err := k.Scan.Output.Mark()
	if err != nil || k.failure() != nil {
		return // after an error, keep the last good checkpoint
	}
	c := k.compose(s)
	c.Records += k.Scan.Output.Count()
	select {
	case <-k.pending:
	default:
	}
	k.pending <- draft{c, mark, s}
}

// compose returns the checkpoint for the snapshot s, without the state of the
// output.
func (k *Checkpointer) compose(s *scanner.Snapshot) *Checkpoint {
	past := &k.Past
	c := &Checkpoint{
		Program: k.program.Build.Commit, Scan: k.Scan.ID, Start: k.Scan.Start, Plan: *k.plan, Resumed: k.TimesResumed,
		Place: s.Place, Stats: s.Stats, Tally: k.Scan.Tally(), Records: past.Records,
		Names: k.Names.all(), Size: k.size,
	}
	c.Stats.Add(&past.Stats)
	if c.Output.Replace = k.plan.Out.Force; k.Resumes { // use the choice of the first run
		c.Output.Replace = past.Output.Replace
	}
	// This run first takes the open targets of the checkpoint, then targets from the
	// list. Open targets of the checkpoint that this run has not taken yet stay open.
	again := min(s.Stats.Taken, uint64(len(past.OpenTargets)))
	c.OpenTargets = append(s.Open, past.OpenTargets[again:]...)
	taken := s.Stats.Taken - again
	if taken == 0 {
		c.Place = past.Place
	}
	c.List = k.progress.at(c.Place, taken)
	return c
}

// save waits until the output is durable up to the mark of c and then writes the
// checkpoint. After that it renames the complete parts to their final names.
func (k *Checkpointer) save(c draft) error {
	if k.failure() != nil {
		return nil
	}
	var err error
	if c.Output.Position, err = c.mark.Sync(); err != nil {
		return nil // the output reports this error itself
	}
	disk.Step("output.synced")
	if c.Silent, err = k.silent.save(c.at, k.Past.Silent.SecondPassed); err != nil {
		return unwritten(k.opt.Path, err)
	}
	if err := k.write(k.opt.Path, c.Checkpoint); err != nil {
		return err
	}
	return censusfile.WriteFailure(c.mark.Commit())
}

func (k *Checkpointer) write(path string, c *Checkpoint) error {
	c.Written = time.Now().UTC()
	file, err := c.encode()
	if err == nil {
		err = disk.Replace(path, file, 0o666)
	}
	disk.Step("checkpoint.written")
	if err != nil {
		return unwritten(path, err)
	}
	if k.written.Swap(&c.Written) == nil {
		k.terminal.Log.Info("checkpoint first written", "path", path)
	}
	return nil
}

func unwritten(path string, err error) error {
	return console.Fail(console.ExitOutput, "can't write checkpoint %s: %w", console.Plain(path, 200), console.WithoutPath(err)).
		WithHint("the previous checkpoint is unchanged")
}

// Age reports, in words, how long ago the checkpoint was written.
func (k *Checkpointer) Age() string {
	last := k.written.Load()
	if last == nil {
		return "not written yet"
	}
	return "written " + console.RoughDuration(time.Since(*last)) + " ago"
}

// fail records the first error and ends the scan. It ignores a nil error.
func (k *Checkpointer) fail(err error) {
	if err != nil && k.err.CompareAndSwap(nil, &err) {
		k.Scan.Failed()
	}
}

func (k *Checkpointer) failure() error {
	if err := k.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Finish waits until the last snapshot is saved. It returns the first error of all
// saves.
func (k *Checkpointer) Finish() error {
	if !k.Enabled {
		return nil
	}
	close(k.pending)
	k.gone.Wait()
	return k.failure()
}

// ListTotal returns the list's counts for all runs together. Its argument has the counts
// of this run.
func (k *Checkpointer) ListTotal(now list.Stats) list.Stats {
	if !k.Resumes {
		return now
	}
	return k.progress.total(now)
}

// Taken corrects the list's counts for a scan that ended after it took n targets. The list
// may have yielded one more target, which the scan never took.
func (k *Checkpointer) Taken(list list.Stats, n uint64) list.Stats {
	n -= min(n, uint64(len(k.Past.OpenTargets)))
	list.Read += n - list.Given
	list.Given = n
	return list
}

// LeftOpen returns the number of open and silent targets of earlier runs that this run did
// not take. Its argument has the counts of this run.
func (k *Checkpointer) LeftOpen(own *scanner.Stats) uint64 {
	n := uint64(len(k.Past.OpenTargets))
	n -= min(n, own.Taken)
	if own.Elapsed == 0 { // the scan ended before the scanner began
		n += uint64(max(0, k.Past.Silent.Waiting()))
	}
	return n
}

// Behind returns the number of list entries that earlier runs finished or left out,
// including those of other shards.
func (k *Checkpointer) Behind() uint64 {
	l := &k.Past.List
	return l.Unscannable + l.Excluded + l.OtherShard + l.Given - uint64(len(k.Past.OpenTargets))
}

// Forget removes the checkpoint of a scan that never started.
func (k *Checkpointer) Forget() {
	if k.Enabled && !k.Resumes {
		k.remove(k.opt.Path)
	}
}

// Done is called after the summary is written. If the scan is not complete, Done prints
// the command that resumes the scan. Otherwise Done removes the checkpoint. But if a step
// follows, Done saves the step in a file of its own, which StepDone removes. So a
// checkpoint exists only while the scan needs its lists.
func (k *Checkpointer) Done(complete bool, step Step) {
	switch {
	case !k.Enabled:
	case !complete:
		k.terminal.Command("to resume this scan: " + k.again())
	default:
		disk.Step("summary.written")
		if step != nil {
			c := &Checkpoint{Program: k.program.Build.Commit, Scan: k.Scan.ID, Start: k.Scan.Start, Plan: *k.plan, Step: step}
			if err := k.write(k.opt.stepPath(), c); err != nil {
				k.terminal.Say("%v; so if the command of --on-complete is interrupted, the next run finishes this scan again before it runs the command", err)
				return
			}
			k.remove(k.opt.Path)
			return
		}
		k.remove(k.opt.Path, k.opt.stepPath())
	}
}

// StepDone removes the file of the step. It also removes the checkpoint: if the file of the
// step could not be written, the checkpoint of the complete scan is still there.
func (k *Checkpointer) StepDone() {
	if k.Enabled {
		k.Step = nil
		k.remove(k.opt.Path, k.opt.stepPath())
	}
}

func (k *Checkpointer) remove(files ...string) {
	for _, path := range files {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			k.terminal.Log.Warn("checkpoint can't be removed", "path", path, "error", console.WithoutPath(err))
			k.terminal.Say("can't remove checkpoint %s: %v", console.Plain(path, 200), console.WithoutPath(err))
		}
	}
	k.silent.close(true)
	// Without SyncDir, the checkpoint could reappear after a crash, and the next run would
	// resume a complete scan.
	_ = disk.SyncDir(filepath.Dir(k.opt.Path))
	disk.Step("checkpoint.removed")
}

// Close releases the lock of the checkpoint. It also removes the lock file, unless
// a checkpoint or a step remains.
func (k *Checkpointer) Close() {
	if k.lock != nil {
		k.silent.close(false)
		if k.foreign || missing(k.opt.Path) && missing(k.opt.stepPath()) {
			k.lock.Remove()
		} else {
			k.lock.Release()
		}
	}
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func (k *Checkpointer) sayResumed() {
	p, resuming, again := &k.Past, "resuming", ""
	if k.lock == nil { // only a dry run has no lock
		resuming = "would resume"
	}
	k.terminal.Log.Info("checkpoint resumed", "path", k.opt.Path, "scan", p.Scan, "began", p.Start, "resumed", k.TimesResumed,
		"finished", p.Stats.TargetsFinished(), "open", len(p.OpenTargets))
	if len(p.OpenTargets) > 0 {
		again = ", " + console.Plural(len(p.OpenTargets), "open target") + " to ask again"
	}
	k.terminal.Say("%s scan %s of %s: %s finished%s", resuming, console.Plain(p.Scan, 100),
		p.Start.Format(time.RFC3339), console.Plural(p.Stats.TargetsFinished(), "target"), again)
	var gone, records uint64
	for i, part := range p.Output.Parts {
		name := sink.PartName(k.plan.Output, p.Start, i+1)
		if missing(name) && missing(name+disk.PartSuffix) {
			gone++
			records += part.Records
		}
	}
	if gone > 0 {
		k.terminal.Say("missing from the output: %s with %s, which can't be checked",
			console.Plural(gone, "complete part"), console.Plural(records, "record"))
	}
}
