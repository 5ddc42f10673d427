package scanrun

import (
	"path/filepath"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
)

// scanPlan returns the plan of a command.
func (o *Options) scanPlan(args []string) (checkpoint.Plan, error) {
	output, err := filepath.Abs(o.Out.Path)
	return checkpoint.Plan{
		Targets: inputs.NotFiles(args), Ports: o.Ports,
		Order: o.Targets.Order.String(), Seed: o.Targets.Seed.N, Shard: o.Targets.Shard.String(), Resolve: o.Targets.Resolve,
		Query:      o.Query.String(),
		MaxTargets: o.MaxTargets, MaxPerAddress: o.Pace.MaxPerAddress,
		Raw: o.Raw, KeepMaster: o.From.Keep, Unanswered: o.Unanswered, Output: output, Rotate: o.Rotate.On(),
	}, err
}
