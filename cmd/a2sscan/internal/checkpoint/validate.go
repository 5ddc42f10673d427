package checkpoint

import (
	"errors"
	"math"
)

// errRange means that the checksum is valid but a number is impossible or
// contradicts the others.
var errRange = errors.New("is damaged: it has impossible numbers")

// minTarget is the minimum length of an encoded target, in bytes.
const minTarget = 4 + 4

// check returns errRange for numbers that no scan can have written. With a wrong
// place, targets would be queried twice or never.
func (c *Checkpoint) check() error {
	for _, possible := range []bool{
		c.Scan != "" && !c.Start.IsZero(),
		0 <= c.Resumed && c.Resumed <= math.MaxInt32,
		c.Size == 0 || c.Place <= c.Size,
		c.placeInRange(),
		c.openInRange(),
		c.Output.inRange(c.Records, c.Plan.Rotate),
		c.Records == c.recordsOfFinished(),
		c.Silent.inRange(),
	} {
		if !possible {
			return errRange
		}
	}
	return nil
}

// placeInRange reports whether Place agrees with the counts. Every entry before
// Place was yielded by the list or excluded, and every yielded target is finished,
// was excluded later, or is still open or silent.
func (c *Checkpoint) placeInRange() bool {
	l, s := &c.List, &c.Stats
	notAsked := s.Unscannable + s.Excluded + s.Duplicate + s.OverLimit
	waiting := c.Open + uint64(max(0, c.Silent.Waiting()))
	return c.Place == l.Given+l.Unscannable+l.Excluded+l.OtherShard &&
		l.Given == s.TargetsFinished()+notAsked+waiting
}

// recordsOfFinished is how many records the finished targets must have.
func (c *Checkpoint) recordsOfFinished() uint64 {
	if c.Plan.Unanswered {
		return c.Stats.TargetsFinished()
	}
	return c.Stats.Answered()
}

// inRange reports whether the lengths, hashes and counts of the output are possible,
// given the number of records of all runs.
func (o *OutputState) inRange(records uint64, rotates bool) bool {
	if !rotates {
		return len(o.Parts) == 0 && isCounted(o.Offset, records, o.Sum)
	}
	all := o.Records
	for i := range o.Parts {
		p := &o.Parts[i]
		if !isCounted(p.Bytes, p.Records, p.Sum) {
			return false
		}
		all += p.Records
	}
	return all == records && isCounted(o.Offset, o.Records, o.Sum)
}

// isCounted reports whether a file of this length can have this many records. Only
// an empty file has none, and only an empty file may lack a hash.
func isCounted(bytes int64, records uint64, sum string) bool {
	return bytes >= 0 && (bytes > 0) == (records > 0) && (bytes == 0 || sum != "")
}

// inRange reports whether a file of this length can hold this many targets, and
// whether no more than these have started the second pass.
func (s *SilentState) inRange() bool {
	return s.Bytes >= 0 && 0 <= s.SecondPassed && s.SecondPassed <= s.Targets && int64(s.Targets) <= s.Bytes/minTarget
}

// openInRange reports whether all open targets come before Place in the list.
func (c *Checkpoint) openInRange() bool {
	for i := range c.OpenTargets {
		if c.OpenTargets[i].Place >= c.Place {
			return false
		}
	}
	return true
}
