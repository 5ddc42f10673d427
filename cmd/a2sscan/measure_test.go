package main

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

// TestEstimateMissed simulates servers that answer each ask by chance, and
// compares the estimate with those that were really missed.
func TestEstimateMissed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, chance := range []float64{0.3, 0.5, 0.7, 0.9} {
		for _, asks := range []int{2, 3, 4} {
			const servers = 200_000
			atAsk := make([]uint64, asks)
			missed := 0
			for range servers {
				ask := 0
				for ask < asks && r.Float64() >= chance {
					ask++
				}
				if ask == asks {
					missed++
				} else {
					atAsk[ask]++
				}
			}
			p, got, ok := estimateMissed(atAsk)
			if !ok || math.Abs(p-chance) > 0.02 || math.Abs(got-float64(missed)) > 0.1*float64(missed)+50 {
				t.Errorf("chance %v, %d asks: %v missed, %v estimated, chance %v, %v", chance, asks, missed, got, p, ok)
			}
		}
	}
}

// TestEstimateEdges: where nothing can be said, nothing is.
func TestEstimateEdges(t *testing.T) {
	tests := []struct {
		atAsk  []uint64
		missed float64 // -1: not known
	}{
		{nil, -1},
		{[]uint64{0, 0, 0}, -1},
		{[]uint64{1000}, -1},
		{[]uint64{1000, 0, 0}, 0},
		{[]uint64{10, 10, 10}, -1},
		{[]uint64{1, 10, 100}, -1},
		{[]uint64{0, 0, 5}, -1},
		{[]uint64{750, 187, 47}, 15.6},
	}
	for _, test := range tests {
		_, missed, ok := estimateMissed(test.atAsk)
		if ok != (test.missed >= 0) || ok && math.Abs(missed-test.missed) > 0.5 {
			t.Errorf("%v: %v, %v; want %v", test.atAsk, missed, ok, test.missed)
		}
	}
	fa := newFirstAnswers([]uint64{750, 187, 47}, 3)
	if s := fa.String(); s != "750 at the first request, 187 at number 2, 47 at number 3; datagrams that got lost hid about 16 more" {
		t.Error(s)
	}
	fa = newFirstAnswers([]uint64{7}, 1)
	if s := fa.String(); s != "7 at the first request" || fa.Missed != nil {
		t.Error(s)
	}
}

// TestBusiest counts servers on more addresses than there is memory for: the
// largest ones are found, and no count is too low, nor higher than it says.
func TestBusiest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	addr := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }
	truth := map[netip.Addr]uint64{}
	var b busiest
	for range 300_000 {
		i := r.IntN(50_000)
		if r.IntN(3) == 0 { // farms: 20 of them, of different sizes
			i = 1_000_000 + min(r.IntN(20), r.IntN(20))
		}
		truth[addr(i)]++
		b.add(addr(i))
	}
	for i, one := range b.top(maxFrequent) {
		is := truth[one.Addr]
		if is > one.Servers || one.Servers-one.Over > is {
			t.Errorf("%v has %d servers, and %d are said, at most %d too many", one.Addr, is, one.Servers, one.Over)
		}
		if want := addr(1_000_000 + i); i < 5 && one.Addr != want {
			t.Errorf("place %d: %v, want %v", i+1, one.Addr, want)
		}
	}
	if len(b.by) != maxFrequent || len(b.at) != maxFrequent {
		t.Errorf("%d addresses are counted, %d are known", len(b.by), len(b.at))
	}
	few := busiest{}
	for i := range 100 {
		for range i {
			few.add(addr(i))
		}
	}
	if top := few.top(2); top[0] != (busy{Addr: addr(99), Servers: 99}) || top[1].Servers != 98 {
		t.Errorf("%+v", top)
	}
	c := b.clone()
	b.add(addr(1_000_000))
	if c.top(1)[0].Servers+1 != b.top(1)[0].Servers {
		t.Error("a copy counts what is counted later")
	}
}

func TestRoundTrips(t *testing.T) {
	var rt roundTrips
	if rt.quantiles() != nil {
		t.Error("quantiles of nothing")
	}
	for i := range 10_000 {
		rt.add(time.Duration(i+1) * 10 * time.Microsecond)
	}
	rt.add(time.Hour)
	rt.add(time.Nanosecond)
	b, err := json.Marshal(rt)
	if err != nil {
		t.Fatal(err)
	}
	var back roundTrips
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	for _, q := range []*quantiles{rt.quantiles(), back.quantiles()} {
		near := func(got, want float64) bool { return math.Abs(got-want) <= want*0.011 }
		if q.Servers != 10_002 || q.Min > 0.0011 || !near(q.P50, 50) || !near(q.P90, 90) || !near(q.P99, 99) || !near(q.Max, 600e3) {
			t.Errorf("%+v", q)
		}
	}
	if len(b) > 8<<10 {
		t.Errorf("%d bytes in a checkpoint", len(b))
	}
}

func TestPacingError(t *testing.T) {
	s := &scanner.Stats{Elapsed: 10 * time.Second, Rate: 100}
	s.Waited[scanner.WaitReplies] = 4e6
	s.Sent[0], s.Allowed = 606, 600
	if e := pacingError(s); e == nil || math.Abs(*e-0.01) > 1e-9 {
		t.Errorf("%v, want 1%%", e)
	}
	s.Waited[scanner.WaitReplies] = 9.95e6
	if e := pacingError(s); e != nil {
		t.Errorf("%v of too short a time", *e)
	}
	if s.Rate, s.Waited[scanner.WaitReplies] = scanner.Off, 0; pacingError(s) != nil {
		t.Error("a scan without a rate has an error of it")
	}
}

// TestGuard: the first reason counts, and nothing is judged by a few targets.
func TestGuard(t *testing.T) {
	stops := 0
	g := &guard{guardFlags: &guardFlags{minHitrate: 0.1, maxSendErrors: 3}, stop: func() { stops++ }}
	s := scanner.Stats{Silent: 500}
	s.Finished[scanner.StatusNoReply] = 400
	if g.look(&s); g.tripped() != nil {
		t.Errorf("900 targets: %v", g.tripped())
	}
	s.Finished[scanner.StatusOK] = 110
	if g.look(&s); g.tripped() != nil {
		t.Errorf("110 of 1010: %v", g.tripped())
	}
	s.SendErrors, s.Silent = 4, 700
	g.look(&s)
	g.look(&s)
	if why := g.tripped(); stops != 1 || why == nil || why.Flag != "--max-send-errors" {
		t.Errorf("%d stops, %v", stops, why)
	}
	g = &guard{guardFlags: &guardFlags{minHitrate: 0.1, maxSendErrors: -1}, stop: func() { stops++ }}
	if g.look(&s); g.tripped() == nil || !strings.HasPrefix(g.tripped().Why, "9.09% of 1,210 targets answered, and 10% are wanted") {
		t.Errorf("%v", g.tripped())
	}
}

func TestShare(t *testing.T) {
	for text, want := range map[string]share{"2%": 0.02, "0.02": 0.02, "100%": 1, "0": 0, "1": 1, "0.5%": 0.005} {
		var s share
		if err := s.Set(text); err != nil || math.Abs(float64(s-want)) > 1e-12 {
			t.Errorf("%s: %v, %v", text, float64(s), err)
		}
	}
	for _, text := range []string{"", "%", "2", "101%", "-1%", "NaN", "x"} {
		var s share
		if s.Set(text) == nil {
			t.Errorf("%q is %v", text, float64(s))
		}
	}
}

// TestSummaryMeasures: what follows from the answers is in the file.
func TestSummaryMeasures(t *testing.T) {
	var ta tally
	for i := range 100 {
		ta.add(&scanner.Result{
			Status: scanner.StatusOK, Ask: uint8(1 + i/90), RTT: time.Duration(i+1) * time.Millisecond,
			Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i % 3)}), uint16(i+1)),
		})
	}
	sum := summaryOf(aScan())
	sum.found(&ta, 3)
	b, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"first_answers":{"at_ask":[90,10,0],"answer_chance":0.9`,
		`"round_trips":{"servers":100,"min_ms":1,"p50_ms":50`,
		`"largest_addresses":[{"address":"10.0.0.0","servers":34},{"address":"10.0.0.1","servers":33}`,
		`"send_errors_by_kind":{`, `"peak_rss_bytes":`, `"inputs":`,
	} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
}
