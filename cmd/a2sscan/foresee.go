package main

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/scanner"
)

// forecast is that of a scan of these flags.
func (f *scanFlags) forecast(listed, inNetworks float64) *progress.Forecast {
	fc := &progress.Forecast{
		Listed: listed, InNetworks: inNetworks,
		Questions: scanner.Questions(f.query), Schedule: f.schedule(), Fallback: f.fallback,
		Cooldown: f.cooldown, Rate: float64(f.pace.rate), AddressRate: float64(f.pace.addressRate),
	}
	if ports, err := inputs.ParsePorts("--port", f.ports); err == nil {
		fc.Ports = ports.Len()
	}
	return fc
}

// schedule is when a target is asked again.
func (f *scanFlags) schedule() scanner.Schedule {
	return scanner.Schedule{Timeout: f.timeouts.timeout, Retries: f.timeouts.retries, SecondPass: f.secondLook}
}

// foresee returns the forecast of what is left to ask, and of how many targets
// it is; known is false if the length of the list is unknown.
func (s *scanRun) foresee() (fc *progress.Forecast, n uint64, known bool) {
	size, known := s.list.Size()
	if !known {
		return nil, 0, false
	}
	n, most := size, s.flags.maxTargets
	if past := s.checkpoint.Past; past != nil {
		n -= min(n, past.Place)
		most -= min(most, past.List.Given)
	}
	if s.flags.maxTargets > 0 {
		n = min(n, most)
	}
	if past := s.checkpoint.Past; past != nil {
		n += uint64(len(past.OpenTargets)) + uint64(past.Silent.Waiting())
	}
	here := float64(n) / float64(max(1, s.flags.targets.shard.Count))
	listed := here * float64(s.list.Listed()) / float64(max(size, 1))
	return s.flags.forecast(listed, here-listed), n, true
}

// printPlan reports the targets, and the datagrams and time that they take.
func (s *scanRun) printPlan() {
	fc, n, known := s.foresee()
	left := ""
	if s.checkpoint.Resumes() {
		left = " left"
	}
	switch {
	case s.flags.dryRun && known: // how many of them are asked, and what that takes, comes at its end
		s.app.term.Say("%s%s %s", console.Plural(n, "target"), left, s.flags.targets.said())
	case !known:
		s.app.term.Say("targets%s as they come, %s; %s", left, console.PerSecond(float64(s.flags.pace.rate)), s.flags.targets.said())
	case s.flags.targets.shard.Count > 1:
		s.app.term.Say("%s targets%s, 1 in %d of them ours, %s; %s", console.Grouped(n), left, s.flags.targets.shard.Count, fc, s.flags.targets.said())
	default:
		s.app.term.Say("%s%s, %s; %s", console.Plural(n, "target"), left, fc, s.flags.targets.said())
	}
}
