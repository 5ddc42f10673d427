package checkpoint

import (
	"errors"
	"math"
)

// errRange means that the checksum is valid but a number is impossible.
var errRange = errors.New("is damaged: it has impossible numbers")

// minTarget is the length of the shortest target in a file.
const minTarget = 4 + 4

// check refuses numbers that no scan can have written. With a wrong place, targets
// would be asked twice or never.
func (c *Checkpoint) check() error {
	l := &c.List
	passed := l.Given + l.Unscannable + l.Excluded + l.OtherShard + l.Duplicate + l.Invalid
	switch {
	case c.Resumed < 0 || c.Resumed > math.MaxInt32:
	case c.Place < l.Given || c.Place > passed:
	case c.Size > 0 && c.Place > c.Size:
	case c.Open > l.Given:
	case !c.Output.inRange(c.Records):
	case !c.Silent.inRange():
	case !c.openInRange():
	default:
		return nil
	}
	return errRange
}

// inRange reports whether the lengths and counts of the output are possible, given
// the number of records of all runs.
func (o *OutputState) inRange(records uint64) bool {
	inParts := o.Records
	for i := range o.Parts {
		if o.Parts[i].Bytes < 0 || o.Parts[i].Records > records {
			return false
		}
		inParts += o.Parts[i].Records
	}
	return o.Offset >= 0 && inParts <= records
}

// inRange reports whether so many bytes can hold so many targets.
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
