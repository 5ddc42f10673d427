package main

import (
	"bytes"
	"encoding/json"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/tally"

	"github.com/a2sscan/a2sscan/scanner"
)

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
	if s.Rate, s.Waited[scanner.WaitReplies] = math.Inf(1), 0; pacingError(s) != nil {
		t.Error("a scan without a rate has an error of it")
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
	var ta tally.Tally
	for i := range 100 {
		ta.Add(&scanner.Result{
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
