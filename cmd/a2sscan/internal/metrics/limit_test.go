package metrics

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

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
