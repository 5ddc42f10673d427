package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/simulation"
	"github.com/a2sscan/a2sscan/wire"
)

const demoFile = simulation.DemoFile

// These are the settings of the demo's scan. The rate can be high because the servers are
// on loopback. The many retries let the scan find every server in spite of simulated
// losses.
const (
	demoRate     = 30_000
	demoTimeout  = 300 * time.Millisecond
	demoRetries  = 7
	demoCooldown = 500 * time.Millisecond
)

func (a *app) demoCommand() *cobra.Command {
	var network string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Scan simulated servers and check every record",
		Long: `Simulates about 24,000 game servers of all kinds on loopback, some of them
silent or hostile, and drops 2% of the datagrams in each direction. Scans them
with the real scanner over real sockets, and compares every record with the
server it came from. Nothing leaves this machine. Afterwards the records are in
the working directory, in ` + demoFile + `.`,
		Example: `  a2sscan demo
  a2sscan cat ` + demoFile + ` | head -n 1
  a2sscan cat ` + demoFile + ` | grep -c '"status":"ok"'`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.demo(network) },
	}
	cmd.Flags().StringVar(&network, "network", simulation.DemoNetwork,
		"`NETWORK` of the servers, inside 127.0.0.0/8; a smaller NETWORK makes a smaller demo")
	return cmd
}

func (a *app) demo(network string) error {
	d, err := simulation.StartDemo(network)
	if err != nil {
		return err
	}
	defer d.Close()
	cfg := d.Config
	if _, err := os.Lstat(demoFile); err == nil {
		a.term.Say("replacing %s of an earlier demo", demoFile)
	}
	a.term.Say("scanning a simulated fleet on %s, port %d: %.0f%% loss in each direction, %.0f%% hostile servers",
		cfg.Network, cfg.Ports[0], 100*cfg.Loss, 100*cfg.Hostile)
	o := scan.Plan{
		Query: flags.Questions(wire.AskAll),
		Targeting: scan.Targeting{
			Ports: fmt.Sprint(cfg.Ports[0]), Exclude: scan.Exclude{AllowReserved: true},
			Rate: flags.AutoRate{Rate: demoRate}, Timeout: flags.Auto{D: demoTimeout}, Retries: demoRetries,
		},
		Asking: scan.Asking{Cooldown: flags.Auto{D: demoCooldown}},
		Guard:  scan.Limits{MaxSendErrors: -1, MaxOutage: time.Minute},
		Out:    censusfile.Destination{Path: demoFile, Force: true},
	}
	sum, err := scan.Demo(a.term, a.program(), &o, []string{cfg.Network.String()})
	if err != nil {
		return err
	}
	return d.Report(a.term, a.out, sum, helpWidth(a.out.w), self())
}
