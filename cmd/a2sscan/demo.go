package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ratecontrol"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/simulation"
	"github.com/a2sscan/a2sscan/scanner"
)

// demoFile is where the demo's records go.
const demoFile = simulation.DemoFile

// How the demo scans: fast, because it is on loopback, and with many retries,
// because it is to find every server through the loss.
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
		Short: "Scan simulated servers and prove the result",
		Long: `Simulates about 24,000 game servers of all kinds on loopback in this process,
some of them silent or hostile, and loses 2 % of the datagrams each way. Scans
them with the real scanner over real sockets, and compares every record of the
written file with what the servers are. Nothing leaves this machine. The
records stay in ` + demoFile + ` in the working directory.`,
		Example: `  a2sscan demo
  a2sscan cat ` + demoFile + ` | head -n 1
  a2sscan cat ` + demoFile + ` | grep -c '"status":"ok"'`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.demo(network) },
	}
	cmd.Flags().StringVar(&network, "network", simulation.DemoNetwork,
		"`NETWORK` inside 127.0.0.0/8 to simulate servers on; a smaller one is a smaller demo")
	return cmd
}

// demo scans simulated servers and proves the result.
func (a *app) demo(network string) error {
	d, err := simulation.StartDemo(network)
	if err != nil {
		return err
	}
	defer d.Close()
	cfg := d.Config
	if _, err := os.Lstat(demoFile); err == nil {
		a.Terminal.Say("replacing %s of an earlier demo", demoFile)
	}
	a.Terminal.Say("scanning a simulated fleet on %s, port %d: %.0f %% loss each way, %.0f %% hostile servers",
		cfg.Network, cfg.Ports[0], 100*cfg.Loss, 100*cfg.Hostile)
	sum, err := a.demoScan(cfg)
	if err != nil {
		return err
	}
	return d.Report(a.Terminal, a.out, sum, helpWidth(a.out.w), self())
}

// demoScan scans the fleet as scan would.
func (a *app) demoScan(cfg fleet.Config) (*ledger.Summary, error) {
	start := time.Now().UTC()
	f := &scanFlags{
		outFlags:      outFlags{output: demoFile, force: true},
		excludeFlags:  excludeFlags{allowReserved: true},
		guardFlags:    guardFlags{maxSendErrors: -1},
		patienceFlags: patienceFlags{demoTimeout, demoRetries},
		scanID:        scanName(start),
		ports:         fmt.Sprint(cfg.Ports[0]),
		query:         flagvalue.Questions(scanner.AskAll),
		rate:          demoRate,
		cooldown:      demoCooldown,
	}
	inputs := []string{cfg.Network.String()}
	x, err := f.excludeFlags.open(nil)
	if err != nil {
		return nil, err
	}
	list, bad, err := a.openTargets(f, x, inputs, a.in)
	if err != nil {
		return nil, err
	}
	out, err := f.plan(f.scanID)
	if err != nil {
		return nil, err
	}
	j := &job{app: a, scanFlags: f, start: start, list: list, exclusions: x, bad: bad, out: out, dial: ratecontrol.New(demoRate), metrics: metrics.Off(), keep: checkpoint.Off()}
	sum, err := j.run(inputs)
	if err != nil {
		return nil, err
	}
	sum.SayWrong(a.Terminal)
	return sum, j.verdict(sum)
}
