package ledger

import (
	"fmt"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ratecontrol"
	"github.com/a2sscan/a2sscan/scanner"
)

// Rates is the part of a summary that is about how fast the scan was.
type Rates struct {
	RateAsked   *float64             `json:"rate_asked"`             // datagrams a second; null: as fast as it goes
	RateReached float64              `json:"rate_reached"`           // in the time in which there were targets to start
	Changes     []ratecontrol.Change `json:"rate_changes,omitempty"` // by signals, of this part; rate_asked is the last one
	RateSettled float64              `json:"rate_settled,omitempty"`
	RateSlowed  uint64               `json:"rate_slowed,omitempty"` // how often it was too fast, without a rate

	RateLimitedBy   string  `json:"rate_limited_by,omitempty"`   // why it was not higher; absent: it was kept
	RateLimitedPart float64 `json:"rate_limited_part,omitempty"` // of the time

	limit scanner.Wait
	brief bool // RateReached is of too short a time to mean anything
}

// leastBusy is how long a scan has to send so that its rate means something, and
// oneProcessor what one sends in a second at least when it has nothing else to do.
const (
	leastBusy    = 1 // seconds
	oneProcessor = 20_000
)

func NewRates(s *scanner.Stats) Rates {
	r := Rates{RateSettled: s.Settled, RateSlowed: s.Slowed}
	if s.Rate != scanner.Off {
		r.RateAsked = &s.Rate
	}
	idle := float64(s.Waited[scanner.WaitReplies]+s.Waited[scanner.WaitCooldown]) / 1e6
	busy := s.Elapsed.Seconds() - idle
	if r.brief = busy < leastBusy; busy > 0 {
		r.RateReached = float64(s.DatagramsSent()) / busy
	}
	r.limit, r.RateLimitedPart = s.LimitedBy()
	r.RateLimitedBy = r.limit.Word()
	return r
}

// String says it in one line. What was reached is the rate while targets were
// started, not that of the whole time.
func (r *Rates) String() string {
	asked := "as fast as it goes"
	switch {
	case len(r.Changes) > 0 && r.RateAsked != nil:
		asked = fmt.Sprintf("%s/s asked after %s from %s/s", console.Short(*r.RateAsked),
			console.Plural(len(r.Changes), "change"), console.Short(r.Changes[0].From))
	case r.RateAsked != nil:
		asked = console.Short(*r.RateAsked) + "/s asked"
	case r.RateSettled > 0:
		return asked + ", settled at " + console.Short(r.RateSettled) + "/s"
	}
	if r.brief {
		return asked
	}
	return asked + ", " + console.Short(r.RateReached) + "/s reached while asking"
}

// said is the rate that was reached, where it means something.
func (r *Rates) Reached() string {
	if r.brief {
		return ""
	}
	return ", " + console.Short(r.RateReached) + " datagrams a second while asking"
}

// limitHints say what can be done so that a scan is faster.
var limitHints = [scanner.NumWaits]string{
	scanner.WaitTargets:  "a file instead of a pipe, or whatever writes the list made faster",
	scanner.WaitInFlight: "a higher --in-flight, or a shorter --timeout",
	scanner.WaitAddress:  "many targets share an address: --per-address-rate says how often one is asked",
	scanner.WaitBudget:   "the replies are larger than usual, or come faster than they are written",
	scanner.WaitOutput:   "a faster disk, or less work behind the pipe",
	scanner.WaitBacklog:  "the machine receives no faster: a lower --rate, or one with more cores",
	scanner.WaitKernel:   "the network device takes no more: a lower --rate loses nothing by it",
	scanner.WaitSending:  "one processor sends no faster: a lower --rate, or --shard on several machines",
	scanner.WaitLosses:   "a larger receive buffer, or a machine with more cores",
}

// sayLimit says what kept the scan from its rate.
func (r *Rates) sayLimit(t *console.Terminal) {
	if r.limit == scanner.WaitNothing {
		return
	}
	t.Say("rate limited by %s, %.0f%% of the time", r.limit.Limit(), 100*r.RateLimitedPart)
	hint := limitHints[r.limit]
	if r.limit == scanner.WaitSending && r.RateReached < oneProcessor {
		hint = "this machine was busy with other things: one processor sends more by itself"
	}
	if hint != "" && r.RateAsked != nil {
		t.Hint("%s", hint)
	}
}
