package transcript

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// defaultPort is the port of an address without one.
const defaultPort = 27015

// hostForm is the form of a host name, which contains a letter.
var hostForm = regexp.MustCompile(`^[\w.-]*[A-Za-z][\w.-]*$`)

// ResolveAddr parses arg, which is ip:port, ip, host:port or host. It looks up a host,
// takes its first IPv4 address, and prints which address that is.
func ResolveAddr(ctx context.Context, t *console.Terminal,
	lookup func(ctx context.Context, host string) ([]netip.Addr, error), arg string) (addr netip.AddrPort, err error) {
	shown := console.Quoted(arg, 60)
	host, port := arg, uint64(defaultPort)
	if name, digits, found := strings.Cut(arg, ":"); found && !strings.Contains(digits, ":") { // else an IPv6 address
		host = name
		if port, err = strconv.ParseUint(digits, 10, 16); err != nil || port == 0 {
			return addr, console.Fail(console.ExitUsage, "%s: the port is not a number from 1 to 65535", shown).
				WithHint("a2sscan ask ADDR:PORT; the default port is %d", defaultPort)
		}
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && !ip.Is4():
		return addr, console.Fail(console.ExitUsage, "%s: IPv6 address", shown).
			WithHint("IPv4 only; of the servers known to us only Xash3D and CoD4X also answer over IPv6")
	case err != nil && !hostForm.MatchString(host):
		return addr, console.Fail(console.ExitUsage, "%s: no address", shown).
			WithHint("give an ip:port, an ip or a host name, such as 203.0.113.7:27015")
	case err != nil:
		ips, err := lookup(ctx, host)
		if err == nil && len(ips) == 0 {
			err = errors.New("the name has no IPv4 address")
		}
		if err != nil {
			return addr, console.Fail(console.ExitInput, "%s: no IPv4 address found: %v", console.Quoted(host, 60), err).
				WithHint("check the name; an ip:port needs no lookup")
		}
		ip = ips[0].Unmap()
		more := ""
		if len(ips) > 1 {
			more = fmt.Sprintf(", the first of %d addresses", len(ips))
		}
		t.Say("%s is %v%s", console.Plain(host, 60), ip, more)
	}
	if ip.IsUnspecified() || ip.As4()[0] >= 224 {
		return addr, console.Fail(console.ExitUsage, "%v: no server can have this address", ip).
			WithHint("it is a broadcast, multicast or reserved address")
	}
	return netip.AddrPortFrom(ip, uint16(port)), nil
}
