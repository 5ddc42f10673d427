package scanrun

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/scanner"
)

// forecast returns the forecast of a scan with these options. listed is the number
// of targets from lists, inNetworks of those from networks.
func (o *Options) forecast(listed, inNetworks float64) *progress.Forecast {
	fc := &progress.Forecast{
		Listed: listed, InNetworks: inNetworks,
		Questions: scanner.Questions(o.Query), Schedule: o.config().Schedule(), Fallback: o.Fallback,
		Rate: float64(o.Pace.Rate), Finds: o.Pace.Find, AddressRate: float64(o.Pace.AddressRate),
	}
	if ports, err := inputs.ParsePorts("--port", o.Ports); err == nil {
		fc.Ports = len(ports)
	}
	return fc
}

// foresee returns the forecast for the targets that are left. n is the number of
// these targets, including those of other shards. known is false if the length of
// the list is unknown.
func (s *Run) foresee() (fc *progress.Forecast, n uint64, known bool) {
	size, known := s.list.Size()
	if !known {
		return nil, 0, false
	}
	past := &s.checkpoint.Past
	n = size - min(size, past.Place)
	if most := s.opts.MaxTargets; most > 0 {
		n = min(n, most-min(most, past.List.Given))
	}
	n += uint64(len(past.OpenTargets)) + uint64(past.Silent.Waiting())
	here := float64(n) / float64(max(1, s.opts.Targets.Shard.Count))
	listed := here * float64(s.list.Listed()) / float64(max(size, 1))
	return s.opts.forecast(listed, here-listed), n, true
}

// printPlan prints how many targets are left, and how many datagrams and how much
// time they need.
func (s *Run) printPlan() {
	fc, n, known := s.foresee()
	left := ""
	if s.checkpoint.Resumes {
		left = " left"
	}
	switch {
	case known && n == 0: // nothing is left to ask, as the end says
	case s.opts.DryRun && known: // the dry run prints the forecast at its end, from the exact number of targets
		s.term.Say("%s%s %s", console.Plural(n, "target"), left, s.opts.Targets.said())
	case !known:
		s.term.Say("targets%s as they come, %s; %s", left, s.opts.Pace.said(), s.opts.Targets.said())
	case s.opts.Targets.Shard.Count > 1:
		s.term.Say("%s targets%s, 1 in %d of them ours, %s; %s", console.Grouped(n), left, s.opts.Targets.Shard.Count, fc, s.opts.Targets.said())
	default:
		s.term.Say("%s%s, %s; %s", console.Plural(n, "target"), left, fc, s.opts.Targets.said())
	}
}

// said returns the rate as messages show it.
func (p *Pace) said() string {
	rate := console.PerSecond(float64(p.Rate))
	if p.Find {
		return "at most " + rate
	}
	return rate
}

// logged returns the rate as the log shows it.
func (p *Pace) logged() string {
	rate := console.Short(p.Rate.Limit())
	if p.Find {
		return "auto, at most " + rate
	}
	return rate
}

// set returns the rate that signals can change, or 0 if the scan finds its own
// rate.
func (p *Pace) set() float64 {
	if p.Find {
		return 0
	}
	return float64(p.Rate)
}
