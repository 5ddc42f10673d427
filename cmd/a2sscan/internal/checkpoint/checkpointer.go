package checkpoint

import (
	"errors"
	"io/fs"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Checkpointer saves the progress of a scan. For each snapshot that arrives among
// the results, it puts a mark into the output. A goroutine waits until the output
// is durable up to the mark, then replaces the checkpoint file. The results that
// follow do not wait for this.
type Checkpointer struct {
	Enabled  bool // false: no checkpoint; the methods do nothing
	terminal *console.Terminal
	opt      Options
	path     string
	lock     *disk.Lock
	plan     Plan
	Past     *Checkpoint // the checkpoint to resume from; nil: the scan is new
	Step     Step        // the step that must follow the last scan; nil: none

	foreign bool // the file at path is not a checkpoint

	scan          Scan
	hostNames     HostNames
	silent        silentFile
	SilentTargets iter.Seq[scanner.Target] // left for the second pass by earlier runs; nil: none
	rest          iter.Seq[scanner.Target] // the list after the part that Recount has read; nil: Recount was not needed
	asked         map[netip.Addr]int       // per address, how many targets earlier runs took; nil: Recount was not needed
	size          uint64                   // number of places in the list; 0: unknown
	listProgress  listProgress
	written       atomic.Pointer[time.Time] // when the file was last replaced; nil: never
	pending       chan draft                // holds one draft; a newer one replaces it
	gone          sync.WaitGroup
	mu            sync.Mutex
	err           error
	began         sync.Once // makes write log the first write only
}

// Scan is what a checkpointer needs to know about the running scan.
type Scan struct {
	ID            string
	Start         time.Time
	MaxTargets    uint64 // 0: all
	MaxPerAddress int    // 0: all
	Replace       bool   // a new scan replaces existing output
	Output        *sink.Output
	Failed        func()              // called when a checkpoint can't be saved
	Tally         func() ledger.Tally // returns a copy; called between results
	Exclusions    *list.Exclusions    // of the list and of the sender
}

// draft is a checkpoint that still lacks the state of the output, which is known
// once the output is durable up to mark.
type draft struct {
	*Checkpoint
	mark *sink.Mark
	at   *scanner.Snapshot
}

// Begin starts the goroutine that saves snapshots. Call it before the first target.
func (k *Checkpointer) Begin() {
	if !k.Enabled {
		return
	}
	k.pending = make(chan draft, 1)
	k.gone.Go(func() {
		for c := range k.pending {
			k.fail(k.save(c))
		}
	})
}

// Attach sets the scan whose progress is saved. Call it before Targets.
func (k *Checkpointer) Attach(sc Scan) {
	k.scan = sc
	if k.Past != nil {
		k.listProgress.past = k.Past.List
		sc.Exclusions.Add(k.Past.LeftOut)
	}
	k.listProgress.left = sc.Exclusions.Counts()
}

// Recount supports --max-per-address in a resumed scan. It reads the list up to the
// checkpoint and returns how many targets of each address earlier runs took and did
// not leave open. In any other scan it returns nil.
func (k *Checkpointer) Recount(list *list.List) map[netip.Addr]int {
	if !k.Resumes() || k.scan.MaxPerAddress == 0 {
		return nil
	}
	asked := map[netip.Addr]int{}
	k.asked = asked
	next, stop := iter.Pull(list.From(k.Past.Place))
	t, more := next()
	for addr, n := range asked {
		asked[addr] = min(n, k.scan.MaxPerAddress) // the scan left out all further targets of the address
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
	if !k.Enabled || k.Past != nil {
		return nil
	}
	c := k.compose(&scanner.Snapshot{})
	c.Output.Replace = k.replaces()
	err := k.write(c)
	k.fail(err)
	return err
}

// replaces reports whether the output replaces an existing file. The flags of the
// scan's first run decide.
func (k *Checkpointer) replaces() bool {
	if k.Past != nil {
		return k.Past.Output.Replace
	}
	return k.scan.Replace
}

// Targets yields the open targets of the checkpoint, then the rest of the list, up
// to MaxTargets.
func (k *Checkpointer) Targets(list *list.List) iter.Seq[scanner.Target] {
	return func(yield func(scanner.Target) bool) {
		var from, given uint64
		if k.Past != nil {
			from, given = k.Past.Place, k.Past.List.Given
			for _, t := range k.Past.OpenTargets {
				if !yield(t) {
					return
				}
			}
		}
		if most := k.scan.MaxTargets; most > 0 && given >= most {
			return
		}
		rest := k.rest
		if rest == nil {
			rest = list.From(from)
		}
		for t := range rest {
			k.listProgress.pass(t.Place, list.Stats(), k.scan.Exclusions)
			given++
			if !yield(t) || given == k.scan.MaxTargets {
				return
			}
		}
	}
}

// Snapshot composes a draft from s and hands it to the goroutine that saves it. The
// draft replaces an older one that is still pending. The scan calls Snapshot
// between results, in order.
func (k *Checkpointer) Snapshot(s *scanner.Snapshot) {
	mark, err := k.scan.Output.Mark()
	if err != nil || k.failure() != nil {
		return // the output is broken: keep the last good checkpoint
	}
	c := k.compose(s)
	c.Records += k.scan.Output.Count()
	select {
	case <-k.pending:
	default:
	}
	k.pending <- draft{c, mark, s}
}

// compose returns the checkpoint for the snapshot s, without the state of the
// output.
func (k *Checkpointer) compose(s *scanner.Snapshot) *Checkpoint {
	c := &Checkpoint{
		Program: k.opt.Version, Scan: k.scan.ID, Start: k.scan.Start, Plan: k.plan,
		Place: s.Place, Stats: s.Stats, Tally: k.scan.Tally(), OpenTargets: s.Open,
		Names: k.hostNames.all(), Size: k.size,
	}
	begun := s.Stats.Taken
	if past := k.Past; past != nil {
		c.Resumed, c.Records = k.TimesResumed(), past.Records
		c.Stats.Add(&past.Stats)
		// This run takes the open targets of the checkpoint first. Until it has
		// taken them all, the others remain open and it has taken none from the
		// list.
		again := min(begun, uint64(len(past.OpenTargets)))
		c.OpenTargets = append(c.OpenTargets, past.OpenTargets[again:]...)
		if begun -= again; begun == 0 {
			c.Place = past.Place
		}
	}
	c.List, c.LeftOut = k.listProgress.at(c.Place, begun)
	for i, now := range k.scan.Exclusions.Counts() {
		c.LeftOut[i].Stopped = now.Stopped
	}
	c.LeftOut = slices.DeleteFunc(c.LeftOut, func(x list.Exclusion) bool { return x.Targets+x.Stopped == 0 })
	return c
}

// save waits until the output is durable up to the mark of c and then writes the
// checkpoint. After that it gives the complete parts their final names.
func (k *Checkpointer) save(c draft) error {
	if k.failure() != nil {
		return nil
	}
	at, err := c.mark.Sync()
	if err != nil {
		return nil // the output reports this error itself
	}
	disk.Step("output.synced")
	if err := k.scan.Output.Lost(); err != nil {
		return output.Failure(err)
	}
	c.Output = OutputState{
		Offset: at.Offset, Sum: at.Sum, Replace: k.replaces(), Parts: at.Parts, Records: at.Records,
	}
	secondPassed := 0 // how many targets earlier runs took in the second pass
	if k.Past != nil {
		secondPassed = k.Past.Silent.SecondPassed
	}
	if c.Silent, err = k.silent.save(c.at, secondPassed); err != nil {
		return unwritten(k.path, err)
	}
	if err := k.write(c.Checkpoint); err != nil {
		return err
	}
	return output.Failure(c.mark.Commit())
}

// write replaces the checkpoint file with the encoding of c.
func (k *Checkpointer) write(c *Checkpoint) error {
	c.Written = time.Now().UTC()
	file, err := c.encode()
	if err == nil {
		err = disk.Replace(k.path, file, 0o666)
	}
	disk.Step("checkpoint.written")
	if err == nil {
		k.written.Store(&c.Written)
	}
	if err != nil {
		return unwritten(k.path, err)
	}
	k.began.Do(func() { k.terminal.Log.Info("checkpoint first written", "path", k.path) })
	return nil
}

// Age returns a phrase that says how long ago the checkpoint was written.
func (k *Checkpointer) Age() string {
	last := k.written.Load()
	if last == nil {
		return "not written yet"
	}
	return "written " + console.RoughDuration(time.Since(*last)) + " ago"
}

// unwritten returns the error for a checkpoint that could not be written because of
// err.
func unwritten(path string, err error) error {
	return console.Fail(console.ExitOutput, "can't write checkpoint %s: %w", console.Plain(path, 200), console.WithoutPath(err)).
		WithHint("the previous checkpoint is unchanged")
}

// fail records the first error and ends the scan. It ignores nil.
func (k *Checkpointer) fail(err error) {
	if err == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
		k.scan.Failed()
	}
}

func (k *Checkpointer) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
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

// Resumes reports whether this run resumes an earlier one.
func (k *Checkpointer) Resumes() bool { return k.Past != nil }

// HostNames returns the saved addresses of host names.
func (k *Checkpointer) HostNames() *HostNames { return &k.hostNames }

// ListTotal adds the list counts of earlier runs to now and returns the sum.
func (k *Checkpointer) ListTotal(now list.Stats) list.Stats { return k.listProgress.total(now) }

// Total adds the counts of earlier runs to s. It returns the list counts of all
// runs, given those of this run.
func (k *Checkpointer) Total(list list.Stats, s *scanner.Stats) list.Stats {
	if !k.Resumes() {
		return list
	}
	s.Add(&k.Past.Stats)
	return k.listProgress.total(list)
}

// Taken corrects the list counts of a scan that ended after it took n targets. The
// list may have yielded one more target, which the scan never received.
func (k *Checkpointer) Taken(list list.Stats, n uint64) list.Stats {
	if k.Resumes() {
		n -= min(n, uint64(len(k.Past.OpenTargets)))
	}
	list.Read += n - list.Given
	list.Given = n
	return list
}

// TimesResumed is how many times the scan was resumed, including this run.
func (k *Checkpointer) TimesResumed() int {
	if !k.Resumes() {
		return 0
	}
	return k.Past.Resumed + 1
}

// Records is the number of records that earlier runs wrote.
func (k *Checkpointer) Records() uint64 {
	if !k.Resumes() {
		return 0
	}
	return k.Past.Records
}

// Behind is the number of targets that earlier runs finished, excluded or left to
// other shards.
func (k *Checkpointer) Behind() uint64 {
	if !k.Resumes() {
		return 0
	}
	l := &k.Past.List
	return l.Unscannable + l.Excluded + l.OtherShard + l.Given - uint64(len(k.Past.OpenTargets))
}

// Forget removes the checkpoint of a scan that never started.
func (k *Checkpointer) Forget() {
	if k.Enabled && k.Past == nil {
		k.remove()
	}
}

// Done removes the checkpoint of a scan that is not resumed, whose summary is written.
// If a step follows, the checkpoint keeps nothing but that step, until StepDone. For an
// incomplete scan Done prints the command that resumes it.
func (k *Checkpointer) Done(complete bool, step Step) {
	switch {
	case !k.Enabled:
	case !complete:
		k.terminal.Command("to resume this scan: " + k.opt.again())
	default:
		disk.Step("summary.written")
		if step != nil {
			k.silent.close(true)
			c := &Checkpoint{Program: k.opt.Version, Scan: k.scan.ID, Start: k.scan.Start, Plan: k.plan, Step: step}
			if err := k.write(c); err != nil {
				k.terminal.Say("%v; if --on-complete is interrupted, it is not repeated", err)
			}
			return
		}
		k.remove()
	}
}

// StepDone removes the step from the checkpoint, which holds nothing else.
func (k *Checkpointer) StepDone() {
	if k.Enabled {
		k.Step = nil
		k.remove()
	}
}

// remove removes the checkpoint and the file of silent targets.
func (k *Checkpointer) remove() {
	if err := os.Remove(k.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.terminal.Log.Warn("checkpoint can't be removed", "path", k.path, "error", console.WithoutPath(err))
		k.terminal.Say("checkpoint %s: can't be removed: %v", console.Plain(k.path, 200), console.WithoutPath(err))
	}
	k.silent.close(true)
	_ = disk.SyncDir(filepath.Dir(k.path)) // otherwise it could reappear after a crash, and a complete scan would be resumed
	disk.Step("checkpoint.removed")
}

// Close releases the lock of the checkpoint. It also removes the lock file, unless
// a checkpoint remains.
func (k *Checkpointer) Close() {
	if k.lock != nil {
		_, err := os.Lstat(k.path)
		k.silent.close(false)
		if k.foreign || errors.Is(err, fs.ErrNotExist) {
			k.lock.Remove()
		} else {
			k.lock.Release()
		}
	}
}

// sayResumed prints which scan is being resumed.
func (k *Checkpointer) sayResumed() {
	p, resuming := k.Past, "resuming"
	if k.lock == nil { // a dry run
		resuming = "a run would resume"
	}
	if p != nil {
		k.terminal.Log.Info("checkpoint resumed", "path", k.path, "scan", p.Scan, "began", p.Start, "resumed", k.TimesResumed(),
			"finished", p.Stats.TargetsFinished(), "open", len(p.OpenTargets))
		again := ""
		if len(p.OpenTargets) > 0 {
			again = ", " + console.Plural(len(p.OpenTargets), "open target") + " to ask again"
		}
		k.terminal.Say("%s scan %s of %s: %s finished%s", resuming, console.Plain(p.Scan, 100),
			p.Start.Format(time.RFC3339), console.Plural(p.Stats.TargetsFinished(), "target"), again)
		sayPartsGone(k.terminal, p, k.plan.Output)
	}
}

// sayPartsGone prints how many complete parts are no longer on this machine, unless
// they belong in an object store.
func sayPartsGone(t *console.Terminal, past *Checkpoint, path string) {
	if past.Plan.Store != "" {
		return
	}
	var gone, records uint64
	for i, part := range past.Output.Parts {
		name := sink.PartName(path, past.Start, i+1)
		_, err := os.Lstat(name)
		_, err2 := os.Lstat(name + sink.PartSuffix)
		if errors.Is(err, fs.ErrNotExist) && errors.Is(err2, fs.ErrNotExist) {
			gone++
			records += part.Records
		}
	}
	if gone > 0 {
		t.Say("gone from the output: %s, whose %s can't be checked",
			console.Plural(gone, "complete part"), console.Plural(records, "record"))
	}
}
