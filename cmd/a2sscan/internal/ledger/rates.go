package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/congestion"
)

// Rates is the part of a summary about the speed of the scan.
type Rates struct {
	RateAsked *float64 `json:"rate_asked"` // datagrams per second; null: no limit
	// RateReached is the average number of datagrams per second, not counting the time of
	// the cooldown and of the wait for the last replies.
	RateReached float64 `json:"rate_reached"`
	// Changes are the changes that signals made to the rate in this run. RateAsked is the
	// rate after the last change.
	Changes     []Change `json:"rate_changes,omitempty"`
	RateSettled float64  `json:"rate_settled,omitempty"`
	RateSlowed  uint64   `json:"rate_slowed,omitempty"` // with --rate 0: how many times the scan slowed down

	RateLimitedBy   string  `json:"rate_limited_by,omitempty"`   // what kept the rate below rate_asked; absent: nothing
	RateLimitedPart float64 `json:"rate_limited_part,omitempty"` // fraction of the time in which this limit applied

	found float64 // with --rate auto: the rate that the scan found last
	limit scanner.Wait
	away  bool // the network, or a part of it, could not be reached for a time
	brief bool // RateReached covers too short a time to be meaningful
}

// A rate is meaningful if the scan spent at least leastBusy seconds sending. A pacing
// error is meaningful if the rate was the only limit for at least leastPaced. A processor
// that no other program uses sends at least oneProcessor datagrams per second.
const (
	leastBusy    = 1 // seconds
	leastPaced   = 100 * time.Millisecond
	oneProcessor = 20_000
)

// NewRates returns the rates of a scan.
func NewRates(s *scanner.Stats) Rates {
	r := Rates{RateSettled: s.Settled, RateSlowed: s.Slowed, found: s.Path.Now}
	if s.Rate != scanner.Off {
		r.RateAsked = &s.Rate
	}
	idle := float64(s.Waited[scanner.WaitReplies]+s.Waited[scanner.WaitCooldown]) / 1e6
	busy := s.Active().Seconds() - idle
	if r.brief = busy < leastBusy; busy > 0 {
		r.RateReached = float64(s.DatagramsSent()) / busy
	}
	r.limit, r.RateLimitedPart = s.LimitedBy()
	r.RateLimitedBy = r.limit.Word()
	r.away = s.Outages > 0
	for i, word := range scanner.SendFaults {
		r.away = r.away || s.SendFaults[i] > 0 && awayFaults[word]
	}
	return r
}

// String formats the rates as one line. The rate reached is not the average over the
// complete scan: it excludes the wait for the last replies and the cooldown.
func (r *Rates) String() string {
	asked := "as fast as possible"
	switch {
	case len(r.Changes) > 0 && r.RateAsked != nil:
		asked = fmt.Sprintf("%[3]s/s at first, %[1]s/s after %[2]s", console.Short(*r.RateAsked),
			console.Plural(len(r.Changes), "change"), console.Short(r.Changes[0].From))
	case r.found > 0:
		asked = console.Short(r.found) + "/s found, at most " + console.Short(*r.RateAsked) + "/s"
	case r.RateAsked != nil:
		asked = console.Short(*r.RateAsked) + "/s set"
	case r.RateSettled > 0:
		return asked + ", settled at " + console.Short(r.RateSettled) + "/s"
	}
	if r.brief {
		return asked
	}
	return asked + ", " + console.Short(r.RateReached) + "/s reached while querying"
}

// Reached describes the rate reached, beginning with a comma. It returns "" if the rate
// is not meaningful.
func (r *Rates) Reached() string {
	if r.brief {
		return ""
	}
	return ", " + console.Short(r.RateReached) + " datagrams per second while querying"
}

// limitHints has a hint for each limit: how to make the scan faster, or why it can't be
// faster.
var limitHints = map[string]string{
	"list":        "use a file instead of a pipe, or a faster source of targets",
	"in_flight":   "use a higher --in-flight, or a shorter --timeout",
	"per_address": "many targets share an address, and --per-address-rate limits the datagrams to one address",
	"byte_budget": "the replies are unusually large, or arrive faster than they can be written",
	"output":      "use a faster disk, or a faster program behind the pipe",
	"backlog":     "this machine can't receive faster: use a lower --rate, or more cores",
	"kernel":      "the network device is saturated: a --rate above the rate that was reached makes the scan no faster",
	"cpu":         "one processor can't send faster: use a lower --rate, or --shard on several machines",
	"losses":      "use a larger receive buffer, or a machine with more cores",
}

// awayFaults are the send errors of a network that can't be reached. Until the network is
// back, the kernel holds datagrams in its send buffer, which becomes full.
var awayFaults = map[string]bool{"network_unreachable": true, "host_unreachable": true, "interface_down": true}

const awayHint = "the network of this machine was away for a time; meanwhile the kernel held datagrams back"

func (r *Rates) sayLimit(t *console.Block) {
	if r.limit == scanner.WaitNothing {
		return
	}
	t.Say("slowed by: %s, %.0f%% of the time", r.limit.Limit(), 100*r.RateLimitedPart)
	hint := limitHints[r.limit.Word()]
	if r.limit.Word() == "kernel" && r.away {
		hint = awayHint
	}
	if r.limit == scanner.WaitSending && r.RateReached < oneProcessor {
		hint = "stop other programs: they slowed this machine, and so the scan"
	}
	if hint != "" && r.RateAsked != nil {
		t.Hint("%s", hint)
	}
}

// pacingError returns how much faster a scan was than its rate allows, as a fraction of
// the rate. It considers only the time in which the rate was the only limit. It returns
// nil if the error can't be measured.
func pacingError(s *scanner.Stats) *float64 {
	paced := s.Active()
	for _, us := range s.Waited {
		paced -= time.Duration(us) * time.Microsecond
	}
	if s.Rate == scanner.Off || s.Allowed == 0 || paced < leastPaced {
		return nil
	}
	e := float64(s.DatagramsSent())/float64(s.Allowed) - 1
	return &e
}

// Path is the part of a summary about the rate that a scan with --rate auto found. In a
// resumed scan, the rates and changes are from the last run.
type Path struct {
	Rate float64 `json:"rate"`     // datagrams per second, at the end of the scan
	Most float64 `json:"rate_max"` // the highest rate that was allowed
	// Carried is how many datagrams per second the path carried when it was last full. Lost
	// is the fraction of first requests that was lost at a higher rate. Both keys are absent
	// if the path was never full.
	Carried   float64      `json:"carried,omitempty"`
	Lost      float64      `json:"lost,omitempty"`
	Raised    uint64       `json:"raised"`    // how many times the rate rose
	Slowed    uint64       `json:"slowed"`    // how many times the rate fell
	Unrelated uint64       `json:"unrelated"` // how many times loss increased for other reasons than the rate
	Changes   []PathChange `json:"changes"`   // the last changes of the rate, oldest first
}

// PathChange is one change of the rate and its reason.
type PathChange struct {
	Second float64 `json:"second"` // seconds since the scan began
	From   float64 `json:"from"`   // datagrams per second
	To     float64 `json:"to"`
	Why    string  `json:"why"`
}

var whyTexts = map[string]string{
	"clear": "no more loss than at the lower rate", "loss": "the path lost more at the higher rate",
	"drops_here":  "this machine dropped datagrams",
	"few_answers": "too few servers answer to measure loss",
}

func newPath(x *congestion.Path) *Path {
	if !x.On {
		return nil
	}
	p := &Path{
		Rate: x.Now, Most: x.Most, Carried: x.Carried, Lost: x.Lost,
		Raised: x.Raised, Slowed: x.Slowed, Unrelated: x.Unrelated, Changes: []PathChange{},
	}
	for _, c := range slices.Backward(x.Changes[:]) {
		if c.At > 0 {
			p.Changes = append(p.Changes, PathChange{c.At.Seconds(), c.From, c.To, c.Why})
		}
	}
	return p
}

// String formats the rate that the path carried, and the reason for the last change of the
// rate, as one line.
func (p *Path) String() string {
	s := "carried everything, up to " + console.Short(p.Rate) + "/s"
	if p.Carried > 0 {
		s = fmt.Sprintf("carried %s/s when the path was full, and lost %.0f%% at a higher rate", console.Short(p.Carried), 100*p.Lost)
	}
	s += fmt.Sprintf("; the rate rose %s and fell %s", console.Plural(p.Raised, "time"), console.Plural(p.Slowed, "time"))
	if n := len(p.Changes); n > 0 {
		c := &p.Changes[n-1]
		s += fmt.Sprintf(", most recently to %s/s (%s)", console.Short(c.To), whyTexts[c.Why])
	}
	if p.Unrelated > 0 {
		s += "; some loss did not depend on the rate"
	}
	return s
}

// Timeouts is the part of a summary about the timeouts that the scan learned from round
// trips. In a resumed scan, these timeouts are from the last run.
type Timeouts struct {
	Last     float64 `json:"last_ms"` // timeout of the first attempt, at the end of the scan
	Least    float64 `json:"least_ms"`
	Most     float64 `json:"most_ms"`
	Networks int     `json:"networks"` // /8 networks that had a timeout of their own at the end
	Reopened uint64  `json:"reopened"` // targets that answered after they had timed out
}

func newTimeouts(x *scanner.Timeouts) *Timeouts {
	if !x.Learned {
		return nil
	}
	ms := func(d time.Duration) float64 { return float64(d.Milliseconds()) }
	return &Timeouts{ms(x.Now), ms(x.Least), ms(x.Most), x.Blocks, x.Reopened}
}

// String formats the timeouts as one line.
func (x *Timeouts) String() string {
	parts := []string{fmt.Sprintf("%.0f ms at the end", x.Last)}
	if x.Least != x.Most {
		parts[0] += fmt.Sprintf(" (from %.0f to %.0f ms during the scan)", x.Least, x.Most)
	}
	if x.Networks > 0 {
		parts = append(parts, console.Plural(x.Networks, "/8 network")+" with their own timeout")
	}
	if x.Reopened > 0 {
		parts = append(parts, console.Plural(x.Reopened, "target")+" answered after the timeout")
	}
	return strings.Join(parts, "; ")
}
