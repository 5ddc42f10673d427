package main

import (
	"path/filepath"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
)

// scanPlan returns the plan of a command.
func (f *scanFlags) scanPlan(args []string) (checkpoint.Plan, error) {
	output, err := filepath.Abs(f.out.output)
	return checkpoint.Plan{
		Targets: inputs.NotFiles(args), Ports: f.ports,
		Order: f.targets.order.String(), Seed: f.targets.seed.N, Shard: f.targets.shard.String(), Resolve: f.targets.resolve,
		Query:      f.query.String(),
		MaxTargets: f.maxTargets, MaxPerAddress: f.pace.maxPerAddress,
		Raw: f.raw, KeepMaster: f.from.keep, Unanswered: f.unanswered, Output: output, Rotate: f.rotate.On(),
	}, err
}
