package metrics

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
)

// TestOwnHost: a server on loopback answers only requests for its address, because a web
// page may make another name point to it.
func TestOwnHost(t *testing.T) {
	m := newServer()
	scan, page := ownHost(m.routes(ledger.Build{}), nil, false), ownHost(m.routes(ledger.Build{}), []string{"scanner.example"}, true)
	for _, test := range []struct {
		listens, host string
		want          int
	}{
		{"127.0.0.1", "127.0.0.1:9127", http.StatusOK},
		{"127.0.0.1", "localhost:9127", http.StatusOK},
		{"127.0.0.1", "localhost", http.StatusOK},
		{"::1", "[::1]:9127", http.StatusOK},
		{"::1", "[::1]", http.StatusOK},
		{"127.0.0.1", "evil.example:9127", http.StatusMisdirectedRequest},
		{"127.0.0.1", "localhost.evil.example", http.StatusMisdirectedRequest},
		{"127.0.0.1", "", http.StatusMisdirectedRequest},
		{"192.0.2.1", "scanner.example:9127", http.StatusOK},
		{"192.0.2.1", "192.0.2.1:9127", http.StatusOK},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = test.host
		at := &net.TCPAddr{IP: net.ParseIP(test.listens), Port: 9127}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, at))
		for i, h := range []http.Handler{scan, page} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("%d: %s, asked for %q: %d, want %d", i, test.listens, test.host, w.Code, test.want)
			}
		}
	}
}

// passResult returns a function that passes a result through the server to a
// handler. The handler increments *handled.
func passResult(m *Server, handled *int) func() {
	handle := m.Begin(new(scanner.Monitor), func(*scanner.Result) { *handled++ })
	r := &scanner.Result{RTT: 20 * time.Millisecond}
	return func() { handle(r) }
}

// TestMetricsCost: passing a result through the server allocates no memory.
// Datagrams do not pass through it, as TestArrows checks.
func TestMetricsCost(t *testing.T) {
	handled := 0
	pass := passResult(newServer(), &handled)
	if n := testing.AllocsPerRun(1000, pass); n > 0 {
		t.Errorf("%v allocations a result", n)
	}
	if handled == 0 {
		t.Error("no result came through")
	}
}

// TestHealth: /healthz reports each state of a scan.
func TestHealth(t *testing.T) {
	drain := make(chan struct{})
	m := newServer()
	now := time.Now()
	is := func(want string, well bool) {
		t.Helper()
		m.mu.Lock()
		defer m.mu.Unlock()
		if got, ok := m.health(now); got != want || ok != well {
			t.Errorf("%q, %v, want %q", got, ok, want)
		}
	}
	failed := false
	is("loading", true)
	m.Attach(Source{Draining: drain, OutputFailed: func() bool { return failed }})
	is("loading", true)
	monitor, stop := new(scanner.Monitor), make(chan struct{})
	go scanner.Scan(t.Context(), scanner.Config{ // this machine does not have the address, so nothing is sent
		Source: netip.MustParseAddrPort("192.0.2.1:0"), Control: scanner.Control{Monitor: monitor, Drain: stop},
	}, slices.Values([]scanner.Target{}), func(*scanner.Result) {})
	for monitor.Stats().Away == 0 {
		runtime.Gosched()
	}
	m.Begin(monitor, nil)
	now = m.begun.Add(time.Hour)
	is("waiting for the network", true)
	close(stop)

	m.Begin(new(scanner.Monitor), nil)
	now = m.begun.Add(stalledLoop)
	is("scanning", true)
	now = now.Add(1) // the Monitor is never updated, so the loop seems to be stalled
	is("stalled", false)
	m.handing.Store(int64(now.Sub(m.begun))) // the handler has just begun
	is("stalled", false)
	m.handing.Store(1)
	now = m.begun.Add(stalledOutput)
	is("scanning", true)
	now = now.Add(2)
	is("stalled: the output is blocked", false)
	close(drain)
	is("stopping", false)
	m.End()
	is("ended", false)
	failed = true
	is("output failed", false)
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// served starts a server without read timeouts, so that only the limit closes a
// connection, and returns the server's address.
func served(t *testing.T) string {
	t.Helper()
	o := SiteOptions{Address: "127.0.0.1:0", Connections: connections, Log: slog.New(slog.DiscardHandler)}
	site, err := OpenSite(o, newServer().routes(ledger.Build{}))
	check(t, err)
	site.http.ReadHeaderTimeout, site.http.ReadTimeout = 0, 0
	go site.Serve()
	t.Cleanup(func() {
		site.http.Close()
		<-site.gone
	})
	return site.Addr()
}

// TestSlowClients: clients that connect and never finish their request do not keep
// others from scraping. The server closes all but a few of their connections.
func TestSlowClients(t *testing.T) {
	for name, begun := range map[string]string{
		"silent": "", "half a request": "GET /metrics HTTP/1.1\r\nHost: x\r\n", "half a body": "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			at := served(t)
			var slow []net.Conn
			for range 400 {
				c, err := net.Dial("tcp", at)
				check(t, err)
				defer c.Close()
				io.WriteString(c, begun)
				slow = append(slow, c)
			}
			checkScrape(t, at)
			dropped := make(chan struct{}, len(slow))
			for _, c := range slow {
				go func() {
					io.Copy(io.Discard, c)
					dropped <- struct{}{}
				}()
			}
			for range len(slow) - connections { // the scheduling decides which connections are closed
				<-dropped
			}
		})
	}
}

// checkScrape scrapes once. The timeout fails the test if the server never answers.
func checkScrape(t *testing.T, at string) {
	t.Helper()
	client := http.Client{Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://" + at + "/metrics")
	check(t, err)
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || len(b) == 0 {
		t.Errorf("%s, %d bytes, %v", resp.Status, len(b), err)
	}
}

var update = flag.Bool("update", false, "write the golden file anew")

// TestNames: dashboards and alerts rely on the names, types, help texts and labels of
// the metrics, which follow the conventions of Prometheus. Label values are words of this
// program.
func TestNames(t *testing.T) {
	m := newServer()
	m.Begin(new(scanner.Monitor), nil)
	m.Attach(Source{Fill: func(to *ledger.Source) { to.Expected, to.Start = 9, time.Now() }})
	registry := newRegistry(ledger.Build{}, m.counters, m.trips)
	families, err := registry.Gather()
	check(t, err)
	problems, err := testutil.GatherAndLint(registry)
	for _, p := range problems {
		t.Errorf("%s: %s: %v", p.Metric, p.Text, err)
	}
	var b strings.Builder
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "a2sscan_") {
			continue
		}
		fmt.Fprintf(&b, "%s %s %s\n", f.GetName(), f.GetType(), f.GetHelp())
		for _, metric := range f.GetMetric() {
			for _, l := range metric.GetLabel() {
				if l.GetName() != "goversion" {
					fmt.Fprintf(&b, "\t%s=%q\n", l.GetName(), l.GetValue())
				}
			}
		}
	}
	const golden = "testdata/names.txt"
	if *update {
		check(t, os.WriteFile(golden, []byte(b.String()), 0o666))
	}
	want, err := os.ReadFile(golden)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v; got\n%s", err, &b)
	}
}

const dashboardFolder = "../../../../packaging/grafana/"

// exported returns the names of all metrics that a scan may export.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	m := newServer()
	m.Begin(new(scanner.Monitor), nil)
	m.Attach(Source{Fill: func(to *ledger.Source) { to.Start = time.Now() }})
	families, err := newRegistry(ledger.Build{}, m.counters, m.trips).Gather()
	check(t, err)
	names := map[string]bool{
		"a2sscan_targets_expected": true, // exported only when the size of the list is known
		"a2sscan_timeout_seconds":  true, // exported only when the scan learns its timeouts
	}
	for _, f := range families {
		names[f.GetName()] = true
		if f.GetType() == dto.MetricType_HISTOGRAM {
			for _, end := range []string{"_bucket", "_sum", "_count"} {
				names[f.GetName()+end] = true
			}
		}
	}
	return names
}

// metricName matches the names of metrics in a query, by the prefixes of the
// exported metrics.
var metricName = regexp.MustCompile(`\b(a2sscan|go|process)_\w+`)

// TestDashboard: the dashboard uses only metrics that a scan exports, and shows
// every metric of a2sscan.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(dashboardFolder + "a2sscan.json")
	check(t, err)
	var whole any
	check(t, json.Unmarshal(text, &whole))
	names, asked := exported(t), map[string]bool{}
	var queries int
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for key, e := range v {
				walk(e)
				if query, ok := e.(string); ok && (key == "expr" || key == "definition") {
					queries++
					checkQuery(t, query, names, asked)
				}
			}
		}
	}
	walk(whole)
	if queries < 20 {
		t.Errorf("only %d queries", queries)
	}
	for name := range names {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count"), "_bucket")
		if strings.HasPrefix(name, "a2sscan_") && !asked[name] && !asked[base+"_bucket"] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// checkQuery checks that the metrics of a query are exported, and that its brackets
// match. It adds the metrics to asked.
func checkQuery(t *testing.T, query string, names, asked map[string]bool) {
	t.Helper()
	found := metricName.FindAllString(query, -1)
	if len(found) == 0 {
		t.Errorf("no metric in %s", query)
	}
	for _, name := range found {
		if strings.HasPrefix(name, "a2sscan_watch_") {
			continue // package page checks these
		}
		asked[name] = true
		if !names[name] {
			t.Errorf("%s is not exported: %s", name, query)
		}
	}
	for _, pair := range []string{"()", "[]", "{}"} {
		if strings.Count(query, pair[:1]) != strings.Count(query, pair[1:]) {
			t.Errorf("%s: not closed: %s", pair, query)
		}
	}
}

// TestDashboardWords: the README of the dashboard names only metrics that a scan
// exports.
func TestDashboardWords(t *testing.T) {
	text, err := os.ReadFile(dashboardFolder + "README.md")
	check(t, err)
	names := exported(t)
	for _, name := range metricName.FindAllString(string(text), -1) {
		if !names[name] {
			t.Errorf("%s is not exported", name)
		}
	}
}
