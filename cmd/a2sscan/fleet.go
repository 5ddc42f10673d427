package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner"
)

// fleetFlags are the flags of fleet.
type fleetFlags struct {
	network      string
	ports        string
	seed         uint64
	alive        float64
	loss         float64
	duplicate    float64
	reorder      float64
	delay        delay
	queryLimit   float64
	hostile      float64
	kinds        string
	hostileKinds string

	span   time.Duration // 0: until it is interrupted
	truth  bool
	scanID string
	outFlags
	replayFlags
	master fleetMasterFlags
}

// delay is a flag's span of times: 5ms-40ms, or 5ms for always that.
type delay struct{ min, max time.Duration }

// Set reads MIN-MAX.
func (d *delay) Set(s string) error {
	low, high, span := strings.Cut(s, "-")
	if !span {
		high = low
	}
	from, err1 := time.ParseDuration(low)
	to, err2 := time.ParseDuration(high)
	if err1 != nil || err2 != nil || from < 0 || to < from {
		return errors.New("want MIN-MAX such as 5ms-40ms")
	}
	d.min, d.max = from, to
	return nil
}

func (d *delay) String() string { return fmt.Sprintf("%v-%v", d.min, d.max) }

// Type is the word that stands for the value in the help.
func (d *delay) Type() string { return "MIN-MAX" }

func (a *app) fleetCommand() *cobra.Command {
	f := &fleetFlags{}
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Simulate game servers on loopback, to scan them",
		Long: `Simulates a fleet of game servers of many kinds, honest and hostile, on
loopback: each address of --network is one, on each port of --port. It answers
nobody else. A master server and a Web API can stand beside it, with all of
them on the list. The same flags give the same servers, and --truth prints the
records that a perfect scan of them makes.

With --replay the servers are those of a census, and say what they said then:
byte for byte where scan --raw kept their datagrams, else what gives the same
record. Each keeps the end of its address, as far as --network leaves it open,
and its port, if that is one of --port (default: the 256 most frequent of the
census); where that is taken it has the next free place. --list writes where
they are, for scan, with the address of each as its tag; --compare says whether
a scan of them found what was recorded.`,
		Example: `  a2sscan fleet --for 60s
  a2sscan fleet --network 127.42.0.0/16 --alive 0.5 --loss 0.02 --hostile 0.03
  a2sscan fleet --replay census.ndjson.zst --list targets.txt`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if f.replay != "" {
				return a.replay(f)
			}
			return a.fleet(f)
		},
	}
	f.add(cmd)
	return cmd
}

// add names the flags. Each says its unit; pflag adds the default.
func (f *fleetFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.network, "network", "127.42.0.0/20", "`NETWORK` inside 127.0.0.0/8 whose addresses are servers")
	fs.StringVarP(&f.ports, "port", "p", "27015", "`LIST` of ports on each address; 0: any free port, with the servers of 27015")
	fs.Uint64Var(&f.seed, "seed", 1, "another `N` is another fleet")
	fs.Float64Var(&f.alive, "alive", 1, "`SHARE` of the places that have a server, 0 to 1")
	fs.Float64Var(&f.hostile, "hostile", 0, "`SHARE` of the servers that are hostile, 0 to 1 (default 0)")
	fs.StringVar(&f.kinds, "kinds", "", "`LIST` of honest kinds (default: all)")
	fs.StringVar(&f.hostileKinds, "hostile-kinds", "", "`LIST` of hostile kinds (default: all)")
	fs.Float64Var(&f.loss, "loss", 0, "`SHARE` of datagrams lost each way, 0 to 1 (default 0)")
	fs.Float64Var(&f.duplicate, "duplicate", 0, "`SHARE` of replies sent twice, 0 to 1 (default 0)")
	fs.Float64Var(&f.reorder, "reorder", 0, "`SHARE` of replies that come behind later ones, 0 to 1 (default 0)")
	fs.Var(&f.delay, "delay", "time that a server takes to answer, such as 5ms-40ms")
	fs.Float64Var(&f.queryLimit, "query-limit", 0, "`N` queries a second that a server answers; 0: all (default 0)")
	fs.DurationVar(&f.span, "for", 0, "end after `D` such as 60s (default: when interrupted)")
	fs.BoolVar(&f.truth, "truth", false, "print the records of a perfect scan, simulate nothing")
	fs.StringVar(&f.scanID, "scan-id", "", "with --truth: `NAME` of the scan in every record (default: no name)")
	f.replayFlags.add(cmd)
	f.outFlags.add(cmd)
	f.master.add(fs)
}

// check refuses what makes no sense together.
func (f *fleetFlags) check(cmd *cobra.Command) error {
	if err := f.checkReplay(cmd); err != nil {
		return err
	}
	switch {
	case f.truth && f.span != 0:
		return console.Fail(console.ExitUsage, "--truth and --for exclude each other").
			WithHint("--truth prints and ends")
	case !f.truth && (f.toFile() || f.scanID != ""):
		return console.Fail(console.ExitUsage, "--output and --scan-id need --truth").
			WithHint("a fleet that runs writes no records")
	case f.truth && f.takesFree():
		return console.Fail(console.ExitUsage, "--truth needs the number of each port").
			WithHint("a free port is taken by a fleet that runs; its servers are those of port 27015")
	case f.truth && f.master.wanted():
		return console.Fail(console.ExitUsage, "--truth and a master exclude each other").
			WithHint("--truth prints and ends")
	case f.span < 0:
		return console.Fail(console.ExitUsage, "--for is negative").WithHint("a fleet without --for runs until it is interrupted")
	}
	if err := f.master.check(); err != nil {
		return err
	}
	if err := f.outFlags.check(); err != nil {
		return err
	}
	return f.checkWritten()
}

// takesFree reports whether the fleet is to take free ports.
func (f *fleetFlags) takesFree() bool {
	_, free := fleetPorts(f.ports)
	return free > 0
}

// checkWritten refuses to write over the census that is replayed.
func (f *fleetFlags) checkWritten() error {
	err := inputs.Overwritten("--list", f.list, []string{f.replay})
	if err == nil && (f.force || f.append) {
		err = inputs.Overwritten("--output", f.output, []string{f.replay})
	}
	return err
}

// config is what the flags say, for the fleet.
func (f *fleetFlags) config() (fleet.Config, error) {
	cfg := fleet.Config{
		Seed: f.seed, Alive: f.alive, Hostile: f.hostile,
		Loss: f.loss, Duplicate: f.duplicate, Reorder: f.reorder,
		DelayMin: f.delay.min, DelayMax: f.delay.max, QueryLimit: f.queryLimit,
	}
	if f.alive == 0 {
		cfg.Alive = fleet.None
	}
	var err error
	if cfg.Network, err = readNetwork(f.network); err != nil {
		return cfg, err
	}
	if cfg.Ports, err = readFleetPorts(f.ports); err != nil {
		return cfg, err
	}
	if cfg.Kinds, err = fleet.ParseKinds(f.kinds); err != nil {
		return cfg, console.Fail(console.ExitUsage, "--kinds: %w", err)
	}
	if cfg.HostileKinds, err = fleet.ParseKinds(f.hostileKinds); err != nil {
		return cfg, console.Fail(console.ExitUsage, "--hostile-kinds: %w", err)
	}
	return cfg, nil
}

// readFleetPorts reads the ports of a fleet: those that are numbered, then as
// many zeros as there are free ports to take.
func readFleetPorts(list string) (ports []uint16, err error) {
	numbers, free := fleetPorts(list)
	if numbers != "" {
		set, err := inputs.ParsePorts("--port", numbers)
		if err != nil {
			return nil, err
		}
		for port := range 1 << 16 {
			if set.Contains(uint16(port)) {
				ports = append(ports, uint16(port))
			}
		}
	}
	return append(ports, make([]uint16, free)...), nil
}

// fleetPorts splits a list into the ports that it names and a count of zeros.
func fleetPorts(list string) (numbers string, free int) {
	var named []string
	for word := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(word) == "0" {
			free++
			continue
		}
		named = append(named, word)
	}
	return strings.Join(named, ","), free
}

// servedPorts is the list with the ports that were taken in place of zeros.
func servedPorts(list string, taken []uint16) string {
	numbers, free := fleetPorts(list)
	if free == 0 {
		return list
	}
	var words []string
	if numbers != "" {
		words = append(words, numbers)
	}
	for _, port := range taken[len(taken)-free:] {
		words = append(words, strconv.Itoa(int(port)))
	}
	return strings.Join(words, ",")
}

// readNetwork reads a flag's network.
func readNetwork(text string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return network, console.Fail(console.ExitUsage, "--network %s: not a network", console.Quoted(text, 40)).
			WithHint("a network inside 127.0.0.0/8, such as 127.42.0.0/20")
	}
	return network.Masked(), nil
}

// fleet simulates servers until its time is over or it is interrupted. Either
// is its normal end.
func (a *app) fleet(f *fleetFlags) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if f.truth {
		return a.truth(f, cfg)
	}
	fl, err := fleet.New(cfg)
	if err != nil {
		return fleetFailure(err)
	}
	defer fl.Close()
	f.ports = servedPorts(f.ports, fl.Ports())
	m, err := f.master.listen(fl.Config())
	if err != nil {
		return err
	}
	ctx, end := shutdown.Interruptible(true)
	defer end()
	a.sayReady(f)
	return a.serve(ctx, f, fl, m)
}

// serve lets a fleet answer, and the master beside it if there is one, until
// its time is over or ctx is done.
func (a *app) serve(ctx context.Context, f *fleetFlags, fl *fleet.Fleet, m *fleet.Master) error {
	if f.span > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, f.span)
		defer end()
	}
	if m != nil {
		defer a.serveMaster(ctx, m)()
	}
	stop := a.RepeatStatus(progress.Interval(a.Terminal), func() string { return fleetLine(fl.Stats()) })
	err := fl.Serve(ctx)
	stop()
	a.FinalStatus(fleetLine(fl.Stats()))
	if err != nil && ctx.Err() == nil {
		return console.Fail(console.ExitUsage, "%w", err)
	}
	return nil
}

// serveMaster answers as a master until ctx is done. The function that it
// returns waits for that, and says what there was to do.
func (a *app) serveMaster(ctx context.Context, m *fleet.Master) (wait func()) {
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx) }()
	a.sayMaster(m)
	return func() {
		m.Close()
		if err := <-done; err != nil {
			a.Say("%v", err)
		}
		a.Say("%s", masterLine(m))
	}
}

// fleetFailure explains why a fleet can't start.
func fleetFailure(err error) error {
	f := console.Fail(console.ExitUsage, "%w", err)
	if errors.Is(err, syscall.EADDRINUSE) {
		f.WithHint("something else has that port: --port takes another")
	}
	return f
}

func (a *app) sayReady(f *fleetFlags) {
	until := "until it is interrupted"
	if f.span > 0 {
		until = "for " + f.span.String()
	}
	a.Say("ready: servers on %s, port %s, %s", f.network, f.ports, until)
	a.Hint("scan them with: %s scan %s -p %s --allow-reserved", self(), f.network, f.ports)
}

// fleetLine is the status line of a fleet.
func fleetLine(s fleet.Stats) string {
	return fmt.Sprintf("queries %d; replies %d, %s; unanswered %d; lost on purpose %d; drops %d",
		s.Queries, s.Replies, console.Bytes(s.ReplyBytes), s.Nobody+s.Malformed+s.Limited,
		s.LostQueries+s.LostReplies, s.KernelDrops+s.Overflow+s.SendErrors)
}

// truth writes the records of a perfect scan.
func (a *app) truth(f *fleetFlags, cfg fleet.Config) error {
	out, err := f.plan(f.scanID)
	if err != nil {
		return err
	}
	if err := out.Open(); err != nil {
		return output.Failure(err)
	}
	for at := range cfg.All() {
		r := cfg.Truth(at, scanner.AskAll)
		if r != nil && !out.Write(r) {
			break
		}
	}
	return out.Finish()
}
