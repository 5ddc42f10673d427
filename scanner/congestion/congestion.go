// Package congestion finds a rate for a scan without a fixed rate. It has no clock and no
// I/O: it takes counts and returns a rate.
//
// Without a maximum, only this machine limits the rate. The scan sends without a limit
// until the first sign of overload. Then the rate falls and grows again, as a cubic
// function of the time (RFC 9438): it returns almost to the rate of the overload, stays
// near it for some seconds, and rises further if there is no new sign.
//
// With a maximum, the package measures the path. Dead targets, random loss and servers
// that ignore RULES look like datagrams that a router dropped, but only loss on a full
// path depends on the rate. So the time is divided into windows with one rate each. A
// trial compares a window at a higher rate with the windows at the lower rate before and
// after it:
//
//	rest ──▶ high ──▶ low … until the high window and one low window are judged
//	  ▲                 │
//	  └─── loss is not higher: take the higher rate, and double the next step
//	       loss is higher: stay a little below what the path carried, and rest longer
//
// If a window at rest loses much more than usual, the rate falls to what got through, and
// the next window shows whether loss follows the rate. If loss does not fall with the
// rate, the old rate is restored.
//
// The evidence is the share of first requests (not repetitions) that are answered. The
// package uses the requests to servers that have already answered. If there are too few,
// it also uses the requests to unknown targets. The high window must then be worse than
// the windows before and after it, since the share of dead targets may change along the
// list.
package congestion

import (
	"math"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/trips"
)

// Control controls the rate of a scan. The scan reports each first request that it sends,
// each answer to a first request and, whenever Due reports true, the signs of overload.
type Control struct {
	Rate float64 // the rate of the scan in datagrams per second; 0 if the scan has no rate yet
	// Settled is the mean rate, in datagrams per second, over the time in which only Rate and
	// the processor held the scan back.
	Settled   float64
	Overloads uint64 // number of samples in which this machine was overloaded

	sampled time.Duration // when the last sample was taken
	seen    Signs         // the last sample
	lately  float64       // mean rate of the last samples, over about 50 ms
	trips   trips.Recent
	fall    fall
	path    *trials // measures the path; nil if only this machine limits the rate
}

type class uint8

const (
	unknown class = iota // the target had sent nothing before the request
	known                // the server had answered before the request

	numClasses = iota
)

func classOf(heard bool) class {
	if heard {
		return known
	}
	return unknown
}

// Signs are what the scan counted and measured for a sample. Sent, Drops and PutOff are
// counters.
type Signs struct {
	Sent   uint64 // datagrams sent
	Drops  uint64 // received datagrams that the kernel dropped
	PutOff uint64 // sends that the kernel refused for the moment
	Queued int    // bytes in the receive buffer
	Room   int    // size of the receive buffer in bytes
}

// fall describes the last reduction of the rate in a scan without a maximum rate.
type fall struct {
	rate float64 // the rate at the overload
	part float64 // the overload reduced the rate to rate × part
	// at is the time of the overload, or 0 if there was none. While the scan uses little of
	// its rate, this time is moved forward, so that the rate does not grow.
	at time.Duration
}

// The constants of Control. Rates are datagrams per second.
const (
	// sampleEvery is the shortest time between two calls of Sample.
	sampleEvery = 10 * time.Millisecond

	leastRate = 1000 // minimum rate of a scan without a maximum
	nearMuch  = 0.95 // the plateau of the cubic function, as a share of the rate at the overload
	cubicUp   = 0.01 // factor of the cubic function; time is in seconds
	// A change of the rate shows in the signs after a delay. The delay is estimated once
	// enoughTrips round trips are known.
	enoughTrips = 64
)

// New returns the Control of a scan. Its argument is the maximum rate; if it is 0, only
// this machine limits the rate.
func New(most float64) *Control {
	c := &Control{}
	if most > 0 {
		c.path = newTrials(most)
		c.Rate = c.path.rate
	}
	return c
}

// Path returns what is known about the path. Without a maximum, the result is zero.
func (c *Control) Path() Path {
	if c.path == nil {
		return Path{}
	}
	return c.path.found
}

// Sent counts a first request that was just sent. Its argument says whether the server
// had answered before.
func (c *Control) Sent(heard bool) {
	if c.path != nil {
		c.path.found.Asked[classOf(heard)]++
		c.path.windows.current().asked[classOf(heard)]++
	}
}

// Answered counts the answer to a first request. Its last two arguments say when the
// request was sent, and whether the server had answered before.
func (c *Control) Answered(now, at time.Duration, heard bool) {
	c.trips.Add(now-at, true)
	if c.path != nil {
		c.path.answered(at, classOf(heard))
	}
}

// Due reports whether it is time for a sample.
func (c *Control) Due(now time.Duration) bool { return now-c.sampled >= sampleEvery }

// Sample adjusts Rate. Its last argument says whether only the rate and the processor
// held the scan back since the last sample.
func (c *Control) Sample(now time.Duration, s Signs, free bool) {
	took := (now - c.sampled).Seconds()
	sent, dropped := float64(s.Sent-c.seen.Sent), float64(s.Drops-c.seen.Drops)
	filling := s.Room > 0 && s.Queued > s.Room/2 && s.Queued >= c.seen.Queued
	overload := s.Drops > c.seen.Drops || s.PutOff > c.seen.PutOff || filling
	c.sampled, c.seen = now, s
	c.lately += (sent/took - c.lately) * min(1, took/0.05)
	if free {
		if c.Settled == 0 {
			c.Settled = sent / took
		}
		c.Settled += (sent/took - c.Settled) * min(1, took/2)
	}
	if c.path != nil {
		c.Rate = c.path.sample(now, sent, dropped, &c.trips)
		return
	}
	c.adapt(now, overload)
	if overload {
		c.Overloads++
	}
}

// adapt sets the rate of a scan without a maximum. After a reduction of the rate, adapt
// waits until the effect of the reduction can show in the signs of overload.
func (c *Control) adapt(now time.Duration, overload bool) {
	rate, last, echo := c.Rate, &c.fall, sampleEvery
	since := now - last.at
	if c.trips.Known() >= enoughTrips {
		echo += min(c.trips.Upper(2), mostWindow)
	}
	switch {
	case overload && (last.at == 0 || since >= echo):
		again := last.at > 0 && since < 2*echo+sampleEvery
		*last = fall{rate: c.lately, part: 0.8, at: now}
		if rate > 0 {
			last.rate = min(c.lately, rate)
		}
		if again {
			last.part = 0.5 // the last reduction was not enough
		}
		c.Rate = max(last.rate*last.part, leastRate)
	case overload || rate == 0:
	case c.lately < rate/2:
		last.at += sampleEvery // the scan uses less than half of the rate
	default:
		t := since.Seconds() - math.Cbrt((nearMuch-last.part)/cubicUp)
		c.Rate = max(rate, last.rate*(nearMuch+cubicUp*t*t*t))
	}
}
