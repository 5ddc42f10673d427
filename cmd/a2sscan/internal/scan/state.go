package scan

import (
	"fmt"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

// sayState prints the state of a scan: how far the scan is, and the counts of all its
// runs. It may be called at any time. It neither interrupts the scan nor waits for it.
func (s *Run) sayState() {
	m := s.monitor.Load()
	if m == nil {
		doing := "preparing"
		if list := s.reading.Load(); list != nil {
			doing = TargetsLine(Reading, list.Progress)
		}
		s.term.Say("state: %s; nothing was sent yet", doing)
		return
	}
	now := m.Stats()
	var changes []ledger.Change
	if rate, all := s.rate.state(); rate > 0 {
		now.Rate, changes = rate, all // the scan may not have applied the last change yet
	}
	v := s.newTracker().Sample(now)
	doing, open := v.far(), console.Plural(v.Open, "target")
	if why := v.waiting(); why != "" {
		doing += ", waiting: " + why
	}
	if v.Held > 0 {
		open += fmt.Sprintf("; held back: %s on %s", console.Grouped(uint64(v.Held)), console.Plural(v.HeldAddrs, "address"))
	}
	if v.Silent > 0 {
		open += "; silent, waiting for a second pass: " + console.Grouped(uint64(v.Silent))
	}
	t := s.term.NewBlock()
	t.Say("state: scan %s, %s", console.Plain(s.id, 100), doing)
	t.Say("open: %s", open)
	listed := s.checkpoint.ListTotal(s.list.Stats())
	now.Add(&s.checkpoint.Past.Stats) // add the counts of earlier runs
	sum := ledger.NewSummary(&ledger.Source{Scan: &now, List: listed}, s.program.Build)
	sum.Changes = changes
	targets := &sum.Targets
	targets.Unfinished = targets.Read - min(targets.Read, targets.LeftOut()+targets.Finished)
	targets.Unread, _ = s.unread(listed)
	sum.SayCounts(t)
	t.Say("output: %s, %s", console.Plain(s.plan.Out.Path, 200), console.Plural(s.out.Count()+s.checkpoint.Past.Records, "record"))
	if s.checkpoint.Enabled {
		t.Say("checkpoint: %s, %s", console.Plain(s.plan.Saved.Path, 200), s.checkpoint.Age())
	}
	t.Print()
}
