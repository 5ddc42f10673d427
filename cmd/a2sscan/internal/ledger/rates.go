package ledger

import (
	"fmt"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ratecontrol"
	"github.com/a2sscan/a2sscan/scanner"
)

// Rates is the part of a summary about the speed of the scan.
type Rates struct {
	RateAsked   *float64             `json:"rate_asked"`             // datagrams per second; null: no limit
	RateReached float64              `json:"rate_reached"`           // datagrams per second, not counting the time of waiting for the last replies and in the cooldown
	Changes     []ratecontrol.Change `json:"rate_changes,omitempty"` // made by signals in this run; rate_asked is the last rate
	RateSettled float64              `json:"rate_settled,omitempty"`
	RateSlowed  uint64               `json:"rate_slowed,omitempty"` // with --rate 0: how many times the scan slowed down

	RateLimitedBy   string  `json:"rate_limited_by,omitempty"`   // what kept it below rate_asked; absent: nothing did
	RateLimitedPart float64 `json:"rate_limited_part,omitempty"` // for what fraction of the time

	found float64 // with --rate auto: the rate that the scan found last
	limit scanner.Wait
	brief bool // RateReached covers too short a time to be meaningful
}

// leastBusy is the minimum time for which a scan must send for its rate to be
// meaningful. oneProcessor is the lowest rate, in datagrams per second, that a
// processor reaches if other programs leave it idle.
const (
	leastBusy    = 1 // seconds
	oneProcessor = 20_000
)

// NewRates returns the rates of a scan.
func NewRates(s *scanner.Stats) Rates {
	r := Rates{RateSettled: s.Settled, RateSlowed: s.Slowed, found: s.Path.Now}
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

// String formats the rates as one line. The rate reached is not the average over
// the whole scan: it excludes the wait for the last replies and the cooldown.
func (r *Rates) String() string {
	asked := "as fast as possible"
	switch {
	case len(r.Changes) > 0 && r.RateAsked != nil:
		asked = fmt.Sprintf("%s/s asked after %s from %s/s", console.Short(*r.RateAsked),
			console.Plural(len(r.Changes), "change"), console.Short(r.Changes[0].From))
	case r.found > 0:
		asked = console.Short(r.found) + "/s found, at most " + console.Short(*r.RateAsked) + "/s"
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

// unreached returns the limit of the rate, formatted to follow the rate reached. It
// returns "" if there is no limit, or if the scan came close to it.
func (r *Rates) unreached() string {
	if r.RateAsked == nil || r.RateReached > 0.95**r.RateAsked {
		return ""
	}
	return " (limit " + console.Short(*r.RateAsked) + "/s)"
}

// Reached describes the rate reached, formatted to follow other text. It returns ""
// if the rate is not meaningful.
func (r *Rates) Reached() string {
	if r.brief {
		return ""
	}
	return ", " + console.Short(r.RateReached) + " datagrams per second while asking"
}

// limitHints suggest, for each limit, how to make a scan faster.
var limitHints = map[string]string{
	"list":        "use a file instead of a pipe, or a faster source of targets",
	"in_flight":   "use a higher --in-flight, or a shorter --timeout",
	"per_address": "many targets share an address: --per-address-rate limits how often one is asked",
	"byte_budget": "the replies are unusually large, or arrive faster than they can be written",
	"output":      "use a faster disk, or do less work behind the pipe",
	"backlog":     "this machine can't receive faster: use a lower --rate, or more cores",
	"kernel":      "the network device is saturated: a lower --rate costs nothing",
	"cpu":         "one processor can't send faster: use a lower --rate, or --shard on several machines",
	"losses":      "use a larger receive buffer, or a machine with more cores",
}

// sayLimit prints what limited the rate of the scan, with a hint.
func (r *Rates) sayLimit(t *console.Block) {
	if r.limit == scanner.WaitNothing {
		return
	}
	t.Say("slowed by: %s, %.0f%% of the time", r.limit.Limit(), 100*r.RateLimitedPart)
	hint := limitHints[r.limit.Word()]
	if r.limit == scanner.WaitSending && r.RateReached < oneProcessor {
		hint = "other programs kept this machine busy: without them it sends faster"
	}
	if hint != "" && r.RateAsked != nil {
		t.Hint("%s", hint)
	}
}
