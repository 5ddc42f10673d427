// Package metrics serves the metrics of a running scan to Prometheus. Its Site is also the
// HTTP server of a watch.
package metrics

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"

	// Prometheus' own library provides the text formats, and the metrics of the Go
	// runtime and of the process.
	"github.com/prometheus/client_golang/prometheus"
)

// Server serves the metrics of one scan over HTTP. It reads most metrics from the scan
// when a client scrapes. It collects only round-trip times and player counts itself.
// Attach, Begin and End may be called on a nil Server.
type Server struct {
	site *Site

	trips prometheus.Histogram
	// people and bots are how many people and bots play on the servers found so far.
	// elsewhere is the number of servers for which scanner.Population.Elsewhere is true.
	people, bots, elsewhere atomic.Uint64

	mu     sync.Mutex
	source Source
	scan   *scanner.Monitor // nil: the scanner has not started yet
	begun  time.Time        // when the scanner started
	ended  bool             // the scanner has ended

	// handing is the time at which the output received the result that it is writing, in
	// nanoseconds after begun. It is 0 while the output writes no result.
	handing atomic.Int64
}

// Source provides what a Server reads from a scan. Its functions may be called from
// any goroutine and must not block.
type Source struct {
	Fill         func(*ledger.Source) // adds the numbers that come neither from the scanner nor from the Server
	OutputFailed func() bool
	Draining     <-chan struct{} // closed when the scan starts no more targets
}

// roundTripBuckets are the upper bounds of the histogram's buckets in seconds.
var roundTripBuckets = []float64{
	0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2.5, 5, 10,
}

// connections is the maximum number of open connections. It is small, because a scan needs
// file descriptors, too.
const connections = 32

// Listen starts a server at an address, HOST:PORT.
func Listen(t *console.Terminal, address string, build ledger.Build) (m *Server, err error) {
	m = newServer()
	m.site, err = OpenSite(SiteOptions{Flag: "--metrics", Address: address, Connections: connections, Log: t.Log}, m.routes(build))
	if err != nil {
		return nil, err
	}
	go m.site.Serve()
	t.Log.Info("metrics served", "address", m.site.Addr())
	return m, nil
}

func newServer() *Server {
	return &Server{trips: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "a2sscan_round_trip_seconds",
		Help:    "Round-trip times of servers that answered a question without a retry.",
		Buckets: roundTripBuckets,
	})}
}

// URL returns the address of the metrics.
func (m *Server) URL() string { return "http://" + m.site.Addr() + "/metrics" }

func (m *Server) routes(build ledger.Build) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", Values(build, m.counters, m.trips))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		state, well := m.health(time.Now())
		m.mu.Unlock()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if !well {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(w, state)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "a2sscan: /metrics is for Prometheus, /healthz says whether the scan is healthy\n")
	})
	return mux
}

// counters returns the counters in ledger.Table that have a Metric, with the current
// numbers of the scan.
func (m *Server) counters() (all []Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	from := &ledger.Source{Scan: &scanner.Stats{}, Expected: math.NaN()}
	_, from.Healthy = m.health(time.Now())
	if m.scan != nil {
		*from.Scan = m.scan.Stats()
	}
	from.People, from.Bots, from.Elsewhere = m.people.Load(), m.bots.Load(), m.elsewhere.Load()
	if m.source.Fill != nil {
		m.source.Fill(from)
	}
	ledger.Each(from, func(row *ledger.Counter, n float64, word string) {
		if row.Metric == "" {
			return
		}
		v := Value{Name: "a2sscan_" + row.Metric, Help: row.Help, Number: n}
		if row.Micros {
			v.Number /= 1e6
		}
		if row.Label != "" {
			v.Labels = prometheus.Labels{row.Label: cmp.Or(word, row.Name)}
		}
		all = append(all, v)
	})
	return all
}

// Attach sets the source. Call it before the scanner starts.
func (m *Server) Attach(src Source) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.source = src
}

// Begin sets the monitor of the scan, and returns the function to which the scanner must
// pass its results. The function passes each result to handle and counts it.
func (m *Server) Begin(scan *scanner.Monitor, handle func(*scanner.Result)) func(*scanner.Result) {
	if m == nil {
		return handle
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scan, m.begun = scan, time.Now()
	begun := m.begun
	return func(r *scanner.Result) {
		m.handing.Store(int64(max(1, time.Since(begun))))
		handle(r)
		m.handing.Store(0)
		if r.RTT > 0 {
			m.trips.Observe(r.RTT.Seconds())
		}
		if !r.HasInfo {
			return
		}
		p := r.Population()
		m.people.Add(uint64(max(p.People, 0)))
		m.bots.Add(uint64(max(p.Bots, 0)))
		if p.Elsewhere {
			m.elsewhere.Add(1)
		}
	}
}

// End records that the scanner has ended.
func (m *Server) End() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
}

// Close waits for running scrapes, at most closeWait, and ends the server. It may be called
// twice.
func (m *Server) Close() {
	if m != nil {
		m.site.Close()
	}
}

// A scan is stalled if its loop has not run for stalledLoop, or if the output has blocked
// on one record for stalledOutput. While a scan waits for targets, its loop runs, so the
// scan is not stalled.
const (
	stalledLoop   = 10 * time.Second
	stalledOutput = 30 * time.Second

	waiting = "waiting for the network"
)

// health returns the state of the scan, and whether the scan is healthy. The caller must
// hold m.mu.
func (m *Server) health(now time.Time) (state string, well bool) {
	switch {
	case m.source.OutputFailed != nil && m.source.OutputFailed():
		return "output failed", false
	case m.ended:
		return "ended", false
	}
	select {
	case <-m.source.Draining: // before Attach, the channel is nil and never ready
		return "stopping", false
	default:
	}
	if m.scan == nil {
		return "loading", true
	}
	passed, stats := now.Sub(m.begun), m.scan.Stats()
	var waits time.Duration
	if since := m.handing.Load(); since > 0 {
		waits = passed - time.Duration(since)
	}
	switch {
	case waits > stalledOutput:
		return "stalled: the output is blocked", false
	case stats.Away != 0 && stats.Elapsed == 0: // the socket can't be opened yet
		return waiting, true
	case passed-stats.Elapsed > max(stalledLoop, waits+time.Second): // a loop that waits for the output is not stalled
		return "stalled", false
	case stats.Away != 0:
		return waiting, true
	}
	return "scanning", true
}
