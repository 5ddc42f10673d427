package inputs

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// Resolve looks up the IPv4 addresses of a host.
func Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return nil, errors.New(dns.Err) // the caller's message has the name already
	}
	return addrs, err
}
