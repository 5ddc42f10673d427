package flagvalue

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
)

// ListenAddr is a flag's place to listen: 9100, :9100, 192.0.2.1:9100,
// localhost:9100. Without an address it is on loopback: who may see a scan is
// to be said, not forgotten.
type ListenAddr struct {
	host  string
	port  uint16
	Given bool
}

// Set reads a port with or without an address. Names are not looked up.
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

// Type is the word that stands for the value in the help.
func (l *ListenAddr) Type() string { return "[ADDRESS:]PORT" }
