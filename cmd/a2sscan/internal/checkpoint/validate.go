package checkpoint

import (
	"errors"
	"math"
)

// errRange is a checkpoint whose checksum is right and whose numbers are not.
var errRange = errors.New("is damaged: its numbers can't be right")

// minTarget is the length of the shortest target in a file.
const minTarget = 4 + 4

// check refuses numbers that no scan can have written. A wrong place would ask
// targets twice, or never.
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

// inRange reports whether the output can be so long; records are all that
// were written.
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

// inRange reports whether so many targets can be in so many bytes.
func (s *SilentState) inRange() bool {
	return s.Bytes >= 0 && 0 <= s.Looked && s.Looked <= s.Targets && int64(s.Targets) <= s.Bytes/minTarget
}

// openInRange reports whether the open targets come from the part of the list
// that was passed.
func (c *Checkpoint) openInRange() bool {
	for i := range c.OpenTargets {
		if c.OpenTargets[i].Place >= c.Place {
			return false
		}
	}
	return true
}
