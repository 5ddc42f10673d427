package metrics

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Site is an HTTP server that its clients can't exhaust: it limits the connections, the
// size of headers, and the time for a request and for the answer.
type Site struct {
	http     http.Server
	listener net.Listener
	gone     chan struct{} // closed when Serve returns
}

// SiteOptions are the settings of a Site.
type SiteOptions struct {
	Flag        string // name of the flag that sets Address, for errors
	Address     string // HOST:PORT
	Connections int    // maximum number of open connections
	// Names are the host names that requests may use, besides localhost and IP addresses.
	Names []string
	// Anywhere makes the site check the host name of every request. Otherwise the site
	// checks only requests to a loopback address.
	Anywhere bool
	Log      *slog.Logger
}

// OpenSite listens at o.Address. Serve then answers the requests with h.
func OpenSite(o SiteOptions, h http.Handler) (*Site, error) {
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, listenFailure(o.Flag+" "+o.Address, err)
	}
	return &Site{
		gone:     make(chan struct{}),
		listener: l,
		http: http.Server{
			Handler:           ownHost(h, o.Names, o.Anywhere),
			ConnState:         (&limit{most: o.Connections}).changed,
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       10 * time.Second,
			WriteTimeout:      30 * time.Second,
			IdleTimeout:       2 * time.Minute,
			MaxHeaderBytes:    16 << 10,
			ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		},
	}, nil
}

// Serve answers requests until Close.
func (s *Site) Serve() {
	defer close(s.gone)
	_ = s.http.Serve(s.listener)
}

// Addr returns the address at which the site listens, with the real port if
// SiteOptions.Address has port 0.
func (s *Site) Addr() string { return s.listener.Addr().String() }

const closeWait = 2 * time.Second

// Close stops listening, waits at most closeWait for running requests, and closes all
// connections. Serve must have been called.
func (s *Site) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		s.http.Close()
	}
	<-s.gone
}

func listenFailure(what string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return console.Fail(console.ExitUsage, "%s: another program uses the port", what).
			WithHint("choose another port, or port 0 for any free port")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return console.Fail(console.ExitUsage, "%s does not name an address of this machine", what).
			WithHint("use PORT alone to listen on 127.0.0.1, or 0.0.0.0:PORT to listen on all addresses")
	case errors.Is(err, syscall.EACCES):
		return console.Fail(console.ExitUsage, "%s: only privileged programs may use this port", what).
			WithHint("use port 1024 or a higher port")
	}
	return console.Fail(console.ExitUsage, "%s: %w", what, err)
}

// ownHost returns a handler that protects h against DNS rebinding, in which an attacker's
// host name points to this machine. The handler refuses a request if its host name is not
// an IP address, localhost or one of names. Unless anywhere is true, the handler checks
// only requests to a loopback address, because an attacker can reach other addresses
// without DNS rebinding.
func ownHost(h http.Handler, names []string, anywhere bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		own := host == "localhost" || net.ParseIP(host) != nil ||
			slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, host) })
		if (anywhere || at != nil && at.IP.IsLoopback()) && !own {
			http.Error(w, "a2sscan does not answer requests for this host name: use the server's IP address, or localhost", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}
