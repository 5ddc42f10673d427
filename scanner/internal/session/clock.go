package session

import (
	"math"
	"time"
)

// LastWaits are the timeouts after the last request, once every target was started. 0
// means the timeout of the fixed schedule.
type LastWaits struct {
	Silent time.Duration // for a target that sent nothing
	Heard  time.Duration // for the answer to a question, if the target sent something
}

// Clock holds the times of a session. The times at which further datagrams were sent,
// here and in Answer, are in µs after FirstAt, so that each takes four bytes.
type Clock struct {
	FirstAt time.Duration // when the first datagram was sent
	wakeMS  uint32        // when to call Tick next, in ms after FirstAt; 0 if this is not needed
	sentUS  uint32        // when the last datagram was sent, in µs after FirstAt
}

// Wake returns the time of the next call of Tick, or 0 if none is needed.
func (c *Clock) Wake() time.Duration {
	if c.wakeMS == 0 {
		return 0
	}
	return c.FirstAt + time.Duration(c.wakeMS)*time.Millisecond
}

// wakeAt sets the wake-up time. It rounds the time up to a whole number of milliseconds
// after FirstAt.
func (c *Clock) wakeAt(at time.Duration) {
	ms := (at - c.FirstAt + time.Millisecond - 1) / time.Millisecond
	c.wakeMS = uint32(min(max(ms, 0), math.MaxUint32))
}

// LastAt returns the time at which the last datagram was sent.
func (c *Clock) LastAt() time.Duration { return c.at(c.sentUS) }

func (c *Clock) at(us uint32) time.Duration { return c.FirstAt + time.Duration(us)*time.Microsecond }

// since returns the time from a request until now. Its first argument is when the
// request was sent, in µs after FirstAt. This time is only an estimate, so the answer may
// seem to come before the request. The result is therefore at least a microsecond.
func (c *Clock) since(us uint32, now time.Duration) time.Duration {
	return max(now-c.at(us), time.Microsecond)
}
