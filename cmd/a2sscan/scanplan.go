package main

import (
	"os"
	"path/filepath"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
)

// scanPlan returns the plan of a command.
func (f *scanFlags) scanPlan(args []string) (checkpoint.Plan, error) {
	output, err := filepath.Abs(f.output)
	return checkpoint.Plan{
		Targets: unlisted(args), Ports: f.ports,
		Order: f.order.String(), Seed: f.seed.N, Shard: f.shard.String(), Resolve: f.resolve,
		Query:      f.query.String(),
		MaxTargets: f.maxTargets, MaxPerAddress: f.maxPerAddress,
		Raw: f.raw, KeepMaster: f.from.keep, Unanswered: f.unanswered, Output: output, Rotate: f.rotate.On(),
	}, err
}

// unlisted returns the arguments that are no lists. Those are known by what they
// hold.
func unlisted(args []string) []string {
	names := []string{}
	for _, arg := range args {
		if _, err := os.Stat(arg); err != nil && arg != "-" {
			names = append(names, arg)
		}
	}
	return names
}
