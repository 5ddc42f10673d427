package main

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

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
)

// keeper keeps the checkpoint of a scan. The scan's results pass by it: where
// a snapshot stands among them it makes a mark in the output, and a goroutine
// of its own waits until the output is durable up to the mark, and then
// replaces the checkpoint. Results never wait for that.
type keeper struct {
	*app
	path string
	lock *fileLock
	plan scanPlan
	past *checkpoint // what is gone on with; nil: the scan is new

	foreign bool // the file is no checkpoint

	job     *job
	names   names
	silent  silentFile
	waiting iter.Seq[scanner.Target] // for a second look since earlier parts; nil: none
	rest    iter.Seq[scanner.Target] // what follows in the list, if that was begun
	asked   map[netip.Addr]int       // by earlier parts, while that is counted
	size    uint64                   // places in the list; 0: not known
	walked  walked
	written atomic.Pointer[time.Time] // when the file was last replaced; nil: not yet
	pending chan draft                // of one place: a newer one replaces it
	gone    sync.WaitGroup
	mu      sync.Mutex
	err     error
	began   sync.Once // to write
}

// draft is a checkpoint that is complete but for how long the output is.
type draft struct {
	*checkpoint
	mark *sink.Mark
	at   *scanner.Snapshot
}

// begin starts to take snapshots of j.
func (k *keeper) begin(j *job) {
	k.job = j
	k.pending = make(chan draft, 1)
	k.walked.inherit(k.past)
	k.gone.Go(func() {
		for c := range k.pending {
			k.fail(k.keep(c))
		}
	})
}

// recount passes through what earlier parts of a scan with --max-per-address
// were given, and returns how many servers of each address they asked to the
// end.
func (k *keeper) recount(list *list.List) map[netip.Addr]int {
	if !k.resumes() || k.job.maxPerAddress == 0 {
		return nil
	}
	asked := map[netip.Addr]int{}
	k.asked = asked
	next, stop := iter.Pull(list.From(k.past.Place))
	t, more := next()
	for addr, n := range asked {
		asked[addr] = min(n, k.job.maxPerAddress) // the rest was left out
	}
	for i := range k.past.open {
		asked[k.past.open[i].Addr.Addr()]--
	}
	k.rest = func(yield func(scanner.Target) bool) {
		defer stop()
		for ; more && yield(t); t, more = next() {
		}
	}
	return asked
}

// passed counts a target that earlier parts were given.
func (k *keeper) passed(addr netip.Addr) {
	if k.asked != nil {
		k.asked[addr]++
	}
}

// first writes the checkpoint of a new scan, before its output is made: from
// then on the same command goes on with it.
func (k *keeper) first() error {
	if k == nil || k.past != nil {
		return nil
	}
	c := k.checkpoint(&scanner.Snapshot{})
	c.Output.Replace = k.job.force
	err := k.write(c)
	k.fail(err)
	return err
}

// targets are those that were open, and what follows in the list.
func (k *keeper) targets(list *list.List) iter.Seq[scanner.Target] {
	return func(yield func(scanner.Target) bool) {
		var from, given uint64
		if k.past != nil {
			from, given = k.past.Place, k.past.List.Given
			for _, t := range k.past.open {
				if !yield(t) {
					return
				}
			}
		}
		if most := k.job.maxTargets; most > 0 && given >= most {
			return
		}
		rest := k.rest
		if rest == nil {
			rest = list.From(from)
		}
		for t := range rest {
			k.walked.pass(t.Place, list.Stats())
			given++
			if !yield(t) || given == k.job.maxTargets {
				return
			}
		}
	}
}

// excluded is asked by the sender.
func (k *keeper) excluded(addr netip.Addr) bool {
	rule, is := k.job.exclusions.Stop(addr)
	if is {
		k.walked.stop(rule)
	}
	return is
}

// snapshot is called among the results, where s stands.
func (k *keeper) snapshot(s *scanner.Snapshot) {
	mark, records, err := k.job.out.mark()
	if err != nil || k.failure() != nil {
		return // there is nothing to go on from: the last checkpoint stays
	}
	c := k.checkpoint(s)
	c.Records += records
	select {
	case <-k.pending:
	default:
	}
	k.pending <- draft{c, mark, s}
}

// checkpoint returns what is known where s stands.
func (k *keeper) checkpoint(s *scanner.Snapshot) *checkpoint {
	_, commit := buildVersion()
	c := &checkpoint{
		Program: commit, Scan: k.job.scanID, Start: k.job.start, Plan: k.plan,
		Place: s.Place, Stats: s.Stats, Tally: k.job.tally.Clone(), open: s.Open,
		Names: k.names.all(), Size: k.size,
	}
	begun := s.Stats.Taken
	if past := k.past; past != nil {
		c.Resumed, c.Records = k.resumed(), past.Records
		c.Stats.Add(&past.Stats)
		// The targets that were open come first; those that the scan did not
		// take yet are still open, and the list was not touched.
		again := min(begun, uint64(len(past.open)))
		c.open = append(c.open, past.open[again:]...)
		if begun -= again; begun == 0 {
			c.Place = past.Place
		}
	}
	c.List = k.walked.at(c.Place, begun)
	c.LeftOut = k.walked.leftOut(s.Stats.Excluded + s.Stats.Stopped)
	return c
}

// keep writes a checkpoint when the output is durable up to it.
func (k *keeper) keep(c draft) error {
	if k.failure() != nil {
		return nil
	}
	if _, err := c.mark.Written(); err != nil {
		return nil // the output tells that by itself
	}
	step("output.written")
	offset, err := c.mark.Sync()
	if err != nil {
		return nil
	}
	step("output.synced")
	if err := k.job.out.lost(); err != nil {
		return err
	}
	c.Output = outputState{Offset: offset, Parts: c.mark.Parts(), Records: c.mark.Records()}
	if name := c.mark.Name(); name != "" {
		if c.Output.Tail, err = tailSum(name, offset); err != nil {
			return writeFailure(err)
		}
	}
	if c.Silent, err = k.silent.save(c.at, k.looked()); err != nil {
		return k.unwritten(err)
	}
	if err := k.write(c.checkpoint); err != nil {
		return err
	}
	return k.job.out.settle(c.mark)
}

// write replaces the checkpoint.
func (k *keeper) write(c *checkpoint) error {
	c.Written = time.Now().UTC()
	file, err := c.encode()
	if err == nil {
		err = replaceFile(k.path, file)
	}
	step("checkpoint.written")
	if err == nil {
		k.written.Store(&c.Written)
	}
	if err != nil {
		return k.unwritten(err)
	}
	k.began.Do(func() { k.Log.Info("checkpoint first written", "path", k.path) })
	return nil
}

// age is how old the checkpoint is, in words.
func (k *keeper) age() string {
	last := k.written.Load()
	if last == nil {
		return "not written yet"
	}
	return "written " + console.RoughDuration(time.Since(*last)) + " ago"
}

// unwritten is the error of a checkpoint that could not be written.
func (k *keeper) unwritten(err error) error {
	return console.Fail(console.ExitOutput, "can't write checkpoint %s: %w", console.Plain(k.path, 200), console.WithoutPath(err)).
		WithHint("the one before it is as it was")
}

// fail keeps the first error and ends the scan.
func (k *keeper) fail(err error) {
	if err == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
		k.job.out.fail()
	}
}

func (k *keeper) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// end waits until the last snapshot is a checkpoint.
func (k *keeper) end() error {
	if k == nil {
		return nil
	}
	close(k.pending)
	k.gone.Wait()
	return k.failure()
}

// looked is for how many silent targets earlier parts had begun a second look.
func (k *keeper) looked() int {
	if !k.resumes() {
		return 0
	}
	return k.past.Silent.Looked
}

// resumes reports whether the scan was begun earlier.
func (k *keeper) resumes() bool { return k != nil && k.past != nil }

// total adds what the parts before this one counted to the numbers of a scan,
// and returns those of the list.
func (k *keeper) total(list list.Stats, s *scanner.Stats) list.Stats {
	if !k.resumes() {
		return list
	}
	s.Add(&k.past.Stats)
	return k.walked.total(list)
}

// taken returns the numbers of a list of a scan that was stopped when it had
// taken so many targets: the list may have given out one that nobody waited for.
func (k *keeper) taken(list list.Stats, n uint64) list.Stats {
	if k.resumes() {
		n -= min(n, uint64(len(k.past.open)))
	}
	list.Read += n - list.Given
	list.Given = n
	return list
}

// resumed is how often the scan was gone on with.
func (k *keeper) resumed() int {
	if !k.resumes() {
		return 0
	}
	return k.past.Resumed + 1
}

// records is how many records the parts before this one wrote.
func (k *keeper) records() uint64 {
	if !k.resumes() {
		return 0
	}
	return k.past.Records
}

// behind is with how many targets the parts before this one were done: those
// that they finished, and those that they left out.
func (k *keeper) behind() uint64 {
	if !k.resumes() {
		return 0
	}
	l := &k.past.List
	return l.Unscannable + l.Excluded + l.OtherShard + l.Given - uint64(len(k.past.open))
}

// forget takes back the checkpoint of a scan that never began.
func (k *keeper) forget() {
	if k != nil && k.past == nil {
		k.remove()
	}
}

// done takes the checkpoint of a complete scan away, and says how to go on
// with another. What is written must outlive it.
func (k *keeper) done(complete bool, summary string) {
	switch {
	case k == nil:
	case !complete:
		k.Command("to go on with this scan: " + k.again())
	default:
		step("summary.written")
		if summary != "" {
			_ = syncFile(summary) // it was written: that it outlives a crash is all that is missing
		}
		k.remove()
	}
}

// remove removes the checkpoint.
func (k *keeper) remove() {
	if err := os.Remove(k.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.Log.Warn("checkpoint can't be removed", "path", k.path, "error", console.WithoutPath(err))
		k.Say("checkpoint %s: can't be removed: %v", console.Plain(k.path, 200), console.WithoutPath(err))
	}
	k.silent.close(true)
	_ = syncFolder(filepath.Dir(k.path)) // one that came back would be gone on with, and find all done
	step("checkpoint.removed")
}

// close gives the checkpoint free.
func (k *keeper) close() {
	if k != nil && k.lock != nil {
		_, err := os.Lstat(k.path)
		k.silent.close(false)
		k.lock.release(k.foreign || errors.Is(err, fs.ErrNotExist))
	}
}

// sayResumed says with what is gone on.
func (k *keeper) sayResumed() {
	p, going := k.past, "going on"
	if k.lock == nil { // a dry run
		going = "a run would go on"
	}
	if p != nil {
		k.Log.Info("checkpoint resumed", "path", k.path, "scan", p.Scan, "began", p.Start, "resumed", k.resumed(),
			"finished", p.Stats.TargetsFinished(), "open", len(p.open))
		again := ""
		if len(p.open) > 0 {
			again = ", " + console.Plural(len(p.open), "open one") + " asked again"
		}
		k.Say("%s with scan %s of %s: %s finished%s", going, console.Plain(p.Scan, 100),
			p.Start.Format(time.RFC3339), console.Plural(p.Stats.TargetsFinished(), "target"), again)
	}
}
