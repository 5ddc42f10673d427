package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ratecontrol"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// demoFile is where the demo's records go.
const demoFile = "a2sscan-demo.ndjson.zst"

// The demo's fleet: about three quarters of 32,768 places have a server, the
// network loses some datagrams, some servers are hostile.
const (
	demoNetwork = "127.42.0.0/17"
	demoPort    = 27015
	demoAlive   = 0.75
	demoLoss    = 0.02
	demoHostile = 0.03
	demoSeed    = 20
)

// How the demo scans: fast, because it is on loopback, and with many retries,
// because it is to find every server through the loss.
const (
	demoRate     = 30_000
	demoTimeout  = 300 * time.Millisecond
	demoRetries  = 7
	demoCooldown = 500 * time.Millisecond
)

// demoPorts is how many ports are tried where others are in use.
const demoPorts = 20

func (a *app) demoCommand() *cobra.Command {
	var network string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Scan a simulated fleet for real, and prove the result",
		Long: `Simulates some 24,000 game servers of all kinds on loopback in this process,
some of them silent or hostile, loses 2 % of the datagrams each way, scans it
with the real scanner over real sockets, and compares every record of the
written file with what the servers are. Nothing leaves this machine. The
records stay in ` + demoFile + ` in the current folder.`,
		Example: `  a2sscan demo
  a2sscan cat ` + demoFile + ` | head -n 1
  a2sscan cat ` + demoFile + ` | grep -c '"status":"ok"'`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.demo(network) },
	}
	cmd.Flags().StringVar(&network, "network", demoNetwork,
		"`NETWORK` inside 127.0.0.0/8 to simulate servers on; a smaller one is a smaller demo")
	return cmd
}

func (a *app) demo(network string) error {
	cfg, fl, err := demoFleet(network)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- fl.Serve(ctx) }()
	defer func() {
		cancel()
		<-served
		fl.Close()
	}()

	if _, err := os.Lstat(demoFile); err == nil {
		a.Say("replacing %s of an earlier demo", demoFile)
	}
	a.Say("scanning a simulated fleet on %s, port %d: %.0f %% loss each way, %.0f %% hostile servers",
		cfg.Network, cfg.Ports[0], 100*cfg.Loss, 100*cfg.Hostile)
	sum, err := a.demoScan(cfg)
	if err != nil {
		return err
	}
	return a.demoReport(cfg, sum)
}

// demoFleet starts a fleet on the first port that is free. Whichever it is, the
// servers are those of demoPort.
func demoFleet(network string) (fleet.Config, *fleet.Fleet, error) {
	cfg := fleet.Config{
		Seed:    demoSeed,
		Alive:   demoAlive,
		Hostile: demoHostile,
		Loss:    demoLoss,
	}
	var err error
	if cfg.Network, err = readNetwork(network); err != nil {
		return cfg, nil, err
	}
	for port := uint16(demoPort); ; port++ {
		cfg.Ports, cfg.ServersOf = []uint16{port}, map[uint16]uint16{port: demoPort}
		fl, err := fleet.New(cfg)
		if errors.Is(err, syscall.EADDRINUSE) && port < demoPort+demoPorts {
			continue
		}
		if err != nil {
			return cfg, nil, fleetFailure(err)
		}
		return cfg, fl, nil
	}
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

// demoReport compares the file with the truth and tells what was found.
func (a *app) demoReport(cfg fleet.Config, sum *ledger.Summary) error {
	report, err := compareFile(cfg, demoFile)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, proof(report))
	a.sayDoubts(report)
	a.demoFound(sum)
	if err := a.demoRecord(); err != nil {
		return err
	}
	me := self()
	fmt.Fprintf(a.out, `
what to do next:
  %s cat %s | head -n 1
  %s fleet --for 60s
  %s scan --help
`, me, demoFile, me, me)
	if !proven(report) {
		return console.Fail(console.ExitNumbers, "the records are not what the servers are")
	}
	return nil
}

// compareFile holds a census of a fleet against the truth.
func compareFile(cfg fleet.Config, path string) (fleetjudge.Report, error) {
	r, err := sink.Open(path)
	if err != nil {
		return fleetjudge.Report{}, readFailure(err)
	}
	defer r.Close()
	report, err := fleetjudge.Compare(cfg, scanner.AskAll, r.Next)
	if err != nil {
		return report, readFailure(err)
	}
	return report, nil
}

// proof is the sentence for the sake of which there is a demo.
func proof(r fleetjudge.Report) string {
	s := fmt.Sprintf("%s servers, %s recorded as they are, %d wrong, %d missing",
		console.Grouped(uint64(r.Servers)), console.Grouped(uint64(r.AsTheyAre)), r.Wrong, r.Missing)
	if r.Less > 0 {
		s += fmt.Sprintf(", %d lack an answer and say so", r.Less)
	}
	if r.Twice+r.Invented > 0 {
		s += fmt.Sprintf(", %d twice, %d invented", r.Twice, r.Invented)
	}
	return s
}

// proven reports whether every record holds, and none is missing, twice or
// invented.
func proven(r fleetjudge.Report) bool { return r.AsTheyAre == r.Servers && r.Twice+r.Invented == 0 }

// sayDoubts names some of the records that are not as they should be.
func (a *app) sayDoubts(r fleetjudge.Report) {
	for _, x := range r.Examples {
		a.Say("%s", x)
	}
}

// demoFound is the demo's summary, for somebody who sees all this for the
// first time.
func (a *app) demoFound(sum *ledger.Summary) {
	l, d := &sum.Targets, &sum.Datagrams
	rows := []struct{ what, found string }{
		{"asked", fmt.Sprintf("%s addresses, of which %s did not answer", console.Grouped(l.Finished), console.Grouped(l.By["no_reply"]))},
		{"found", fmt.Sprintf("%s servers: %s answered all of it, %s some, %s nothing of use",
			console.Grouped(sum.Answers().Servers), console.Grouped(l.By["ok"]), console.Grouped(l.By["partial"]), console.Grouped(l.By["error"]))},
		{"players", fmt.Sprintf("%s players and %s bots", console.Grouped(sum.Answers().Players), console.Grouped(sum.Answers().Bots))},
		{"games", sum.Answers().Games.Number() + ", most of them " + sum.Answers().Games.Shown(3, 100, sum.Answers().Servers)},
		{"replies", console.Listed(d.ByKind, console.Words(scanner.ReplyKind(0), scanner.NumKinds), ", ")},
		{"datagrams", fmt.Sprintf("%s sent (%s), %s received (%s), %s asked again after silence",
			console.Grouped(d.Sent), console.Bytes(d.SentBytes), console.Grouped(d.Received), console.Bytes(d.ReceivedBytes), console.Grouped(d.Repeats))},
		{"time", fmt.Sprintf("%.1f s", sum.Seconds) + sum.Rates.Reached()},
	}
	fmt.Fprintln(a.out)
	for _, r := range rows {
		for _, row := range console.Wrap(fmt.Sprintf("%-10s %s", r.what, r.found), helpWidth(a.out.w), 11) {
			fmt.Fprintln(a.out, row)
		}
	}
}

// The record that the demo shows is one that fits on a screen and has it all.
const (
	showAtLeast = 400  // bytes
	showAtMost  = 1200 // bytes
)

// demoRecord shows one record of the file.
func (a *app) demoRecord() error {
	r, err := sink.Open(demoFile)
	if err != nil {
		return readFailure(err)
	}
	defer r.Close()
	for {
		line, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return readFailure(err)
		case presentable(line):
			fmt.Fprintf(a.out, "\none record of %s:\n%s\n", demoFile, console.Visible(line))
			return nil
		}
	}
}

func presentable(line []byte) bool {
	if len(line) < showAtLeast || len(line) > showAtMost {
		return false
	}
	for _, has := range []string{`"status":"ok"`, `"players":[{`, `"rules":{"`} {
		if !bytes.Contains(line, []byte(has)) {
			return false
		}
	}
	return true
}
