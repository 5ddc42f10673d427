package census

import (
	"fmt"
	"math"
)

// TargetList is the target list that a scan was given.
type TargetList struct {
	SHA256   string                   // of the bytes of the list, in hex
	Targets  uint64                   // number of distinct targets in the list
	Contains func(target uint64) bool // target is IPv4 address<<16 | port
}

// whoWasAsked finds out how to tell servers that are gone from servers that the
// scan did not query. It sets AskedKnown and, if there is a target list,
// NotAskedWhy or d.asked.
func (d *differ) whoWasAsked() {
	if d.out.New.Silent > 0 {
		d.out.AskedKnown = "unanswered"
	}
	if d.o.Asked == nil {
		return
	}
	if d.out.NotAskedWhy = d.c[1].notProven(d.o.Asked, d.new); d.out.NotAskedWhy == "" {
		d.out.AskedKnown = "targets"
		d.asked = func(key uint64) bool { return d.o.Asked.Contains(key &^ (1 << 48)) }
	}
}

// notProven returns why the summaries do not prove that the scan queried every
// target of the list, or "" if they do. Each condition excludes a way in which a
// live server could be absent from the census.
func (c *Census) notProven(list *TargetList, t *table) string {
	run := c.run()
	if run == nil {
		return "the new census has no summary"
	}
	for _, s := range c.summaries {
		if len(s.Inputs) != 1 || s.Inputs[0].SHA256 == "" {
			return "the summary does not name one list by its hash"
		}
		if s.Inputs[0].SHA256 != list.SHA256 {
			return "the new census was made of another list"
		}
	}
	var records uint64
	for _, s := range c.summaries {
		records += s.Records
	}
	n := &run.Targets
	switch {
	case run.Ended != "complete":
		return "the scan is not complete: " + run.Ended
	case n.Excluded+n.Stopped > 0:
		return fmt.Sprintf("exclusions left out %d targets", n.Excluded+n.Stopped)
	case n.OverLimit > 0:
		return fmt.Sprintf("the limit per address left out %d targets", n.OverLimit)
	case n.Unfinished+n.Unread > 0:
		return fmt.Sprintf("%d targets were not finished", n.Unfinished+n.Unread)
	case n.Finished != list.Targets:
		return fmt.Sprintf("the list has %d targets, and the scan asked %d", list.Targets, n.Finished)
	case records != uint64(len(t.rows))+t.duplicates:
		return fmt.Sprintf("the scan wrote %d records, and the files have %d", records, uint64(len(t.rows))+t.duplicates)
	}
	for _, r := range t.rows {
		if !list.Contains(r.key &^ (1 << 48)) {
			return fmt.Sprintf("the new census has %s, which is not in the list", addrOf(r.key))
		}
	}
	return ""
}

// estimateLost estimates how many of the servers that are silent now are alive, and
// sets LikelyLost and d.chance. It takes the new scan's estimate of servers missed
// by loss, and assumes that these were in the old census as often as the servers
// that answered.
func (d *differ) estimateLost() {
	loss := d.out.New.Missed
	if loss == nil {
		return
	}
	silent := d.goneSilent()
	answered := float64(d.out.New.All.Servers)
	known := float64(d.out.Compared + silent)
	lost := math.Min(float64(silent), *loss*math.Min(1, known/math.Max(1, answered+*loss)))
	lost = round6(lost)
	d.out.LikelyLost = &lost
	if silent > 0 {
		d.chance = lost / float64(silent)
	}
}

// goneSilent returns how many servers are gone without being reported unreachable.
func (d *differ) goneSilent() (n uint64) { return d.out.Changes[KindGone] - d.unreachable }
