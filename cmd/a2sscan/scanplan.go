package main

import (
	"path/filepath"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
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

// plan returns what the scan was to ask, for its summary.
func (s *scanRun) plan(read []ledger.Input) *ledger.Plan {
	f := s.flags
	p := &ledger.Plan{
		Lists: []string{}, Targets: []string{}, Ports: f.ports, Questions: f.query.String(),
		MaxTargets: f.maxTargets, MaxPerAddress: f.pace.maxPerAddress,
		SecondLook: f.secondLook, Fallback: f.fallback, Resolve: f.targets.resolve,
		Unanswered: f.unanswered, Raw: f.raw, KeepMaster: f.from.keep,
		Exclusions: s.exclusions.Digest(), Shard: list.Shard(f.targets.shard).String(),
	}
	for _, in := range read {
		if in.Format == ledger.Argument {
			p.Targets = append(p.Targets, in.Name)
		} else {
			p.Lists = append(p.Lists, in.SHA256)
		}
	}
	for _, db := range s.geo.IDs() {
		p.Databases = append(p.Databases, db.Type)
	}
	return p
}
