package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/simulation"
)

// fleetFlags are the flags of fleet.
type fleetFlags struct {
	simulation.Options
	outFlags
}

func (a *app) fleetCommand() *cobra.Command {
	f := &fleetFlags{}
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Simulate game servers to scan on loopback",
		Long: `Simulates game servers on loopback, honest ones and hostile ones: one at each
address of --network and each port of --port. They answer only this machine.
--master and --web add a master server and a Web API that list all of them. The
same flags always give the same servers. --truth prints the records that a
perfect scan of them would write.

With --replay the servers repeat the answers of a census: byte for byte if scan
--raw kept the datagrams, otherwise with bytes that decode to the same record.
Each server keeps its port if --port includes it, and as much of its address as
--network allows. Without --port, fleet uses the most frequent ports of the
census, at most 256. If another server already has that address and port, the
server gets the next free pair. --list writes the new addresses as a list for
scan, with the original address of each server as its tag. --compare checks
whether a scan of the replay found everything in the census.`,
		Example: `  a2sscan fleet --for 60s
  a2sscan fleet --network 127.42.0.0/16 --alive 0.5 --loss 0.02 --hostile 0.03
  a2sscan fleet --replay census.ndjson.zst --list targets.txt`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			return a.fleet(f)
		},
	}
	f.add(cmd)
	return cmd
}

// add adds the flags. Each help text has the unit; pflag appends the default.
func (f *fleetFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.Network, "network", "127.42.0.0/20", "`NETWORK` of the servers, inside 127.0.0.0/8")
	fs.StringVarP(&f.Ports, "port", "p", "27015", "`LIST` of ports at each address; 0: any free port. The first 0 gets the servers that port 27015 would have, the next 0 those of 27016, and so on, skipping ports in LIST")
	fs.Uint64Var(&f.Seed, "seed", 1, "number `N` that determines the servers")
	fs.Float64Var(&f.Alive, "alive", 1, "`SHARE` of addresses and ports that have a server, 0 to 1")
	fs.Float64Var(&f.Hostile, "hostile", 0, "`SHARE` of servers that are hostile, 0 to 1 (default 0)")
	fs.StringVar(&f.Kinds, "kinds", "", "`LIST` of kinds of honest servers (default: all usual kinds, but not the kind games)")
	fs.StringVar(&f.HostileKinds, "hostile-kinds", "", "`LIST` of kinds of hostile servers (default: all)")
	fs.StringVar(&f.Games, "games", "", "for servers of the kind games: `LIST` of games, such as rust,dayz (default: all)")
	fs.Float64Var(&f.Fakes, "fakes", 0, "`SHARE` of blocks of 64 addresses in which one operator runs 50 fake servers, 0 to 1 (default 0)")
	fs.StringVar(&f.FakeKinds, "fake-kinds", "", "`LIST` of kinds of such operators, such as farm-list,farm-clones (default: all)")
	fs.Uint64Var(&f.Night, "night", 0, "simulate the servers `N` nights later: those of the kind games have other players, and at one address in 50 a server has gone or appeared (default 0)")
	fs.Float64Var(&f.Loss, "loss", 0, "`SHARE` of datagrams lost in each direction, 0 to 1 (default 0)")
	fs.Float64Var(&f.Duplicate, "duplicate", 0, "`SHARE` of replies sent twice, 0 to 1 (default 0)")
	fs.Float64Var(&f.Reorder, "reorder", 0, "`SHARE` of replies that arrive after later ones, 0 to 1 (default 0)")
	fs.Var(&delay{&f.DelayMin, &f.DelayMax}, "delay", "time that servers take to answer, such as 5ms-40ms")
	fs.Float64Var(&f.QueryLimit, "query-limit", 0, "each server answers at most `N` queries per second; 0: no limit (default 0)")
	fs.DurationVar(&f.Span, "for", 0, "end after `D`, such as 60s (default: when interrupted)")
	fs.BoolVar(&f.Truth, "truth", false, "print the records that a perfect scan would write, then exit")
	fs.StringVar(&f.ScanID, "scan-id", "", "with --truth: name the scan `NAME` in every record (default: no name)")
	f.addReplay(fs)
	f.outFlags.add(cmd)
	fs.Lookup("output").Usage = "with --truth: " + fs.Lookup("output").Usage
	f.addMaster(fs)
}

// check returns an error if a flag is invalid or flags contradict each other.
func (f *fleetFlags) check(cmd *cobra.Command) error {
	if err := f.checkReplay(cmd); err != nil {
		return err
	}
	switch {
	case f.Truth && f.Span != 0:
		return console.Fail(console.ExitUsage, "--truth and --for exclude each other").
			WithHint("--truth prints and ends")
	case !f.Truth && (f.toFile() || f.ScanID != ""):
		return console.Fail(console.ExitUsage, "--output and --scan-id need --truth").
			WithHint("a fleet that runs writes no records")
	case f.Truth && f.TakesFreePorts():
		return console.Fail(console.ExitUsage, "--truth needs the number of each port").
			WithHint("a free port is taken by a fleet that runs; its servers are those of port 27015")
	case f.Truth && f.Master.Wanted():
		return console.Fail(console.ExitUsage, "--truth and a master exclude each other").
			WithHint("--truth prints and ends")
	case f.Span < 0:
		return console.Fail(console.ExitUsage, "--for is negative").WithHint("a fleet without --for runs until it is interrupted")
	}
	if err := f.Master.Check(); err != nil {
		return err
	}
	if err := f.outFlags.check(); err != nil {
		return err
	}
	return f.checkWritten()
}

// checkWritten returns an error if an output would overwrite the census that is
// replayed.
func (f *fleetFlags) checkWritten() error {
	err := inputs.Overwritten("--list", f.List, []string{f.Replay})
	if err == nil && (f.force || f.append) {
		err = inputs.Overwritten("--output", f.output, []string{f.Replay})
	}
	return err
}

// fleet simulates servers. It ends without an error when its time is over or the
// user interrupts it.
func (a *app) fleet(f *fleetFlags) error {
	f.Program = self()
	r := simulation.Runner{Term: a.term, Stdout: a.out, Plan: f.plan}
	return r.Run(&f.Options)
}

// delay is the value of a flag for a range of times: 5ms-40ms, or 5ms.
type delay struct{ min, max *time.Duration }

// Set reads MIN-MAX, or a single time.
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
	*d.min, *d.max = from, to
	return nil
}

func (d *delay) String() string { return fmt.Sprintf("%v-%v", *d.min, *d.max) }

// Type returns the word that stands for the value in the help.
func (d *delay) Type() string { return "MIN-MAX" }

// addMaster adds the flags of the simulated master.
func (f *fleetFlags) addMaster(fs *pflag.FlagSet) {
	fs.StringVar(&f.Master.UDP, "master", "", "run a master server at `ADDR`, such as 127.0.0.1:27011, that lists the fleet; port 0: any free port")
	fs.StringVar(&f.Master.Web, "web", "", "run a Web API at `ADDR`, such as 127.0.0.1:8080, that lists the fleet; port 0: any free port")
	fs.StringVar(&f.Master.Also, "master-also", "", "`LIST` of other servers to add to the list of the master, such as 169.254.0.1:27015")
	fs.IntVar(&f.Master.Limit, "master-limit", 0, "the master falls silent for a minute after more than `N` requests within a minute; the Web API answers 429 after N requests within --master-retry-after; 0: no limit (default 0)")
	fs.DurationVar(&f.Master.RetryAfter, "master-retry-after", time.Minute, "the Web API counts requests over a span of `D`, and its 429 tells clients to retry after D")
	fs.StringVar(&f.Master.Faults, "master-faults", "", "`LIST` of faults in the answers of the master and the Web API, such as endless,twice (default: none)")
	fs.IntVar(&f.Master.After, "master-after", 0, "the faults begin after `N` requests (default 0)")
	fs.IntVar(&f.Master.During, "master-during", 0, "the faults affect `N` requests; 0: all that follow (default 0)")
}

// addReplay adds the flags for replaying a recorded census.
func (f *fleetFlags) addReplay(fs *pflag.FlagSet) {
	fs.StringVar(&f.Replay, "replay", "",
		"replay the servers of the census `FILE` instead of simulating others")
	fs.StringVar(&f.List, "list", "",
		"with --replay: write a list of the servers to `FILE`, with their original addresses as tags; -: standard output")
	fs.StringVar(&f.Compare, "compare", "",
		"with --replay: compare `FILE`, a census of the replay, with the recorded one; run no servers")
}

// noReplay are the flags that choose simulated servers, so they exclude --replay.
var noReplay = []string{"alive", "hostile", "kinds", "hostile-kinds", "games", "fakes", "fake-kinds", "night", "master", "web"}

// checkReplay returns an error if flags contradict each other. For a replay it also
// sets other defaults for --network and --port.
func (f *fleetFlags) checkReplay(cmd *cobra.Command) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	if f.Replay == "" {
		if given("list") || given("compare") {
			return console.Fail(console.ExitUsage, "--list and --compare need --replay").
				WithHint("a simulated fleet is a network, which scan takes as it is")
		}
		return nil
	}
	for _, name := range noReplay {
		if given(name) {
			return console.Fail(console.ExitUsage, "--replay and --%s exclude each other", name).
				WithHint("the servers are those of the census")
		}
	}
	switch {
	case f.Replay == "-" && (f.Truth || given("compare")):
		return console.Fail(console.ExitUsage, "--replay - with --truth or --compare: standard input can't be read twice").
			WithHint("name a file")
	case given("compare") && (f.Truth || f.Span != 0 || given("list")):
		return console.Fail(console.ExitUsage, "--compare goes with neither --truth nor --list nor --for").
			WithHint("--compare compares two files and ends")
	case given("compare") && f.TakesFreePorts():
		return console.Fail(console.ExitUsage, "--compare needs the number of each port").
			WithHint("a replay that takes a free port says which on its line")
	case f.Truth && f.List == "-" && !f.toFile():
		return console.Fail(console.ExitUsage, "--truth and --list would both write to standard output").
			WithHint("name a file for one of them")
	}
	if !given("network") {
		f.Network = "127.0.0.0/8"
	}
	if !given("port") {
		f.Ports = ""
	}
	return nil
}
