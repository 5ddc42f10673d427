package bench

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
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

// These are the numbers of a run from which bars are made.

// cpu is the client's processor time per target, in microseconds.
func (r *Result) cpu() float64        { return r.perTarget(r.Usage.Total()) }
func (r *Result) userTime() float64   { return r.perTarget(r.Usage.User) }
func (r *Result) systemTime() float64 { return r.perTarget(r.Usage.System) }

func (r *Result) perTarget(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / 1e3 / float64(r.Config.Targets())
}

func (r *Result) seconds() float64   { return r.Elapsed.Seconds() }
func (r *Result) rate() float64      { return float64(r.Complete) / r.seconds() } // servers per second
func (r *Result) sendRate() float64  { return float64(r.Sent) / r.seconds() }     // datagrams per second
func (r *Result) datagrams() float64 { return float64(r.Sent) / float64(r.Live) }
func (r *Result) memory() float64    { return float64(r.PeakRSS) / 1e6 }
func (r *Result) complete() float64  { return 100 * float64(r.Complete) / float64(r.Live) }

// Series holds the runs of one client in a measurement with several clients.
type Series []Result

// ratio computes each ratio within one round, in which both values were measured at
// about the same time, and returns the median.
func (s Series) ratio(ceiling Series, of func(*Result) float64) float64 {
	vs := make([]float64, len(s))
	for i := range s {
		vs[i] = of(&s[i]) / of(&ceiling[i])
	}
	return median(vs)
}

func (s Series) median(of func(*Result) float64) float64 {
	vs := make([]float64, len(s))
	for i := range s {
		vs[i] = of(&s[i])
	}
	return median(vs)
}

func median(vs []float64) float64 {
	slices.Sort(vs)
	return (vs[(len(vs)-1)/2] + vs[len(vs)/2]) / 2
}

// tries is the maximum number of attempts at a run whose fleet drops queries.
const tries = 3

// Run measures a workload once. A run in which the fleet dropped queries does not
// count: Run repeats it, up to tries attempts in all. Run returns an error if the
// fleet dropped queries in all of them, or if the client reported problems.
func Run(c Config) (r Result, err error) {
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
	dir, err := os.MkdirTemp("", "bench")
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
	err = errors.Join(err, f.out.Decode(&end), f.end())
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

// measure runs the client in a separate process. It stores the length of the record
// file and, with Config.Check, checks the records.
func (t *task) measure() (r Result, err error) {
	r.Config = t.Config
	if t.Config.Loop == Program {
		err = t.program(&r.Client)
	} else if p, e := start(partClient, t.Config.Limit, t); e != nil {
		err = e
	} else {
		err = errors.Join(p.out.Decode(&r.Client), p.end())
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
		return r, t.Config.check(t.Output, r.Answered)
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
