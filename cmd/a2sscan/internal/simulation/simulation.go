// Package simulation runs simulated servers for the commands fleet and demo. It
// creates them from options, serves them, and replays a recorded census.
package simulation

import (
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner"
)

// Options describes simulated servers. Lists are strings in the form of the flags.
type Options struct {
	Network      string
	Ports        string // 0 in the list stands for a free port
	Seed         uint64
	Alive        float64
	Hostile      float64
	Kinds        string
	HostileKinds string
	Games        string
	Fakes        float64
	FakeKinds    string
	Night        uint64
	Loss         float64
	Duplicate    float64
	Reorder      float64
	DelayMin     time.Duration
	DelayMax     time.Duration
	QueryLimit   float64

	Span    time.Duration // how long to serve; 0: until interrupted
	Truth   bool          // write the records of a perfect scan instead of serving
	ScanID  string        // name of the scan in these records
	Master  MasterOptions
	Replay  string // file of the census to replay; empty: simulate servers
	List    string // file to write the targets of a replay to; "-": standard output
	Compare string // file of a census to compare with the recorded one; empty: serve

	Program string // command that starts the program, for hints
}

// Runner holds what a simulation uses of the program.
type Runner struct {
	Term   *console.Terminal
	Stdout io.Writer
	Plan   func(scanID string) (*output.Output, error) // returns the output for records
}

// Run serves a simulation until its time is over or the user interrupts it. With
// Truth or Compare it writes records or compares a census instead.
func (r *Runner) Run(o *Options) error {
	if o.Replay != "" {
		return r.replay(o)
	}
	cfg, err := o.Config()
	if err != nil {
		return err
	}
	if o.Truth {
		return r.writeTruth(o, cfg)
	}
	servers, err := fleet.New(cfg)
	if err != nil {
		return Failure(err)
	}
	defer servers.Close()
	m, err := o.Master.Listen(servers.Config())
	if err != nil {
		return err
	}
	ctx, end := shutdown.Interruptible(true) // catch signals before the line that says ready
	defer end()
	ports := servedPorts(o.Ports, servers.Ports())
	r.Term.Say("ready: servers on %s, port %s, %s", o.Network, ports, o.until())
	r.Term.Hint("scan them with: %s scan %s -p %s --allow-reserved", o.Program, o.Network, ports)
	return r.serve(ctx, o, servers, m)
}

// until describes how long the servers will run.
func (o *Options) until() string {
	if o.Span > 0 {
		return "for " + o.Span.String()
	}
	return "until it is interrupted"
}

// TakesFreePorts reports whether the port list contains 0, which stands for a free
// port that is chosen at the start.
func (o *Options) TakesFreePorts() bool {
	_, free := splitPorts(o.Ports)
	return free > 0
}

// Config returns the configuration of the servers.
func (o *Options) Config() (fleet.Config, error) {
	cfg := fleet.Config{
		Seed: o.Seed, Alive: o.Alive, Hostile: o.Hostile,
		Loss: o.Loss, Duplicate: o.Duplicate, Reorder: o.Reorder,
		DelayMin: o.DelayMin, DelayMax: o.DelayMax, QueryLimit: o.QueryLimit,
		Fakes: o.Fakes, Night: o.Night,
	}
	if o.Alive == 0 {
		cfg.Alive = fleet.None
	}
	var err error
	if cfg.Network, err = Network(o.Network); err != nil {
		return cfg, err
	}
	if cfg.Ports, err = readPorts(o.Ports); err != nil {
		return cfg, err
	}
	if cfg.Kinds, err = fleet.ParseKinds(o.Kinds); err != nil {
		return cfg, console.Fail(console.ExitUsage, "--kinds: %w", err)
	}
	if cfg.HostileKinds, err = fleet.ParseKinds(o.HostileKinds); err != nil {
		return cfg, console.Fail(console.ExitUsage, "--hostile-kinds: %w", err)
	}
	if cfg.FakeKinds, err = fleet.ParseKinds(o.FakeKinds); err != nil {
		return cfg, console.Fail(console.ExitUsage, "--fake-kinds: %w", err)
	}
	if o.Games != "" {
		cfg.Games = strings.Split(o.Games, ",")
	}
	return cfg, nil
}

// Network parses the value of --network.
func Network(text string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return network, console.Fail(console.ExitUsage, "--network %s: not a network", console.Quoted(text, 40)).
			WithHint("a network inside 127.0.0.0/8, such as 127.42.0.0/20")
	}
	return network.Masked(), nil
}

// writeTruth writes the records that a perfect scan of the simulated servers would
// write.
func (r *Runner) writeTruth(o *Options, cfg fleet.Config) error {
	out, err := r.Plan(o.ScanID)
	if err != nil {
		return err
	}
	if err := out.Open(); err != nil {
		return output.Failure(err)
	}
	for at := range cfg.All() {
		want := cfg.Truth(at, scanner.AskAll)
		if want != nil && !out.Write(want) {
			break
		}
	}
	return out.Finish()
}
