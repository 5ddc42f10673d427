package scanrun

import (
	"path/filepath"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// scanPlan returns the plan of this command for the checkpoint.
func (o *Options) scanPlan(args []string) (checkpoint.Plan, error) {
	output, err := filepath.Abs(o.Out.Path)
	return checkpoint.Plan{
		Targets: inputs.NotFiles(args), Ports: o.Ports,
		Order: o.Targets.Order.String(), Seed: o.Targets.Seed.N, Shard: o.Targets.Shard.String(), Resolve: o.Targets.Resolve,
		Query:      o.Query.String(),
		MaxTargets: o.MaxTargets, MaxPerAddress: o.Pace.MaxPerAddress,
		Raw: o.Records.Raw, KeepMaster: o.From.Keep, Unanswered: o.Records.Unanswered, Columns: o.Out.Columns(), Output: output, Rotate: o.Rotate.On(),
		Store: o.Upload.object(),
	}, err
}

// plan returns the plan of the scan for its summary. read describes the inputs.
func (s *Run) plan(read []ledger.Input) *ledger.Plan {
	o := s.opts
	p := &ledger.Plan{
		Lists: []string{}, Targets: []string{}, Ports: o.Ports, Questions: o.Query.String(),
		MaxTargets: o.MaxTargets, MaxPerAddress: o.Pace.MaxPerAddress,
		SecondLook: o.SecondLook, Fallback: o.Fallback, Resolve: o.Targets.Resolve,
		Unanswered: o.Records.Unanswered, Raw: o.Records.Raw, NoNames: o.Records.NoNames, KeepMaster: o.From.Keep,
		Exclusions: s.exclusions.Digest(), Shard: list.Shard(o.Targets.Shard).String(),
	}
	for _, in := range read {
		if in.Format == ledger.Argument {
			p.Targets = append(p.Targets, in.Name)
		} else {
			p.Lists = append(p.Lists, in.SHA256)
		}
	}
	p.Databases = s.geo.Types()
	return p
}
