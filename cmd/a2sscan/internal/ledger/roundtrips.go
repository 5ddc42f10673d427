package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	// This library computes quantiles of millions of round trips in a few kB, with a
	// known precision.
	"github.com/HdrHistogram/hdrhistogram-go"
)

// roundTrips is a histogram of round-trip times in microseconds. Its quantiles have
// an error of at most 1 %. The zero value is empty.
type roundTrips struct{ h *hdrhistogram.Histogram }

// maxRoundTrip is the largest value of the histogram. A longer round trip counts as
// maxRoundTrip.
const maxRoundTrip = 10 * time.Minute

func newRoundTrips() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, maxRoundTrip.Microseconds(), 2) // 2 significant digits
}

func (rt *roundTrips) add(d time.Duration) {
	if rt.h == nil {
		rt.h = newRoundTrips()
	}
	_ = rt.h.RecordValue(max(1, min(d, maxRoundTrip).Microseconds())) // never fails: the value is in range
}

// MarshalJSON encodes the histogram in its own binary format, as base64.
func (rt roundTrips) MarshalJSON() ([]byte, error) {
	if rt.h == nil {
		return []byte("null"), nil
	}
	b, err := rt.h.EncodeV2()
	if err != nil {
		return nil, err
	}
	return json.Marshal(b)
}

// UnmarshalJSON decodes what MarshalJSON returned.
func (rt *roundTrips) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil || len(b) == 0 {
		return err
	}
	h, err := hdrhistogram.Decode(b)
	if err != nil {
		return err
	}
	rt.h = newRoundTrips()
	rt.h.Merge(h)
	return nil
}

// Quantiles are quantiles of round-trip times in milliseconds. Half of the servers
// answered within P50.
type Quantiles struct {
	Servers int64   `json:"servers"` // servers with a known round-trip time
	Min     float64 `json:"min_ms"`
	P50     float64 `json:"p50_ms"`
	P90     float64 `json:"p90_ms"`
	P99     float64 `json:"p99_ms"`
	P999    float64 `json:"p999_ms"`
	Max     float64 `json:"max_ms"`
}

// Quantiles returns the quantiles of the histogram, or nil if it is empty.
func (rt *roundTrips) Quantiles() *Quantiles {
	if rt.h == nil || rt.h.TotalCount() == 0 {
		return nil
	}
	at := func(q float64) float64 { return float64(rt.h.ValueAtQuantile(q)) / 1000 }
	return &Quantiles{
		Servers: rt.h.TotalCount(), Min: float64(rt.h.Min()) / 1000,
		P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: float64(rt.h.Max()) / 1000,
	}
}

// String formats the quantiles as one line. Below 1000 ms, a quantile has three
// significant digits; from 1000 ms on, it is a whole number.
func (q *Quantiles) String() string {
	ms := func(v float64) string {
		if v >= 1000 {
			return console.Grouped(uint64(math.Round(v))) + " ms"
		}
		return fmt.Sprintf("%.3g ms", v)
	}
	return fmt.Sprintf("half within %s, 90%% %s, 99%% %s, the slowest %s", ms(q.P50), ms(q.P90), ms(q.P99), ms(q.Max))
}
