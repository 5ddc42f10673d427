package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
)

// fleetMasterFlags are those of a fleet's simulated master.
type fleetMasterFlags struct {
	udp    string
	web    string
	also   string
	limit  int
	retry  time.Duration
	faults string
	after  int
	during int
}

func (f *fleetMasterFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.udp, "master", "", "a master server with the fleet on its list: `ADDR` such as 127.0.0.1:27011 (port 0: any)")
	fs.StringVar(&f.web, "web", "", "a Web API with the fleet on its list: `ADDR` such as 127.0.0.1:8080 (port 0: any)")
	fs.StringVar(&f.also, "master-also", "", "a `LIST` of ip:port that the master names besides, such as 169.254.0.1:27015")
	fs.IntVar(&f.limit, "master-limit", 0, "`N` answers a minute, then silence, or 429 from the Web API; 0: no limit (default 0)")
	fs.DurationVar(&f.retry, "master-retry-after", time.Minute, "how long 429 says to wait, and the limit of the Web API counts: `D`")
	fs.StringVar(&f.faults, "master-faults", "", "a `LIST` of what the master does wrong, such as endless,twice (default: nothing)")
	fs.IntVar(&f.after, "master-after", 0, "`N` answers before it does (default 0)")
	fs.IntVar(&f.during, "master-during", 0, "`N` answers that it does for; 0: all that follow (default 0)")
}

// wanted reports whether there is to be a master.
func (f *fleetMasterFlags) wanted() bool { return f.udp != "" || f.web != "" }

// check refuses what makes no sense together.
func (f *fleetMasterFlags) check() error {
	if !f.wanted() && (f.also != "" || f.limit != 0 || f.faults != "" || f.after != 0 || f.during != 0) {
		return console.Fail(console.ExitUsage, "flags of a master without --master or --web").
			WithHint("--master 127.0.0.1:27011 --web 127.0.0.1:8080 simulates one")
	}
	if f.limit < 0 || f.after < 0 || f.during < 0 || f.retry < 0 {
		return console.Fail(console.ExitUsage, "a number of the master is negative")
	}
	return nil
}

// config is what the flags say, for the master of a fleet.
func (f *fleetMasterFlags) config(servers fleet.Config) (fleet.MasterConfig, error) {
	c := fleet.MasterConfig{
		Fleet: servers, PerMinute: f.limit, Calls: f.limit, In: f.retry,
		After: f.after, For: f.during,
	}
	var err error
	if c.Faults, err = fleet.ParseMasterFaults(f.faults); err != nil {
		return c, console.Fail(console.ExitUsage, "--master-faults: %w", err)
	}
	if c.UDP, err = readAddrPort("--master", f.udp); err != nil {
		return c, err
	}
	if c.Web, err = readAddrPort("--web", f.web); err != nil || f.also == "" {
		return c, err
	}
	for word := range strings.SplitSeq(f.also, ",") {
		at, err := readAddrPort("--master-also", word)
		if err != nil {
			return c, err
		}
		c.Also = append(c.Also, at)
	}
	return c, nil
}

// readAddrPort reads a flag's ip:port; empty: none.
func readAddrPort(flag, text string) (netip.AddrPort, error) {
	if text == "" {
		return netip.AddrPort{}, nil
	}
	at, err := netip.ParseAddrPort(text)
	if err != nil || !at.Addr().Is4() {
		return at, console.Fail(console.ExitUsage, "%s %s: not ip:port", flag, console.Quoted(text, 40)).
			WithHint("an IPv4 address and a port, such as 127.0.0.1:27011")
	}
	return at, nil
}

// listen opens the master, if there is to be one.
func (f *fleetMasterFlags) listen(servers fleet.Config) (*fleet.Master, error) {
	if !f.wanted() {
		return nil, nil
	}
	c, err := f.config(servers)
	if err != nil {
		return nil, err
	}
	m, err := fleet.NewMaster(c)
	if err == nil {
		err = m.Listen()
	}
	if err != nil {
		return nil, masterFailure(err)
	}
	return m, nil
}

// masterFailure explains why a master can't start.
func masterFailure(err error) error {
	f := console.Fail(console.ExitUsage, "%w", err)
	if errors.Is(err, syscall.EADDRINUSE) {
		f.WithHint("something else has that port: name another with --master or --web, or 0 for any")
	}
	return f
}

// sayMaster says where the master is.
func (a *app) sayMaster(m *fleet.Master) {
	if at := m.UDPAddr(); at != "" {
		a.Say("ready: a master server at %s, %d servers", at, m.Len())
		a.Hint("fetch its list with: %s master --udp %s", self(), at)
	}
	if url := m.URL(); url != "" {
		a.Say("ready: a Web API at %s, %d servers, any key", url, m.Len())
		a.Hint("fetch its list with: %s=any %s master --web --url %s", masterlist.KeyVariable, self(), url)
	}
}

// masterLine says what a master had to do.
func masterLine(m *fleet.Master) string {
	udp, web := m.Requests()
	return fmt.Sprintf("master: %d requests over UDP, %d over HTTP", udp, web)
}
