package inputs

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// lookupTime is the maximum duration of a look-up.
const lookupTime = 10 * time.Second

// Resolve looks up the IPv4 addresses of a host.
func Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return nil, errors.New(dns.Err) // omits the name, which the caller prints
	}
	return addrs, err
}

// ReportAddrs returns a resolver that calls lookup and prints the addresses found.
func ReportAddrs(t *console.Terminal, lookup func(context.Context, string) ([]netip.Addr, error)) func(context.Context, string) ([]netip.Addr, error) {
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		addrs, err := lookup(ctx, host)
		if len(addrs) > 0 {
			t.Say("%s is %s", console.Plain(host, 60), someAddrs(addrs))
		}
		return addrs, err
	}
}

// maxAddrs is the maximum number of addresses of a host that are printed.
const maxAddrs = 4

func someAddrs(addrs []netip.Addr) string {
	var all []string
	for _, a := range addrs[:min(len(addrs), maxAddrs)] {
		all = append(all, a.Unmap().String())
	}
	if more := len(addrs) - len(all); more > 0 {
		all = append(all, console.Plural(more, "more address"))
	}
	return strings.Join(all, ", ")
}
