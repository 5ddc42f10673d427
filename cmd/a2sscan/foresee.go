package main

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/scanner"
)

// forecast is that of a scan of these flags.
func (f *scanFlags) forecast(listed, inNetworks float64) *progress.Forecast {
	fc := &progress.Forecast{
		Listed: listed, InNetworks: inNetworks,
		Questions: scanner.Questions(f.query), Schedule: f.schedule(), Fallback: f.fallback,
		Cooldown: f.cooldown, Rate: float64(f.rate), AddressRate: float64(f.addressRate),
	}
	if ports, err := readPorts("--port", f.ports); err == nil {
		fc.Ports = ports.Len()
	}
	return fc
}

// schedule is when a target is asked again.
func (f *scanFlags) schedule() scanner.Schedule {
	return scanner.Schedule{Timeout: f.timeout, Retries: f.retries, SecondPass: f.secondLook}
}

// foresee returns the forecast of what is left to ask, and of how many targets
// it is; known is false where the list does not say how long it is.
func (j *job) foresee() (fc *progress.Forecast, n uint64, known bool) {
	size, known := j.list.Size()
	if !known {
		return nil, 0, false
	}
	n, most := size, j.maxTargets
	if past := j.pastCheckpoint(); past != nil {
		n -= min(n, past.Place)
		most -= min(most, past.List.Given)
	}
	if j.maxTargets > 0 {
		n = min(n, most)
	}
	if past := j.pastCheckpoint(); past != nil {
		n += uint64(len(past.OpenTargets)) + uint64(past.Silent.Waiting())
	}
	here := float64(n) / float64(max(1, j.shard.Count))
	listed := here * float64(j.list.Listed()) / float64(max(size, 1))
	return j.forecast(listed, here-listed), n, true
}

// pastCheckpoint is what the scan goes on with, nil if it begins.
func (j *job) pastCheckpoint() *checkpoint.Checkpoint {
	return j.keep.Past
}

// sayPlan says what is going to be asked, and what that takes.
func (j *job) sayPlan() {
	fc, n, known := j.foresee()
	left := ""
	if j.keep.Resumes() {
		left = " left"
	}
	switch {
	case j.scanFlags.dryRun && known: // how many of them are asked, and what that takes, comes at its end
		j.Say("%s%s %s", console.Plural(n, "target"), left, j.said())
	case !known:
		j.Say("targets%s as they come, %s; %s", left, console.PerSecond(float64(j.rate)), j.said())
	case j.shard.Count > 1:
		j.Say("%s targets%s, 1 in %d of them ours, %s; %s", console.Grouped(n), left, j.shard.Count, fc, j.said())
	default:
		j.Say("%s%s, %s; %s", console.Plural(n, "target"), left, fc, j.said())
	}
}
