package bench

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
)

// Result is one run of a workload.
type Result struct {
	Config Config
	Client
	Fleet      fleet.Stats
	FleetUsage Usage
	FleetDrops uint64 // queries that did not fit into the fleet's buffer
	Live       uint64 // addresses and ports with a server
}

// CPU returns the client's processor time per target, user and system.
func (r *Result) CPU() time.Duration {
	return r.Usage.Total() / time.Duration(max(r.Config.Targets(), 1))
}

// Rate returns how many servers per second were completed or, for Blast, how many
// datagrams per second were sent.
func (r *Result) Rate() float64 {
	n := r.Complete
	if r.Config.Loop == Blast {
		n = r.Sent
	}
	return float64(n) / r.Elapsed.Seconds()
}

// SendRate returns how many datagrams were sent per second.
func (r *Result) SendRate() float64 { return float64(r.Sent) / r.Elapsed.Seconds() }

// FleetShare returns the fleet's share of the processor time of both processes.
func (r *Result) FleetShare() float64 {
	f := r.FleetUsage.Total()
	return float64(f) / float64(f+r.Usage.Total())
}

// tries is the maximum number of attempts at a run whose fleet drops queries.
const tries = 3

// Run measures a workload once. A run in which the fleet dropped queries does not
// count: Run repeats it, up to tries attempts in all. Run returns an error if the
// fleet dropped queries in all of them, or if the client reported problems.
func Run(c Config) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	var r Result
	var err error
	for range tries {
		if r, err = runOnce(c); err != nil || r.FleetDrops == 0 {
			break
		}
	}
	switch {
	case err != nil:
	case r.FleetDrops > 0:
		err = fmt.Errorf("the fleet dropped %d queries, %d times in a row: no measurement", r.FleetDrops, tries)
	case len(r.Problems) > 0:
		err = fmt.Errorf("the run is not valid: %q", r.Problems)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", c.Name(), err)
	}
	return r, err
}

func runOnce(c Config) (r Result, err error) {
	dir, err := os.MkdirTemp(c.Dir, "bench")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	f, err := start(partFleet, c.Limit, c.Fleet)
	if err != nil {
		return r, err
	}
	t := task{Config: c}
	if err = f.out.Decode(&t.Ports); err == nil {
		err = t.prepare(dir)
	}
	if err == nil {
		r, err = t.measure()
	}
	var end fleetEnd
	f.in.Close()
	if e := f.out.Decode(&end); err == nil {
		err = e
	}
	if e := f.end(); err == nil {
		err = e
	}
	r.Fleet, r.FleetUsage = end.Stats, end.Usage
	r.Live = t.live()
	r.FleetDrops = t.dropped(&r)
	return r, err
}

// prepare writes the list and chooses the name of the record file, if the client
// needs them.
func (t *task) prepare(dir string) error {
	switch {
	case t.Config.Loop == Bare || t.Config.Loop == Blast:
		return nil
	case t.Config.Output == NDJSON:
		t.Output = filepath.Join(dir, "records.ndjson")
	case t.Config.Output == Zstd:
		t.Output = filepath.Join(dir, "records.ndjson.zst")
	}
	if t.Config.Addresses == 0 {
		return nil
	}
	t.List = filepath.Join(dir, "list.txt")
	return t.writeList()
}

// client runs a client that is a part of this test binary.
func (t *task) client(c *Client) error {
	p, err := start(partClient, t.Config.Limit, t)
	if err != nil {
		return err
	}
	err = p.out.Decode(c)
	if e := p.end(); e != nil {
		err = e
	}
	return err
}

// measure runs the client in a separate process. It stores the length of the record
// file and, with Config.Check, checks the records.
func (t *task) measure() (r Result, err error) {
	r.Config = t.Config
	if t.Config.Loop == Program {
		err = t.program(&r.Client)
	} else {
		err = t.client(&r.Client)
	}
	if err != nil || t.Output == "" {
		return r, err
	}
	info, err := os.Stat(t.Output)
	if err != nil {
		return r, err
	}
	r.FileLen = info.Size()
	if t.Config.Check {
		return r, newChecker(&t.Config).file(t.Output, r.Answered)
	}
	return r, nil
}

// dropped returns how many queries did not fit into the fleet's buffer. On
// loopback, the fleet either receives a datagram or drops it because the buffer is
// full. With a filter, it should receive only queries to live servers. On a path
// that drops datagrams, dropped can't tell and returns 0.
func (t *task) dropped(r *Result) uint64 {
	if t.Config.Dropping {
		return 0
	}
	want := r.Sent
	if t.Config.Fleet.Filter {
		want = r.Live + r.Kinds.Challenge
	}
	return want - min(want, r.Fleet.Queries)
}

// live counts the addresses and ports with a server.
func (t *task) live() (n uint64) {
	addr := t.Config.Network.Masked().Addr()
	for range t.Config.addresses() {
		for _, p := range t.Ports {
			if t.Config.Fleet.HasServer(netip.AddrPortFrom(addr, p)) {
				n++
			}
		}
		addr = addr.Next()
	}
	return n
}
