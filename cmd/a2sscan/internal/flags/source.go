package flags

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// ParseSource parses an IPv4 address of this machine with or without a port: 192.0.2.1 or
// 192.0.2.1:40000.
func ParseSource(text string) (netip.AddrPort, error) {
	if at, err := netip.ParseAddrPort(text); err == nil && at.Addr().Is4() {
		return at, nil
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is4() {
		if err := console.CheckPort(text); err != nil {
			return netip.AddrPort{}, err
		}
		return netip.AddrPort{}, errors.New("use an IPv4 address of this machine, with or without :PORT")
	}
	return netip.AddrPortFrom(addr, 0), nil
}

// SourceFailure adds an exit code and a hint to the error of a scan that could not start,
// in most cases because it could not open its socket.
func SourceFailure(source netip.AddrPort, err error) *console.Failure {
	s := strings.TrimSuffix(source.String(), ":0")
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return console.Fail(console.ExitUsage, "--source %s is not an address of this machine", s).
			WithHint("omit --source, and the system chooses an address")
	case errors.Is(err, syscall.EADDRINUSE) && source.Port() == 0:
		return console.Fail(console.ExitUsage, "no source port is free: other programs use all of them").
			WithHint("widen net.ipv4.ip_local_port_range, or name a port outside this range: --source IP:PORT")
	case errors.Is(err, syscall.EADDRINUSE):
		return console.Fail(console.ExitUsage, "--source %s: another program uses the port", s).
			WithHint("omit the port, and the system chooses a free port")
	case errors.Is(err, syscall.EACCES) && source.Port() > 0:
		return console.Fail(console.ExitUsage, "--source %s: only privileged programs may use this port", s).
			WithHint("use a port from 1024 up, or omit the port")
	}
	return console.Fail(console.ExitUsage, "%w", err).
		WithHint("a2sscan scan --help lists the flags with units and defaults")
}

// ParseListen parses an address to listen on: 9100, :9100, 192.0.2.1:9100 or
// localhost:9100. Without a host, the address is loopback, so that other machines can
// observe a scan only if the user allows this. ParseListen does not look up names.
func ParseListen(s string) (address string, err error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = "", s
	}
	n, err := strconv.ParseUint(port, 10, 16)
	addr, notIP := netip.ParseAddr(host)
	if err := console.CheckPort(port); err != nil {
		return "", err
	}
	if err != nil || host != "" && host != "localhost" && (notIP != nil || addr.Zone() != "") {
		return "", errors.New("use a port such as 9100, or ADDRESS:PORT such as 127.0.0.1:9100")
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}
