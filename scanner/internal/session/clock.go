package session

import (
	"math"
	"time"
)

// LastWaits are how long after the last request an answer is still worth waiting
// for, once every target was started; 0: as long as the fixed schedule says.
type LastWaits struct {
	Silent time.Duration // for a target that sent nothing
	Heard  time.Duration // for the answer to a question, if the target sent something
}

// Clock holds the times of a session. Its times of sending, and those in Answer, are in µs
// after FirstAt, so that they take four bytes.
type Clock struct {
	FirstAt time.Duration // first datagram sent
	wakeMS  uint32        // ms after FirstAt: the time of the next call of Tick; 0: none
	sentUS  uint32        // last datagram sent
}

// Wake returns the time of the next call of Tick, or 0 if none is needed.
func (c *Clock) Wake() time.Duration {
	if c.wakeMS == 0 {
		return 0
	}
	return c.FirstAt + time.Duration(c.wakeMS)*time.Millisecond
}

// wakeAt sets the wake-up time to at, rounded up to a whole number of milliseconds
// after FirstAt.
func (c *Clock) wakeAt(at time.Duration) {
	ms := (at - c.FirstAt + time.Millisecond - 1) / time.Millisecond
	c.wakeMS = uint32(min(max(ms, 0), math.MaxUint32))
}

// LastAt returns the time at which the last datagram was sent.
func (c *Clock) LastAt() time.Duration { return c.at(c.sentUS) }

// at returns the time us µs after the first datagram.
func (c *Clock) at(us uint32) time.Duration { return c.FirstAt + time.Duration(us)*time.Microsecond }

// since returns the time from us µs after the first datagram until now, at least a
// microsecond. The time at which a request left is not known exactly, so the answer
// may seem to come before the request.
func (c *Clock) since(us uint32, now time.Duration) time.Duration {
	return max(now-c.at(us), time.Microsecond)
}
