package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	// Prometheus' own library: the text formats, and what Go and the process
	// tell of themselves.
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"golang.org/x/net/netutil"

	"github.com/a2sscan/a2sscan/scanner"
)

// metricsFlags say where a scan can be watched.
type metricsFlags struct{ at listenAddr }

func (f *metricsFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(&f.at, "metrics",
		"serve Prometheus metrics over HTTP at that port, or ADDRESS:PORT; a port alone is on 127.0.0.1, and 0 one that is free (default off)")
}

// listenAddr is a flag's place to listen: 9100, :9100, 192.0.2.1:9100,
// localhost:9100. Without an address it is on loopback: who may see a scan is
// to be said, not forgotten.
type listenAddr struct {
	host string
	port uint16
	said bool
}

// Set reads a port with or without an address. Names are not looked up.
func (l *listenAddr) Set(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = "", s
	}
	n, err := strconv.ParseUint(port, 10, 16)
	addr, notIP := netip.ParseAddr(host)
	if err != nil || host != "" && host != "localhost" && (notIP != nil || addr.Zone() != "") {
		return errors.New("want a port such as 9100, or ADDRESS:PORT such as 127.0.0.1:9100")
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	*l = listenAddr{host, uint16(n), true}
	return nil
}

func (l *listenAddr) String() string {
	if !l.said {
		return ""
	}
	return net.JoinHostPort(l.host, strconv.Itoa(int(l.port)))
}

// Type is the word that stands for the value in the help.
func (l *listenAddr) Type() string { return "[ADDRESS:]PORT" }

// meter shows a scan to whoever asks over HTTP. It keeps no numbers of the
// scan but round trips: it reads those that are kept anyway, when it is asked.
// A nil meter, that of a scan without --metrics, does nothing.
type meter struct {
	*console.Terminal
	quiet  bool
	server http.Server
	gone   chan struct{} // closed: the server is no more

	trips prometheus.Histogram // of servers that answered

	mu     sync.Mutex
	job    *job             // nil: not begun
	scan   *scanner.Monitor // nil: nobody is asked yet
	begun  time.Time        // when that was
	ended  bool             // nobody is asked any more
	number int              // of scrapes
	scrape time.Time        // when the last one was

	failed  atomic.Bool  // the output
	handing atomic.Int64 // since when a record is being handed over, in ns behind begun; 0: none is
}

// roundTripBuckets are seconds: from the same machine to a server that is
// asked for the third time.
var roundTripBuckets = []float64{
	0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2.5, 5, 10,
}

// watchers is how many connections there may be: no crowd of them takes the
// files away that a scan needs.
const watchers = 32

// serveMetrics begins to listen where the flag says; without it the meter is
// nil.
func (a *app) serveMetrics(f *metricsFlags, quiet bool) (*meter, error) {
	if !f.at.said {
		return nil, nil
	}
	l, err := net.Listen("tcp", f.at.String())
	if err != nil {
		return nil, metricsFailure(&f.at, err)
	}
	m := newMeter(a.Terminal)
	m.quiet = quiet
	go func() {
		defer close(m.gone)
		_ = m.server.Serve(netutil.LimitListener(l, watchers)) // it ends when close says so
	}()
	if !quiet {
		a.Say("metrics: http://%s/metrics", l.Addr())
	}
	a.Log.Info("metrics served", "address", l.Addr().String())
	return m, nil
}

// metricsFailure says why nobody can listen there.
func metricsFailure(at *listenAddr, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return console.Fail(console.ExitUsage, "--metrics %s: another program has the port", at).
			WithHint("another port, or 0 for one that is free")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return console.Fail(console.ExitUsage, "--metrics %s: no address of this machine", at).
			WithHint("a port alone is on 127.0.0.1; 0.0.0.0:PORT is on all addresses")
	case errors.Is(err, syscall.EACCES):
		return console.Fail(console.ExitUsage, "--metrics %s: the port is not for everybody", at).
			WithHint("ports from 1024 on are")
	}
	return console.Fail(console.ExitUsage, "--metrics %s: %w", at, err)
}

func newMeter(t *console.Terminal) *meter {
	m := &meter{
		Terminal: t,
		gone:     make(chan struct{}),
		trips: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "a2sscan_round_trip_seconds",
			Help:    "From a question to its reply, one of each server that answered a question asked once.",
			Buckets: roundTripBuckets,
		}),
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.counting(m.metrics()))
	mux.HandleFunc("GET /healthz", m.healthz)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "a2sscan: /metrics is for Prometheus, /healthz says whether the scan is well\n")
	})
	m.server = http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(t.Log.Handler(), slog.LevelDebug),
	}
	return m
}

// registry has everything that is exported.
func (m *meter) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(m, m.trips, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// scrapesAtOnce bounds what a mistaken loop of requests can cost.
const scrapesAtOnce = 4

func (m *meter) metrics() http.Handler {
	return promhttp.HandlerFor(m.registry(), promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(m.Log.Handler(), slog.LevelWarn),
		MaxRequestsInFlight: scrapesAtOnce,
		EnableOpenMetrics:   true,
	})
}

// counting remembers when the numbers were last asked for.
func (m *meter) counting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.scrape = time.Now()
		m.number++
	})
}

// attach tells m of a scan, of which nobody was asked yet.
func (m *meter) attach(j *job) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.job = j
	failed := j.out.failed
	j.out.failed = func() {
		m.failed.Store(true)
		failed()
	}
}

// begin tells m of the scan's numbers, and returns the function that is to take
// the scan's results: handle, which m sees by.
func (m *meter) begin(scan *scanner.Monitor, handle func(*scanner.Result)) func(*scanner.Result) {
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
	}
}

// end tells m that nobody is asked any more.
func (m *meter) end() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
}

// closeWait is how long a scrape that has begun may take when the scan ends.
const closeWait = 2 * time.Second

// close ends the server, when scrapes that have begun are over, and says how
// much of the scan none of them saw.
func (m *meter) close() {
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if m.server.Shutdown(ctx) != nil {
		m.server.Close()
	}
	<-m.gone
	m.mu.Lock()
	defer m.mu.Unlock()
	last := "nobody scraped them"
	if m.number > 0 {
		last = fmt.Sprintf("scraped %s times, the last %s before the end",
			console.Grouped(uint64(m.number)), console.Clock(time.Since(m.scrape)))
	}
	m.Log.Info("metrics ended", "how", last)
	if !m.quiet {
		m.Say("metrics: %s", last)
	}
}

// healthz answers 200 to who asks whether the scan is well, and 503 if not,
// with the reason in a word or two.
func (m *meter) healthz(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	state, well := m.health(time.Now())
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if !well {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	fmt.Fprintln(w, state)
}

// A scan is stalled when its loop has not come round for that long, or when one
// record could not be handed over for that long. Waiting for a list is none.
const (
	stalledLoop   = 10 * time.Second
	stalledOutput = 30 * time.Second
)

// health says in words how the scan is. The lock must be held.
func (m *meter) health(now time.Time) (state string, well bool) {
	switch {
	case m.failed.Load():
		return "output failed", false
	case m.ended:
		return "ended", false
	case m.stopping():
		return "stopping", false
	case m.scan == nil:
		return "loading", true
	}
	passed, stats := now.Sub(m.begun), m.scan.Stats()
	var waits time.Duration
	if since := m.handing.Load(); since > 0 {
		waits = passed - time.Duration(since)
	}
	switch {
	case waits > stalledOutput:
		return "stalled: the output takes no more", false
	case passed-stats.Elapsed > max(stalledLoop, waits+time.Second): // that is no fault of the loop
		return "stalled", false
	}
	return "scanning", true
}

// stopping reports whether a signal or a guard ends the scan.
func (m *meter) stopping() bool {
	if m.job == nil {
		return false
	}
	select {
	case <-m.job.stop.drain:
		return true
	default:
		return false
	}
}
