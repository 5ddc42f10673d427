package checkpoint

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

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/tally"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Checkpointer keeps the checkpoint of a scan. The scan's results pass by it: where
// a snapshot stands among them it makes a mark in the output, and a goroutine
// of its own waits until the output is durable up to the mark, and then
// replaces the checkpoint. Results never wait for that.
type Checkpointer struct {
	Enabled  bool // false: there is no checkpoint, and methods do nothing
	terminal *console.Terminal
	opt      Options
	path     string
	lock     *disk.Lock
	plan     Plan
	Past     *Checkpoint // what is resumed; nil: the scan is new

	foreign bool // the file is no checkpoint

	scan          Scan
	hostNames     HostNames
	silent        silentFile
	SilentTargets iter.Seq[scanner.Target] // for a second look since earlier parts; nil: none
	rest          iter.Seq[scanner.Target] // what follows in the list, if that was begun
	asked         map[netip.Addr]int       // by earlier parts, while that is counted
	size          uint64                   // places in the list; 0: not known
	listProgress  listProgress
	written       atomic.Pointer[time.Time] // when the file was last replaced; nil: not yet
	pending       chan draft                // of one place: a newer one replaces it
	gone          sync.WaitGroup
	mu            sync.Mutex
	err           error
	began         sync.Once // to write
}

// Scan is what a checkpointer needs of the running scan.
type Scan struct {
	ID            string
	Start         time.Time
	MaxTargets    uint64 // 0: all
	MaxPerAddress int    // 0: all
	Replace       bool   // a new scan replaces an output that exists
	Output        *output.Output
	Tally         func() tally.Tally                           // a copy; called among the results
	Excluded      func(netip.Addr) (rule list.RuleID, is bool) // for the sender
}

// draft is a checkpoint that is complete but for how long the output is.
type draft struct {
	*Checkpoint
	mark *sink.Mark
	at   *scanner.Snapshot
}

// Begin starts to take snapshots. It is called before the first target.
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

// Attach names the scan whose targets are given out next.
func (k *Checkpointer) Attach(sc Scan) {
	k.scan = sc
	k.listProgress.inherit(k.Past)
}

// Recount passes through what earlier parts of a scan with --max-per-address
// were given, and returns how many servers of each address they asked to the
// end.
func (k *Checkpointer) Recount(list *list.List) map[netip.Addr]int {
	if !k.Resumes() || k.scan.MaxPerAddress == 0 {
		return nil
	}
	asked := map[netip.Addr]int{}
	k.asked = asked
	next, stop := iter.Pull(list.From(k.Past.Place))
	t, more := next()
	for addr, n := range asked {
		asked[addr] = min(n, k.scan.MaxPerAddress) // the rest was left out
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

// CountGiven counts a target that earlier parts were given.
func (k *Checkpointer) CountGiven(addr netip.Addr) {
	if k.asked != nil {
		k.asked[addr]++
	}
}

// WriteFirst writes the checkpoint of a new scan, before its output is made: from
// then on the same command goes on with it.
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

// replaces reports whether the output replaces a file, as the flags of the scan's
// first part say.
func (k *Checkpointer) replaces() bool {
	if k.Past != nil {
		return k.Past.Output.Replace
	}
	return k.scan.Replace
}

// Targets are those that were open, and what follows in the list.
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
			k.listProgress.pass(t.Place, list.Stats())
			given++
			if !yield(t) || given == k.scan.MaxTargets {
				return
			}
		}
	}
}

// Excluded is asked by the sender.
func (k *Checkpointer) Excluded(addr netip.Addr) bool {
	rule, is := k.scan.Excluded(addr)
	if is {
		k.listProgress.stopped(rule)
	}
	return is
}

// Snapshot is called among the results, where s stands.
func (k *Checkpointer) Snapshot(s *scanner.Snapshot) {
	mark, records, err := k.scan.Output.Mark()
	if err != nil || k.failure() != nil {
		return // there is nothing to go on from: the last checkpoint stays
	}
	c := k.compose(s)
	c.Records += records
	select {
	case <-k.pending:
	default:
	}
	k.pending <- draft{c, mark, s}
}

// checkpoint returns what is known where s stands.
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
		// The targets that were open come first; those that the scan did not
		// take yet are still open, and the list was not touched.
		again := min(begun, uint64(len(past.OpenTargets)))
		c.OpenTargets = append(c.OpenTargets, past.OpenTargets[again:]...)
		if begun -= again; begun == 0 {
			c.Place = past.Place
		}
	}
	c.List = k.listProgress.at(c.Place, begun)
	c.LeftOut = k.listProgress.leftOut(s.Stats.Excluded + s.Stats.Stopped)
	return c
}

// keep writes a checkpoint when the output is durable up to it.
func (k *Checkpointer) save(c draft) error {
	if k.failure() != nil {
		return nil
	}
	if _, err := c.mark.Written(); err != nil {
		return nil // the output tells that by itself
	}
	Step("output.written")
	offset, err := c.mark.Sync()
	if err != nil {
		return nil
	}
	Step("output.synced")
	if err := k.scan.Output.Lost(); err != nil {
		return err
	}
	c.Output = OutputState{
		Offset: offset, Sum: c.mark.Sum(), Replace: k.replaces(),
		Parts: c.mark.Parts(), Records: c.mark.Records(),
	}
	if name := c.mark.Name(); name != "" {
		if c.Output.Tail, err = tailSum(name, offset); err != nil {
			return output.Failure(err)
		}
	}
	if c.Silent, err = k.silent.save(c.at, k.looked()); err != nil {
		return k.unwritten(err)
	}
	if err := k.write(c.Checkpoint); err != nil {
		return err
	}
	return k.scan.Output.NameParts(c.mark)
}

// write replaces the checkpoint.
func (k *Checkpointer) write(c *Checkpoint) error {
	c.Written = time.Now().UTC()
	file, err := c.encode()
	if err == nil {
		err = replaceFile(k.path, file)
	}
	Step("checkpoint.written")
	if err == nil {
		k.written.Store(&c.Written)
	}
	if err != nil {
		return k.unwritten(err)
	}
	k.began.Do(func() { k.terminal.Log.Info("checkpoint first written", "path", k.path) })
	return nil
}

// Age is how old the checkpoint is, in words.
func (k *Checkpointer) Age() string {
	last := k.written.Load()
	if last == nil {
		return "not written yet"
	}
	return "written " + console.RoughDuration(time.Since(*last)) + " ago"
}

// unwritten is the error of a checkpoint that could not be written.
func (k *Checkpointer) unwritten(err error) error {
	return console.Fail(console.ExitOutput, "can't write checkpoint %s: %w", console.Plain(k.path, 200), console.WithoutPath(err)).
		WithHint("the one before it is as it was")
}

// fail keeps the first error and ends the scan.
func (k *Checkpointer) fail(err error) {
	if err == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
		k.scan.Output.Fail()
	}
}

func (k *Checkpointer) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// Finish waits until the last snapshot is a checkpoint.
func (k *Checkpointer) Finish() error {
	if !k.Enabled {
		return nil
	}
	close(k.pending)
	k.gone.Wait()
	return k.failure()
}

// looked is for how many silent targets earlier parts had begun a second look.
func (k *Checkpointer) looked() int {
	if !k.Resumes() {
		return 0
	}
	return k.Past.Silent.Looked
}

// Resumes reports whether the scan was begun earlier.
func (k *Checkpointer) Resumes() bool { return k.Past != nil }

// LeaveOut counts what the list leaves out by a rule.
func (k *Checkpointer) LeaveOut(rule list.RuleID, n uint64) { k.listProgress.leaveOut(rule, n) }

// HostNames remembers what host names stand for.
func (k *Checkpointer) HostNames() *HostNames { return &k.hostNames }

// ListTotal adds what earlier parts counted to the numbers of the list.
func (k *Checkpointer) ListTotal(now list.Stats) list.Stats { return k.listProgress.total(now) }

// Total adds what the parts before this one counted to the numbers of a scan,
// and returns those of the list.
func (k *Checkpointer) Total(list list.Stats, s *scanner.Stats) list.Stats {
	if !k.Resumes() {
		return list
	}
	s.Add(&k.Past.Stats)
	return k.listProgress.total(list)
}

// Taken returns the numbers of a list of a scan that was stopped when it had
// taken so many targets: the list may have given out one that nobody waited for.
func (k *Checkpointer) Taken(list list.Stats, n uint64) list.Stats {
	if k.Resumes() {
		n -= min(n, uint64(len(k.Past.OpenTargets)))
	}
	list.Read += n - list.Given
	list.Given = n
	return list
}

// TimesResumed is how often the scan was gone on with.
func (k *Checkpointer) TimesResumed() int {
	if !k.Resumes() {
		return 0
	}
	return k.Past.Resumed + 1
}

// Records is how many records the parts before this one wrote.
func (k *Checkpointer) Records() uint64 {
	if !k.Resumes() {
		return 0
	}
	return k.Past.Records
}

// Behind is with how many targets the parts before this one were done: those
// that they finished, and those that they left out.
func (k *Checkpointer) Behind() uint64 {
	if !k.Resumes() {
		return 0
	}
	l := &k.Past.List
	return l.Unscannable + l.Excluded + l.OtherShard + l.Given - uint64(len(k.Past.OpenTargets))
}

// Forget takes back the checkpoint of a scan that never began.
func (k *Checkpointer) Forget() {
	if k.Enabled && k.Past == nil {
		k.remove()
	}
}

// Done takes the checkpoint of a complete scan away, and says how to go on
// with another. What is written must outlive it.
func (k *Checkpointer) Done(complete bool, summary string) {
	switch {
	case !k.Enabled:
	case !complete:
		k.terminal.Command("to go on with this scan: " + k.opt.again())
	default:
		Step("summary.written")
		if summary != "" {
			_ = syncFile(summary) // it was written: that it outlives a crash is all that is missing
		}
		k.remove()
	}
}

// remove removes the checkpoint.
func (k *Checkpointer) remove() {
	if err := os.Remove(k.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.terminal.Log.Warn("checkpoint can't be removed", "path", k.path, "error", console.WithoutPath(err))
		k.terminal.Say("checkpoint %s: can't be removed: %v", console.Plain(k.path, 200), console.WithoutPath(err))
	}
	k.silent.close(true)
	_ = disk.SyncDir(filepath.Dir(k.path)) // one that came back would be gone on with, and find all done
	Step("checkpoint.removed")
}

// Close gives the checkpoint free.
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

// sayResumed says with what is gone on.
func (k *Checkpointer) sayResumed() {
	p, going := k.Past, "going on"
	if k.lock == nil { // a dry run
		going = "a run would go on"
	}
	if p != nil {
		k.terminal.Log.Info("checkpoint resumed", "path", k.path, "scan", p.Scan, "began", p.Start, "resumed", k.TimesResumed(),
			"finished", p.Stats.TargetsFinished(), "open", len(p.OpenTargets))
		again := ""
		if len(p.OpenTargets) > 0 {
			again = ", " + console.Plural(len(p.OpenTargets), "open one") + " asked again"
		}
		k.terminal.Say("%s with scan %s of %s: %s finished%s", going, console.Plain(p.Scan, 100),
			p.Start.Format(time.RFC3339), console.Plural(p.Stats.TargetsFinished(), "target"), again)
	}
}
