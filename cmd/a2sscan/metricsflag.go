package main

import (
	"errors"
	"net"
	"net/netip"
	"strconv"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/spf13/cobra"
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

// serveMetrics starts to listen where the flag says.
func (a *app) serveMetrics(f *metricsFlags, quiet bool) (*metrics.Server, error) {
	if !f.at.said {
		return metrics.Off(), nil
	}
	return metrics.Listen(a.Terminal, metrics.Options{Address: f.at.String(), Quiet: quiet, Build: thisBuild()})
}
