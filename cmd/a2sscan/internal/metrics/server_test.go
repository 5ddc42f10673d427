package metrics

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

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
