package main

import (
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
)

// metricsFlags choose the address of the metrics.
type metricsFlags struct{ at flagvalue.ListenAddr }

func (f *metricsFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(&f.at, "metrics",
		"serve Prometheus metrics over HTTP at this port of 127.0.0.1, or at ADDRESS:PORT; port 0: any free port (default off)")
}

// serveMetrics starts to serve metrics if the flag gives an address.
func (a *app) serveMetrics(f *metricsFlags, quiet bool) (*metrics.Server, error) {
	if !f.at.Given {
		return nil, nil
	}
	return metrics.Listen(a.term, metrics.Options{Address: f.at.String(), Quiet: quiet, Build: thisBuild()})
}
