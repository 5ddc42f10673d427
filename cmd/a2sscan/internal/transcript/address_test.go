package transcript

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// hosts is a Lookup for the names in the tests.
func hosts(_ context.Context, host string) ([]netip.Addr, error) {
	switch host {
	case "one.example":
		return []netip.Addr{netip.MustParseAddr("203.0.113.1")}, nil
	case "two.example":
		return []netip.Addr{netip.MustParseAddr("203.0.113.2"), netip.MustParseAddr("203.0.113.3")}, nil
	case "six.example":
		return nil, nil
	}
	return nil, errors.New("no such host")
}

func TestResolveAddr(t *testing.T) {
	for _, test := range []struct {
		arg, want, err string
	}{
		{"203.0.113.7", "203.0.113.7:27015", ""},
		{"203.0.113.7:1", "203.0.113.7:1", ""},
		{"192.168.1.20:65535", "192.168.1.20:65535", ""},
		{"203.0.113.7:0", "", "the port is not a number from 1 to 65535"},
		{"203.0.113.7:65536", "", "the port is not a number from 1 to 65535"},
		{"203.0.113.7:", "", "the port is not a number from 1 to 65535"},
		{"203.0.113.7:+5", "", "the port is not a number from 1 to 65535"},
		{"203.0.113.07", "", "not an address"},
		{"203.0.113", "", "not an address"},
		{"203.0.113.300:5", "", "not an address"},
		{"", "", "not an address"},
		{"a b", "", "not an address"},
		{"\x1b[31m", "", `"\x1b[31m": not an address`},
		{"::1", "", "IPv6 address"},
		{"0.0.0.0:27015", "", "no server can have this address"},
		{"239.1.2.3", "", "no server can have this address"},
		{"one.example", "203.0.113.1:27015", ""},
		{"one.example:9", "203.0.113.1:9", ""},
		{"two.example:9", "203.0.113.2:9", ""},
		{"none.example:9", "", `"none.example:9": no IPv4 address found: no such host`},
		{"six.example:9", "", `"six.example:9": no IPv4 address found: the name has no IPv4 address`},
		{"one.example:0", "", "the port is not a number from 1 to 65535"},
		{"-x:5 y", "", "the port is not"},
		{"255.255.255.255", "", "no server can have this address"},
	} {
		got, err := ResolveAddr(t.Context(), hosts, test.arg)
		switch {
		case test.err == "" && (err != nil || got.String() != test.want):
			t.Errorf("%s: %v, %v, want %s", test.arg, got, err, test.want)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: %v, %v, want an error with %q", test.arg, got, err, test.err)
		}
	}
}
