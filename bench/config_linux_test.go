package bench

import (
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/canned"
	"github.com/a2sscan/a2sscan/wire"
)

// Loop is a kind of client.
type Loop string

// The clients.
const (
	// Scan is the whole scanner: list, scan, records, file.
	Scan Loop = "scan"

	// Bare is the ceiling: one goroutine that reads a batch, counts it, and writes
	// a batch. It sends and receives the same datagrams as Scan.
	Bare Loop = "bare"

	// Program is the command a2sscan scan, with its default flags except the rate.
	Program Loop = "program"

	// Blast writes batches of INFO requests and reads nothing: the ceiling of a
	// sweep.
	Blast Loop = "blast"
)

// Output is the destination of the records of Scan and Program.
type Output string

// The outputs.
const (
	Discard Output = "discard" // results are made, but no records
	NDJSON  Output = "ndjson"  // a file
	Zstd    Output = "zstd"    // a compressed file
)

// Config is a workload: the servers, the client and its options. Each server has 12
// players and 24 rules, and demands a challenge for every question.
type Config struct {
	Loop   Loop
	Output Output

	Network   netip.Prefix // inside 127.0.0.0/8
	Addresses int          // number of addresses in the list to scan; zero: scan the Network
	Fleet     canned.Config

	InfoOnly    bool
	Rate        float64 // like the next fields, as in scanner.Config
	FindRate    bool
	AddressRate float64
	Timeout     time.Duration
	Attempts    int
	Cooldown    time.Duration
	Window      int // scanner.Config's InFlight

	Dropping bool // the path drops datagrams: the fleet need not receive all of them

	Check   bool          // compare every record of the file with what its server sends
	Limit   time.Duration // after this time the processes are killed
	Profile string        // a file for the client's CPU profile; empty: none
}

// off is scanner.Off: it lifts a limit.
const off = -1

// window is the number of servers that a client queries at once at full speed: few
// enough that no buffer overflows, and enough to fill the batches.
const window = 1024

// Throughput is a scan of n servers without delay, with all questions, at full
// speed.
func Throughput(n int) Config {
	return Config{
		Loop: Scan, Output: Discard,
		Network: netip.MustParsePrefix("127.16.0.0/12"), Addresses: n,
		Fleet: canned.Config{Ports: 1},
		Rate:  off, AddressRate: off, Cooldown: off, Window: window,
		Limit: 2 * time.Minute,
	}
}

// Realistic is the scan of a list like that of a master server: four ports of each
// address, 30 % dead, 20 to 200 ms away, at 50,000 datagrams per second.
func Realistic(targets int) Config {
	const ports = 4
	return Config{
		Loop: Scan, Output: Zstd,
		Network: netip.MustParsePrefix("127.16.0.0/12"), Addresses: targets / ports,
		Fleet: canned.Config{
			Ports: ports, Alive: 0.7,
			DelayMin: 20 * time.Millisecond, DelayMax: 200 * time.Millisecond,
		},
		Rate: 50_000, AddressRate: off,
		Limit: 2 * time.Minute,
	}
}

// Distant is Realistic with one port of each address, like the list that a scan of
// networks makes.
func Distant(targets int) Config {
	c := Realistic(targets)
	c.Addresses, c.Fleet.Ports = targets, 1
	return c
}

// sweepTimeout is the timeout of each address of a sweep. With 2^18 addresses in
// flight, it allows a million per second.
const sweepTimeout = 250 * time.Millisecond

// Sweep is the sweep of a network in which one address in a hundred has a server:
// only INFO, no retries, at full speed. The kernel drops datagrams to the other
// addresses.
func Sweep(network netip.Prefix) Config {
	return Config{
		Loop: Scan, Output: NDJSON,
		Network:  network,
		Fleet:    canned.Config{Ports: 1, Alive: 0.01, Filter: true},
		InfoOnly: true,
		Rate:     off, AddressRate: off, Cooldown: off, Attempts: 1, Timeout: sweepTimeout,
		Limit: 10 * time.Minute,
	}
}

// With returns a copy of c with another client and output.
func (c Config) With(l Loop, o Output) Config {
	c.Loop, c.Output = l, o
	return c
}

func (c *Config) questions() wire.Questions {
	if c.InfoOnly {
		return wire.AskInfo
	}
	return wire.AskAll
}

// Name returns the name of the client and of its output. Scan is named by its output
// alone.
func (c *Config) Name() string {
	switch c.Loop {
	case Scan:
		return string(c.Output)
	case Program:
		return string(c.Loop) + " " + string(c.Output)
	}
	return string(c.Loop)
}

// Targets returns how many targets the client queries.
func (c *Config) Targets() int { return c.addresses() * c.Fleet.Ports }

func (c *Config) addresses() int {
	if c.Addresses > 0 {
		return c.Addresses
	}
	return 1 << (32 - c.Network.Bits())
}
