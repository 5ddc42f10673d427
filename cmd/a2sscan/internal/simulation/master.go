package simulation

import (
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
)

// MasterOptions describes a simulated master.
type MasterOptions struct {
	// Limit is a number of requests; 0: no limit. After more than Limit requests
	// within a minute, the master server is silent for a minute. After more than
	// Limit requests within RetryAfter, the Web API answers 429.
	Limit int

	UDP        string        // address of a master server; empty: none
	Web        string        // address of a Web API; empty: none
	Also       string        // further servers that it lists, as ip:port separated by commas
	RetryAfter time.Duration // see Limit; also the time after which a 429 tells clients to retry
	Faults     string        // kinds of its faulty answers, separated by commas
	After      int           // number of requests before the faults begin
	During     int           // number of requests that get the faults; 0: all that follow
}

// Wanted reports whether the options describe a master.
func (o *MasterOptions) Wanted() bool { return o.UDP != "" || o.Web != "" }

// Check returns an error if the options contradict each other.
func (o *MasterOptions) Check() error {
	if !o.Wanted() && (o.Also != "" || o.Limit != 0 || o.Faults != "" || o.After != 0 || o.During != 0) {
		return console.Fail(console.ExitUsage, "flags of a master without --master or --web").
			WithHint("--master 127.0.0.1:27011 --web 127.0.0.1:8080 simulates one")
	}
	if o.Limit < 0 || o.After < 0 || o.During < 0 || o.RetryAfter < 0 {
		return console.Fail(console.ExitUsage, "a number of the master is negative")
	}
	return nil
}

// config returns the configuration of the master.
func (o *MasterOptions) config(servers fleet.Config) (fleet.MasterConfig, error) {
	c := fleet.MasterConfig{
		Fleet: servers, PerMinute: o.Limit, Calls: o.Limit, In: o.RetryAfter,
		After: o.After, For: o.During,
	}
	var err error
	if c.Faults, err = fleet.ParseMasterFaults(o.Faults); err != nil {
		return c, console.Fail(console.ExitUsage, "--master-faults: %w", err)
	}
	if c.UDP, err = readAddrPort("--master", o.UDP); err != nil {
		return c, err
	}
	if c.Web, err = readAddrPort("--web", o.Web); err != nil || o.Also == "" {
		return c, err
	}
	for word := range strings.SplitSeq(o.Also, ",") {
		at, err := readAddrPort("--master-also", word)
		if err != nil {
			return c, err
		}
		c.Also = append(c.Also, at)
	}
	return c, nil
}

// readAddrPort parses the value of a flag, which is ip:port or empty.
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

// Listen starts to listen as a master. It returns nil if the options describe none.
func (o *MasterOptions) Listen(servers fleet.Config) (*fleet.Master, error) {
	if !o.Wanted() {
		return nil, nil
	}
	c, err := o.config(servers)
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

// masterFailure returns the error for a master that can't start.
func masterFailure(err error) error {
	f := console.Fail(console.ExitUsage, "%w", err)
	if errors.Is(err, syscall.EADDRINUSE) {
		f.WithHint("another program has that port: choose another with --master or --web, or 0 for any")
	}
	return f
}

// reportMaster prints the master's addresses.
func (r *Runner) reportMaster(o *Options, m *fleet.Master) {
	if at := m.UDPAddr(); at != "" {
		r.Term.Say("ready: a master server at %s, %d servers", at, m.Len())
		r.Term.Hint("fetch its list with: %s master --udp %s", o.Program, at)
	}
	if url := m.URL(); url != "" {
		r.Term.Say("ready: a Web API at %s, %d servers, any key", url, m.Len())
		r.Term.Hint("fetch its list with: %s=any %s master --web --url %s", masterlist.KeyVariable, o.Program, url)
	}
}
