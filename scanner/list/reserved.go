package list

import "net/netip"

// special is a special-purpose network.
type special struct {
	network netip.Prefix
	name    string
	source  string
	kind    ruleKind
}

type ruleKind uint8

const (
	reserved ruleKind = iota // excluded unless reserved addresses are allowed
	unusable                 // unscannable
	named                    // excluded by the user
)

// specialPurpose holds the entries of IANA's registry of IPv4 special-purpose
// addresses, as of 2025, and multicast. Some of these networks can be reached from
// anywhere, but the hosts that answer there are infrastructure and not game
// servers. An address belongs to the smallest network that contains it.
var specialPurpose = []special{
	{cidr("0.0.0.0/8"), "this network", "RFC 791", reserved},
	{cidr("0.0.0.0/32"), "this host on this network", "RFC 1122", unusable},
	{cidr("10.0.0.0/8"), "private use", "RFC 1918", reserved},
	{cidr("100.64.0.0/10"), "shared address space", "RFC 6598", reserved},
	{cidr("127.0.0.0/8"), "loopback", "RFC 1122", reserved},
	{cidr("169.254.0.0/16"), "link local, and Steam's relays", "RFC 3927", unusable},
	{cidr("172.16.0.0/12"), "private use", "RFC 1918", reserved},
	{cidr("192.0.0.0/24"), "IETF protocol assignments", "RFC 6890", reserved},
	{cidr("192.0.0.0/29"), "IPv4 service continuity prefix", "RFC 7335", reserved},
	{cidr("192.0.0.8/32"), "IPv4 dummy address", "RFC 7600", reserved},
	{cidr("192.0.0.9/32"), "port control protocol anycast", "RFC 7723", reserved},
	{cidr("192.0.0.10/32"), "traversal using relays around NAT anycast", "RFC 8155", reserved},
	{cidr("192.0.0.170/32"), "NAT64/DNS64 discovery", "RFC 8880", reserved},
	{cidr("192.0.0.171/32"), "NAT64/DNS64 discovery", "RFC 8880", reserved},
	{cidr("192.0.2.0/24"), "documentation (TEST-NET-1)", "RFC 5737", reserved},
	{cidr("192.31.196.0/24"), "AS112-v4", "RFC 7535", reserved},
	{cidr("192.52.193.0/24"), "automatic multicast tunneling", "RFC 7450", reserved},
	{cidr("192.88.99.0/24"), "deprecated (6to4 relay anycast)", "RFC 7526", reserved},
	{cidr("192.88.99.2/32"), "6a44 relay anycast", "RFC 6751", reserved},
	{cidr("192.168.0.0/16"), "private use", "RFC 1918", reserved},
	{cidr("192.175.48.0/24"), "direct delegation AS112 service", "RFC 7534", reserved},
	{cidr("198.18.0.0/15"), "benchmarking", "RFC 2544", reserved},
	{cidr("198.51.100.0/24"), "documentation (TEST-NET-2)", "RFC 5737", reserved},
	{cidr("203.0.113.0/24"), "documentation (TEST-NET-3)", "RFC 5737", reserved},
	{cidr("224.0.0.0/4"), "multicast", "RFC 5771", reserved},
	{cidr("240.0.0.0/4"), "reserved (class E)", "RFC 1112", reserved},
	{cidr("255.255.255.255/32"), "limited broadcast", "RFC 919", reserved},
}

func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }
