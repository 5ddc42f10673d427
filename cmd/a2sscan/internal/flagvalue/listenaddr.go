package flagvalue

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
)

// ListenAddr is the value of a flag for an address to listen on: 9100, :9100,
// 192.0.2.1:9100 or localhost:9100. The default address is loopback, so that other
// machines can observe a scan only if the user allows it.
type ListenAddr struct {
	host  string
	port  uint16
	Given bool
}

// Set parses a port with or without an address. It does not look up names.
func (l *ListenAddr) Set(s string) error {
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
	*l = ListenAddr{host, uint16(n), true}
	return nil
}

func (l *ListenAddr) String() string {
	if !l.Given {
		return ""
	}
	return net.JoinHostPort(l.host, strconv.Itoa(int(l.port)))
}

func (l *ListenAddr) Type() string { return "[ADDRESS:]PORT" }
