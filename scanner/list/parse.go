package list

import (
	"bytes"
	"iter"
	"math/bits"
	"net/netip"
	"slices"
	"unicode"
)

// fault is the reason why a line or an argument does not name a target.
type fault string

// Error returns the reason in words.
func (f fault) Error() string { return string(f) }

const (
	faultAddress     fault = "not an IPv4 address"
	faultOctet       fault = "a number of the IPv4 address is above 255"
	faultLeadingZero fault = "numbers must not begin with 0"
	faultPort        fault = "the port is not a number from 1 to 65535"
	faultNetwork     fault = "the prefix length is not a number from 0 to 32"
	faultNoPorts     fault = "a network needs ports (--port)"
	faultPortZero    fault = "no server has port 0"
	faultNoServer    fault = "no server can have this address"
	faultIPv6        fault = "IPv6 addresses are not supported"
	faultLong        fault = "the line is too long: at most 64 KiB, or 9 MiB for JSON"
	faultRange       fault = "the range ends before it begins"
	faultNoPort      fault = "an exclusion applies to all ports of an address: omit the port"
	faultPorts       fault = "the ports must be numbers from 1 to 65535, or ranges such as 27015-27020"
	faultJSON        fault = "the line is not a JSON object"
	faultArray       fault = "the list must have one JSON object per line: convert an array with jq -c '.[]', or an object of several lines with jq -c '.'"
	faultNoAddress   fault = "no address found"
	faultQuote       fault = "a quoted field has no closing quote on its line"
	faultInQuotes    fault = "the line may belong to a quoted field that an earlier line began: remove line breaks from quoted fields"
	faultTruncated   fault = "the list was cut off in the middle of this line"
	faultStrayPort   fault = "a port follows the address without a colon: write ip:port (with --port, such a number is a tag)"
	faultPortColumn  fault = "the port is missing, and another column looks like a port: rename that column to port, or use --port"
	faultSeveral     fault = "other text is mixed with several targets: write one target per line, or # before the tag"
	faultColumns     fault = "several columns hold an address: write one target per line, or name the columns in the first line"
	faultBare        fault = "an address without a port follows a target with a port: write one ip:port per line, or # before the tag"
	faultNested      fault = "the address or port is inside a nested object or array, which jq can flatten"
	faultXML         fault = "XML is not supported: use the output of nmap -oG or masscan -oL"
	faultLineEnds    fault = "another target follows a carriage return: lines must end with a newline (use tr '\\r' '\\n')"
)

type kind uint8

const (
	kindAddr     kind = iota // a.b.c.d
	kindAddrPort             // a.b.c.d:port
	kindBlock                // a.b.c.d/n or a.b.c.d-e.f.g.h
	kindIPv6                 // an IPv6 address, network or range
	kindNone                 // a host name, or no target
)

// name is an address, a network or a range as written.
type name struct {
	kind kind
	span
	port  uint16   // the port of a kindAddrPort; a target with port 0 can't be queried
	ports []uint16 // several ports, or the ports of a block, as written; nil if there are none
}

func parse(b []byte) (name, fault) {
	n, f := parseIPv4(b)
	if f == "" {
		return n, ""
	}
	if command := trimCommand(b); bytes.IndexFunc(command, unicode.IsSpace) < 0 {
		if link := trimConnect(command); len(link) < len(b) {
			return parseIPv4(link)
		}
	}
	host, inBrackets := b, len(b) > 0 && b[0] == '['
	if inBrackets {
		inner, rest, closed := bytes.Cut(b[1:], []byte("]"))
		if !closed || len(rest) > 0 && rest[0] != ':' && rest[0] != '/' {
			return n, f
		}
		if _, more, bad := parseIP(inner); bad == "" && len(more) == 0 {
			return parseIPv4(slices.Concat(inner, rest))
		}
		host = inner
	}
	if inBrackets || bytes.Count(b, []byte(":")) > 1 {
		host, _, _ = bytes.Cut(host, []byte("/"))
		if a, err := netip.ParseAddr(string(host)); err == nil && a.Is6() {
			return name{kind: kindIPv6}, faultIPv6
		}
	}
	return n, f
}

// trimConnect returns the address in steam://connect/ADDRESS/PASSWORD, whose password is
// optional, or in "connect ADDRESS". It returns any other text unchanged.
func trimConnect(b []byte) []byte {
	const link = "steam://connect/"
	if b = trimCommand(b); len(b) > len(link) && b[0]|0x20 == 's' && bytes.EqualFold(b[:len(link)], []byte(link)) {
		b, _, _ = bytes.Cut(b[len(link):], []byte("/"))
	}
	return b
}

// trimCommand removes the word "connect", which begins a command that players type.
func trimCommand(b []byte) []byte {
	const word = "connect "
	if len(b) > len(word) && b[0]|0x20 == 'c' && bytes.EqualFold(b[:len(word)], []byte(word)) {
		return bytes.TrimSpace(b[len(word):])
	}
	return b
}

func parseIPv4(b []byte) (n name, f fault) {
	ip, rest, f := parseIP(b)
	n.span = span{ip, ip}
	if f != "" || len(rest) == 0 {
		return n, f
	}
	after := faultAddress // the fault if text other than ports follows the network or range
	switch rest[0] {
	case ':':
		n.kind = kindAddrPort
		if string(rest) == ":0" {
			return n, "" // lists of master servers contain port 0
		}
		if n.port, f = parsePort(rest[1:]); f != "" && bytes.ContainsAny(rest, ",-") {
			n.kind = kindAddr
			n.ports, f = ownPorts(rest[1:])
		}
		return n, f
	case '/':
		after = faultNetwork
		n.kind = kindBlock
		bits, digits := 0, 0
		bits, digits, f = number(rest[1:], 2)
		if f == "" && (digits == 0 || bits > 32) {
			f = faultNetwork
		}
		if f == "" {
			rest = rest[1+digits:]
			n.span = spanOf(netip.PrefixFrom(addrOf(ip), bits).Masked())
		}
	case '-':
		n.kind = kindBlock
		if n.last, rest, f = parseIP(rest[1:]); f == "" && n.last < n.first {
			f = faultRange
		}
	default:
		return n, faultAddress
	}
	switch {
	case f != "" || len(rest) == 0:
	case rest[0] == ':':
		n.ports, f = ownPorts(rest[1:])
	default:
		f = after
	}
	return n, f
}

func parseIP(b []byte) (ip uint32, rest []byte, f fault) {
	for i := range 4 {
		if i > 0 {
			if len(b) == 0 || b[0] != '.' {
				return 0, nil, faultAddress
			}
			b = b[1:]
		}
		v, n, f := number(b, 3)
		switch {
		case f != "":
			return 0, nil, f
		case n == 0:
			return 0, nil, faultAddress
		case v > 255:
			return 0, nil, faultOctet
		}
		ip = ip<<8 | uint32(v)
		b = b[n:]
	}
	return ip, b, ""
}

func parsePort(b []byte) (uint16, fault) {
	v, n, f := number(b, 5)
	switch {
	case f != "":
		return 0, f
	case n == 0 || n < len(b) || v == 0 || v > 65535:
		return 0, faultPort
	}
	return uint16(v), ""
}

// number reads the decimal number at the beginning of b. Its second argument is the maximum
// length of the number. It returns the value and the length of the number.
func number(b []byte, digits int) (v, n int, f fault) {
	for n < len(b) && n < digits && '0' <= b[n] && b[n] <= '9' {
		v = v*10 + int(b[n]-'0')
		n++
	}
	if n > 1 && b[0] == '0' {
		return 0, 0, faultLeadingZero
	}
	return v, n, ""
}

// isSpace reports whether c is ASCII white space.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func addrOf(ip uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)})
}

func ipOf(a netip.Addr) uint32 {
	b := a.As4()
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

// span is a range of addresses. It includes first and last.
type span struct{ first, last uint32 }

func (s span) len() uint64 { return uint64(s.last-s.first) + 1 }

// String returns the addresses as a network or a range.
func (s span) String() string {
	if p := largest(s.first, s.last); spanOf(p) == s {
		return p.String()
	}
	return addrOf(s.first).String() + "-" + addrOf(s.last).String()
}

func spanOf(p netip.Prefix) span {
	first := ipOf(p.Addr())
	return span{first, first | uint32(uint64(1)<<(32-p.Bits())-1)}
}

// parseSpan reads consecutive addresses without ports: an address, a network, or a
// range a.b.c.d-e.f.g.h, which includes both ends.
func parseSpan(b []byte) (span, fault) {
	if i := bytes.IndexByte(b, '-'); i >= 0 {
		b = slices.Concat(bytes.TrimSpace(b[:i]), b[i:i+1], bytes.TrimSpace(b[i+1:]))
	}
	n, f := parse(b)
	if f == "" && (n.kind == kindAddrPort || n.ports != nil) {
		f = faultNoPort
	}
	return n.span, f
}

// largest returns the largest network that begins at its first argument and does not go
// beyond its second argument.
func largest(first, last uint32) netip.Prefix {
	free := min(bits.TrailingZeros32(first), bits.Len64(uint64(last-first)+1)-1)
	return netip.PrefixFrom(addrOf(first), 32-free)
}

// prefixes yields the networks that together contain exactly the addresses of s. It yields
// as few networks as possible.
func (s span) prefixes() iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		for first := s.first; ; {
			p := largest(first, s.last)
			end := spanOf(p).last
			if !yield(p) || end == s.last {
				return
			}
			first = end + 1
		}
	}
}
