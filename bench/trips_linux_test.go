package bench

import (
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/canned"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
)

// Trips compares the round trips in the records of a run with what the fleet
// measured: the time from the kernel's receive timestamp of a query until the
// system call that sent its answer. On loopback a datagram arrives during that
// call.
type Trips struct {
	N      int             // round trips in the records
	errors []time.Duration // absolute difference of each, ascending
}

// Within returns the share of the round trips that differ by at most d from the
// fleet's.
func (x *Trips) Within(d time.Duration) float64 {
	n, _ := slices.BinarySearch(x.errors, d+1)
	return float64(n) / float64(max(x.N, 1))
}

// Quantile returns the difference that the given share of the round trips does not
// exceed.
func (x *Trips) Quantile(share float64) time.Duration {
	if x.N == 0 {
		return 0
	}
	return x.errors[min(int(share*float64(x.N)), x.N-1)]
}

// asked is a question to a server.
type asked struct {
	server   uint64
	question wire.Question
}

// compareTrips compares the round trips in the file census with those that a fleet
// wrote to the file holds.
func compareTrips(census, holds string) (x Trips, err error) {
	all, err := canned.ReadHolds(holds)
	if err != nil {
		return x, err
	}
	want := make(map[asked]time.Duration, len(all))
	for _, h := range all {
		want[asked{h.Server, wire.Question(h.Question)}] = h.Took
	}
	r, err := sink.Open(census)
	if err != nil {
		return x, err
	}
	defer r.Close()
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			x.N = len(x.errors)
			slices.Sort(x.errors)
			return x, nil
		}
		if err == nil {
			err = x.add(line, want)
		}
		if err != nil {
			return x, err
		}
	}
}

// add compares the round trips of the record in line with want. It returns an error
// if want lacks one of them.
func (x *Trips) add(line []byte, want map[asked]time.Duration) error {
	var got struct {
		Addr netip.AddrPort
		RTTs map[string]float64 `json:"rtts_ms"`
	}
	if err := json.Unmarshal(line, &got); err != nil {
		return err
	}
	for q := range wire.Question(wire.NumQuestions) {
		ms, ok := got.RTTs[q.String()]
		if !ok {
			continue
		}
		held, ok := want[asked{udp.Pack(got.Addr), q}]
		if !ok {
			return errors.New("a round trip of a question that the fleet never answered")
		}
		x.errors = append(x.errors, (time.Duration(ms*float64(time.Millisecond)) - held).Abs())
	}
	return nil
}
