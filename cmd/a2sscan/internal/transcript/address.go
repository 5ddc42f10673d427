package transcript

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// hostForm matches host names. A host name contains at least one letter.
var hostForm = regexp.MustCompile(`^[\w.-]*[A-Za-z][\w.-]*$`)

// ResolveAddr parses arg, which is ip:port, ip, host:port or host; the default port is
// 27015. The prefix steam://connect/ of a link may precede the address. For a host name,
// ResolveAddr takes the first address that lookup finds.
func ResolveAddr(ctx context.Context, lookup func(ctx context.Context, host string) ([]netip.Addr, error),
	arg string) (addr netip.AddrPort, err error) {
	fail := func(code int, problem string) *console.Failure {
		return console.Fail(code, "%s: %s", console.Quoted(arg, 60), problem)
	}
	host, digits, found := strings.Cut(strings.TrimPrefix(arg, "steam://connect/"), ":")
	if strings.Contains(digits, ":") && !strings.Contains(digits, "/") {
		return addr, fail(console.ExitUsage, "this is an IPv6 address").
			WithHint("use IPv4 addresses; only Xash3D and CoD4X are known to answer over IPv6 as well")
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if found && (err != nil || port == 0) {
		return addr, fail(console.ExitUsage, "the port is not a number from 1 to 65535").
			WithHint("write ADDR:PORT, or only ADDR for port 27015")
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		if !hostForm.MatchString(host) {
			return addr, fail(console.ExitUsage, "this is not an address").
				WithHint("give an ip:port, an ip or a host name, such as 203.0.113.7:27015")
		}
		ips, err := lookup(ctx, host)
		if err == nil && len(ips) == 0 {
			err = errors.New("the name has no IPv4 address")
		}
		if err != nil {
			return addr, fail(console.ExitInput, "the lookup failed: "+err.Error()).
				WithHint("check the name, or give an ip:port, which needs no lookup")
		}
		ip = ips[0].Unmap()
	}
	if ip.IsUnspecified() || ip.As4()[0] >= 224 {
		return addr, fail(console.ExitUsage, "no server can have this address").
			WithHint("give another address: this address is unspecified, broadcast, multicast or reserved")
	}
	return netip.AddrPortFrom(ip, cmp.Or(uint16(port), 27015)), nil
}
