package main

import (
	"bufio"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/simulation"
	"github.com/a2sscan/a2sscan/wire"
)

type fleetFlags struct {
	simulation.Options
	delay [2]time.Duration // minimum and maximum
	truth bool
}

func (a *app) fleetCommand() *cobra.Command {
	f := &fleetFlags{}
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Simulate game servers on loopback, for test scans",
		Long: `Simulates honest and hostile game servers on loopback: one server for each
address of --network and each port of --port. They answer only this machine.
--master and --web add a master server and a Web API that list all servers. The
same flags always give the same servers. --truth prints the records that a
perfect scan of these servers would write.`,
		Example: `  a2sscan fleet --for 60s
  a2sscan fleet --network 127.42.0.0/16 --alive 0.5 --loss 0.02 --hostile 0.03
  a2sscan fleet --kinds games --games rust,arma3 --truth`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.fleet(f)
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *fleetFlags) add(fs *pflag.FlagSet) {
	c, m := &f.Fleet, &f.Master
	c.Network = netip.MustParsePrefix("127.42.0.0/20")
	kinds := func(to *[]fleet.Kind, from []fleet.Kind, name, help, all string) {
		parse := func(list string) ([]fleet.Kind, error) { return fleet.ParseKinds(list, from) }
		fs.Var(&flags.Value[[]fleet.Kind]{To: to, Parse: parse}, name, help+": "+fleet.Words(from)+" "+all)
	}
	fs.Var(&flags.Value[netip.Prefix]{To: &c.Network, Parse: readNetwork, Text: c.Network.String()}, "network", "`NETWORK` of the servers, inside 127.0.0.0/8")
	fs.StringVarP(&f.Ports, "port", "p", "27015", "`LIST` of ports at each address; 0: any free port; the servers do not depend on the port numbers")
	fs.Uint64Var(&c.Seed, "seed", 1, "number `N` that determines the servers")
	fs.Float64Var(&c.Alive, "alive", 1, "`SHARE` of addresses and ports that have a server, above 0 and up to 1")
	fs.Float64Var(&c.Hostile, "hostile", 0, "`SHARE` of servers that are hostile, 0 to 1 (default 0)")
	kinds(&c.Kinds, fleet.HonestKinds(), "kinds", "`LIST` of kinds of honest servers", "(default: all kinds except games)")
	kinds(&c.HostileKinds, fleet.HostileKinds(), "hostile-kinds", "`LIST` of kinds of hostile servers", "(default: all)")
	fs.StringSliceVar(&c.Games, "games", nil, "for servers of the kind games: `LIST` of games, such as rust,arma3 (default: all)")
	fs.Float64Var(&c.Fakes, "fakes", 0, "`SHARE` of groups that have fake servers, 0 to 1; a group is 64 scattered addresses, and at 50 of these one operator has fake servers (default 0)")
	kinds(&c.FakeKinds, fleet.FakerKinds(), "fake-kinds", "`LIST` of kinds of fake servers", "(default: all)")
	fs.Uint64Var(&c.Night, "night", 0, "simulate the servers `N` nights later: servers of the kind games have other players, and at one address in 50 a server is gone or new (default 0)")
	fs.Float64Var(&c.Loss, "loss", 0, "`SHARE` of datagrams lost in each direction, 0 to 1 (default 0)")
	fs.Var(&flags.Value[[2]time.Duration]{To: &f.delay, Parse: readDelay}, "delay", "time `MIN-MAX` that servers take to answer, such as 5ms-40ms")
	fs.Var(&flags.Value[*fleet.Life]{To: &c.Life, Parse: fleet.ParseLife}, "life", "simulate the events in `LIST`, and first print their times as lines of JSON; outages=9 means nine outages; restarts, renames, maps, steamids, moves and flaps (three short outages each) have the same form; cut=90s@5m: after 5m, no server answers for 90s; span=10m: all events but cuts begin within the first 10m; longest=10m: no outage lasts longer than 10m")
	fs.DurationVar(&f.Span, "for", 0, "end after `D`, such as 60s (default: when interrupted)")
	fs.BoolVar(&f.truth, "truth", false, "print the records that a perfect scan would write, then exit")
	fs.Var(&flags.Value[netip.AddrPort]{To: &m.UDP, Parse: readAddrPort}, "master", "run a master server at `ADDR`, such as 127.0.0.1:27011, that lists the fleet; port 0: any free port")
	fs.Var(&flags.Value[netip.AddrPort]{To: &m.Web, Parse: readAddrPort}, "web", "run a Web API at `ADDR`, such as 127.0.0.1:8080, that lists the fleet; port 0: any free port")
	fs.Var(&flags.Value[[]fleet.MasterFault]{To: &m.Faults, Parse: fleet.ParseMasterFaults}, "master-faults", "`LIST` of faults in the answers of the master and the Web API, such as endless,twice (default: none)")
}

// check returns an error if flags contradict each other, and completes f.Fleet.
func (f *fleetFlags) check() error {
	c := &f.Fleet
	words := strings.Split(strings.ReplaceAll(f.Ports, " ", ""), ",")
	numbers := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "0" })
	c.Ports = make([]uint16, len(words)-len(numbers)) // a zero stands for any free port
	if len(numbers) > 0 {
		ports, err := scan.ParsePorts("--port", strings.Join(numbers, ","))
		if err != nil {
			return err
		}
		slices.Sort(ports)
		c.Ports = append(ports, c.Ports...)
	}
	for flag, kinds := range map[string][]fleet.Kind{
		"--kinds": c.Kinds, "--hostile-kinds": c.HostileKinds, "--fake-kinds": c.FakeKinds,
	} {
		for _, k := range kinds {
			right, share := "--kinds", ""
			if k.Hostile() {
				right, share = "--hostile-kinds", " --hostile 1"
			} else if slices.Contains(fleet.FakerKinds(), k) {
				right, share = "--fake-kinds", " --fakes 1"
			}
			if right != flag {
				return console.Fail(console.ExitUsage, "%s: %v belongs to %s", flag, k, right).WithHint("use %s %v%s", right, k, share)
			}
		}
	}
	c.DelayMin, c.DelayMax = f.delay[0], f.delay[1]
	master := f.Master.UDP.IsValid() || f.Master.Web.IsValid()
	switch {
	case f.truth && (f.Span != 0 || master):
		return console.Fail(console.ExitUsage, "--truth can't be combined with --for, --master or --web").
			WithHint("omit the other flags: --truth only prints the records, then exits")
	case f.truth && slices.Contains(c.Ports, 0):
		return console.Fail(console.ExitUsage, "--truth can't use port 0").
			WithHint("give a port, such as 27015: the simulated servers are the same at any port")
	case f.Span < 0:
		return console.Fail(console.ExitUsage, "--for is negative").WithHint("omit --for, and the fleet runs until it is interrupted")
	case !master && len(f.Master.Faults) > 0:
		return console.Fail(console.ExitUsage, "--master-faults needs --master or --web").
			WithHint("add --master 127.0.0.1:27011 or --web 127.0.0.1:8080")
	case c.Alive == 0:
		return console.Fail(console.ExitUsage, "--alive is 0: the fleet would have no servers").
			WithHint("use a share above 0, such as 0.01")
	case c.HostileKinds != nil && c.Hostile == 0:
		return console.Fail(console.ExitUsage, "--hostile-kinds needs --hostile").
			WithHint("add a share of servers, such as --hostile 1")
	case c.FakeKinds != nil && c.Fakes == 0:
		return console.Fail(console.ExitUsage, "--fake-kinds needs --fakes").
			WithHint("add a share of groups, such as --fakes 1")
	case len(c.Games) > 0 && !slices.Contains(c.Kinds, fleet.Games):
		hint := "add --kinds games"
		if c.Kinds != nil {
			hint = "add games to --kinds"
		}
		return console.Fail(console.ExitUsage, "--games needs servers of the kind games").WithHint("%s", hint)
	}
	return f.checkLife()
}

// checkLife returns an error if a cut, a time without answers, would begin after the fleet
// ends. It shortens the span in which all other events begin, so that they begin before
// the end.
func (f *fleetFlags) checkLife() error {
	life := f.Fleet.Life
	if life == nil || f.Span == 0 {
		return nil
	}
	life.Span = min(life.Span, max(f.Span, time.Second))
	for _, c := range life.Cuts {
		if c.At >= f.Span {
			return console.Fail(console.ExitUsage, "--life: cut=%v@%v begins after the fleet ends (--for %v)", c.For, c.At, f.Span).
				WithHint("begin the cut earlier, or run the fleet for longer than %v", c.At)
		}
	}
	return nil
}

// fleet simulates servers, or prints the records that a perfect scan of them would write.
// It ends without an error when the time in --for has passed or the user interrupts it.
func (a *app) fleet(f *fleetFlags) error {
	if f.truth {
		out := bufio.NewWriter(a.out)
		err := errors.Join(f.Fleet.WriteTruth(out, "", wire.AskAll), out.Flush())
		if err != nil && a.out.err == nil { // app.run reports a failure of standard output
			err = console.Fail(console.ExitUsage, "%w", err)
		}
		return err
	}
	f.Program, f.Truth = self(), a.out
	return simulation.Run(a.term, &f.Options)
}

// readDelay reads MIN-MAX, or a single time.
func readDelay(s string) (d [2]time.Duration, err error) {
	low, high, span := strings.Cut(s, "-")
	if !span {
		high = low
	}
	from, err1 := time.ParseDuration(low)
	to, err2 := time.ParseDuration(high)
	if err1 != nil || err2 != nil || from < 0 || to < from {
		return d, errors.New("use MIN-MAX such as 5ms-40ms")
	}
	return [2]time.Duration{from, to}, nil
}

func readNetwork(s string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(s)
	if err != nil {
		return network, errors.New("use a network inside 127.0.0.0/8 such as 127.42.0.0/20")
	}
	return network.Masked(), nil
}

func readAddrPort(s string) (netip.AddrPort, error) {
	at, err := netip.ParseAddrPort(s)
	if err != nil {
		if err := console.CheckPort(s); err != nil {
			return at, err
		}
		return at, errors.New("use an address and a port such as 127.0.0.1:27011")
	}
	return at, nil
}
