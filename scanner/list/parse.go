package list

import (
	"bytes"
	"net/netip"
)

// Fault is the reason why a line or an argument does not name a target.
type Fault uint8

// The faults.
const (
	FaultAddress     Fault = iota + 1 // not an IPv4 address
	FaultOctet                        // a number of the address is above 255
	FaultLeadingZero                  // a number begins with 0
	FaultPort                         // the port is not a number from 1 to 65535
	FaultNetwork                      // the prefix length is not a number from 0 to 32
	FaultNoPorts                      // a network needs ports; Config.Ports is empty
	FaultIPv6                         // an IPv6 address
	FaultLong                         // the line is longer than MaxLine
	FaultRange                        // a range ends before it begins
	FaultNoPort                       // a port where none is allowed
	FaultPorts                        // a malformed list of ports
	FaultJSON                         // the line is not a JSON object
	FaultNoAddress                    // nothing in the line is an address
	FaultQuote                        // a quoted field does not end in its line
	FaultTruncated                    // the list ends in the middle of the line
	FaultStrayPort                    // a number after an address without a port
	FaultLineEnds                     // another target after a carriage return
)

var faultTexts = [...]string{
	FaultAddress:     "not an IPv4 address",
	FaultOctet:       "not an IPv4 address: a number is above 255",
	FaultLeadingZero: "a number begins with 0",
	FaultPort:        "the port is not a number from 1 to 65535",
	FaultNetwork:     "the length of the network is not a number from 0 to 32",
	FaultNoPorts:     "a network needs ports (--port)",
	FaultIPv6:        "IPv6 address: only IPv4 is supported",
	FaultLong:        "the line is longer than 64 KiB",
	FaultRange:       "the range ends before it begins",
	FaultNoPort:      "an exclusion is for all ports of an address",
	FaultPorts:       "the ports are not numbers from 1 to 65535 and ranges of them",
	FaultJSON:        "not a JSON object",
	FaultNoAddress:   "there is no address in it",
	FaultQuote:       "a quoted field does not end in its line",
	FaultTruncated:   "the list ends in the middle of the line: it was cut off",
	FaultStrayPort:   "a port follows its address after a colon, ip:port (with --port a number is a tag)",
	FaultLineEnds:    "another target follows a carriage return: lines end with a newline (tr '\\r' '\\n')",
}

// Error describes the fault in words.
func (f Fault) Error() string {
	if f == 0 || int(f) >= len(faultTexts) {
		return "no fault"
	}
	return faultTexts[f]
}

// form is the form in which a target is written.
type form uint8

const (
	formAddr     form = iota // a.b.c.d
	formAddrPort             // a.b.c.d:port
	formNetwork              // a.b.c.d/n
	formRange                // a.b.c.d-e.f.g.h
)

// name is an address, a network or a range as written.
type name struct {
	form  form
	ip    uint32
	last  uint32 // of formRange
	port  uint16 // of formAddrPort
	bits  int    // of formNetwork
	ports *Ports // this name's own ports; nil: Config.Ports
}

// span returns the addresses of n.
func (n *name) span() span {
	switch n.form {
	case formNetwork:
		return spanOf(n.prefix())
	case formRange:
		return span{n.ip, n.last}
	}
	return span{n.ip, n.ip}
}

// prefix returns the network of n; address bits beyond its length are ignored.
func (n *name) prefix() netip.Prefix {
	return netip.PrefixFrom(addrOf(n.ip), n.bits).Masked()
}

// parseQuick parses only the form a.b.c.d:port, which most lines have. If it
// returns false, the caller must use parse.
func parseQuick(b []byte) (ip uint32, port uint16, ok bool) {
	ip, port, n := quickAddr(b)
	return ip, port, n > 0 && n == len(b)
}

// quickLine parses the first line of b as parseQuick does. n is the length of the
// line with its line ending. It is 0 if the line has no line ending in b or is not
// of that form.
func quickLine(b []byte) (ip uint32, port uint16, n int) {
	ip, port, n = quickAddr(b)
	switch {
	case n == 0:
	case n < len(b) && b[n] == '\n':
		return ip, port, n + 1
	case n+1 < len(b) && b[n] == '\r' && b[n+1] == '\n':
		return ip, port, n + 2
	}
	return 0, 0, 0
}

// quickAddr reads a.b.c.d:port at the beginning of b. n is its length, or 0 if b
// begins with something else.
func quickAddr(b []byte) (ip uint32, port uint16, n int) {
	for i := range 4 {
		v, digits := quickNumber(b[n:], 3)
		if n += digits; digits == 0 || v > 255 || n >= len(b) || b[n] != "...:"[i] {
			return 0, 0, 0
		}
		ip = ip<<8 | v
		n++
	}
	v, digits := quickNumber(b[n:], 5)
	if v == 0 || v > 65535 {
		return 0, 0, 0
	}
	return ip, uint16(v), n + digits
}

// quickNumber parses the number at the beginning of b, of at most most digits and
// without leading zeros. digits is the length of the number, or 0 if b does not
// begin with a digit.
func quickNumber(b []byte, most int) (v uint32, digits int) {
	for digits < len(b) && digits < most {
		d := uint32(b[digits]) - '0'
		if d > 9 {
			break
		}
		v = v*10 + d
		if digits++; v == 0 {
			break
		}
	}
	return v, digits
}

// parse reads an address, a network or a range, with or without ports.
func parse(b []byte) (name, Fault) { return (*portLists)(nil).parse(b) }

func (pl *portLists) parse(b []byte) (name, Fault) {
	n, f := pl.parseIPv4(b)
	if f != 0 && isIPv6(b) {
		f = FaultIPv6
	}
	return n, f
}

func (pl *portLists) parseIPv4(b []byte) (n name, f Fault) {
	ip, rest, f := parseIP(b)
	if f != 0 || len(rest) == 0 {
		return name{ip: ip}, f
	}
	switch rest[0] {
	case ':':
		return pl.parsePorts(ip, rest[1:])
	case '/':
		n = name{form: formNetwork, ip: ip}
		n.bits, rest, f = parseBits(rest[1:])
		return pl.parseOwnPorts(n, rest, f, FaultNetwork)
	case '-':
		n = name{form: formRange, ip: ip}
		if n.last, rest, f = parseIP(rest[1:]); f == 0 && n.last < n.ip {
			f = FaultRange
		}
		return pl.parseOwnPorts(n, rest, f, FaultAddress)
	}
	return name{}, FaultAddress
}

// parsePorts reads the text after the colon of an address: one or more ports.
func (pl *portLists) parsePorts(ip uint32, b []byte) (n name, f Fault) {
	n = name{form: formAddrPort, ip: ip}
	if n.port, f = parsePort(b); f != 0 && bytes.ContainsAny(b, ",-") {
		n.form = formAddr
		n.ports, f = pl.get(b)
	}
	return n, f
}

// parseOwnPorts reads the text after a network or a range: nothing, or a colon and
// ports. For anything else it returns the fault other.
func (pl *portLists) parseOwnPorts(n name, b []byte, f, other Fault) (name, Fault) {
	switch {
	case f != 0 || len(b) == 0:
	case b[0] == ':':
		n.ports, f = pl.get(b[1:])
	default:
		f = other
	}
	return n, f
}

// parseIP reads a dotted address from the beginning of b.
func parseIP(b []byte) (ip uint32, rest []byte, f Fault) {
	for i := range 4 {
		if i > 0 {
			if len(b) == 0 || b[0] != '.' {
				return 0, nil, FaultAddress
			}
			b = b[1:]
		}
		v, n, f := number(b, 3)
		switch {
		case f != 0:
			return 0, nil, f
		case n == 0:
			return 0, nil, FaultAddress
		case v > 255:
			return 0, nil, FaultOctet
		}
		ip = ip<<8 | uint32(v)
		b = b[n:]
	}
	return ip, b, 0
}

func parsePort(b []byte) (uint16, Fault) {
	v, n, f := number(b, 5)
	switch {
	case f != 0:
		return 0, f
	case n == 0 || n < len(b) || v == 0 || v > 65535:
		return 0, FaultPort
	}
	return uint16(v), 0
}

// parseBits reads the length of a network from the beginning of b.
func parseBits(b []byte) (bits int, rest []byte, f Fault) {
	v, n, f := number(b, 2)
	switch {
	case f != 0:
		return 0, nil, f
	case n == 0 || v > 32:
		return 0, nil, FaultNetwork
	}
	return v, b[n:], 0
}

// number reads the decimal number at the beginning of b, of at most digits digits,
// and returns its value and its length.
func number(b []byte, digits int) (v, n int, f Fault) {
	for n < len(b) && n < digits && '0' <= b[n] && b[n] <= '9' {
		v = v*10 + int(b[n]-'0')
		n++
	}
	if n > 1 && b[0] == '0' {
		return 0, 0, FaultLeadingZero
	}
	return v, n, 0
}

// isIPv6 reports whether b was probably meant as an IPv6 address, with or without
// port or network length.
func isIPv6(b []byte) bool {
	if len(b) > 0 && b[0] == '[' {
		return true
	}
	if bytes.IndexByte(b, ':') == bytes.LastIndexByte(b, ':') {
		return false
	}
	if i := bytes.IndexByte(b, '/'); i >= 0 {
		b = b[:i]
	}
	a, err := netip.ParseAddr(string(b))
	return err == nil && a.Is6()
}

// isSpace reports whether c is ASCII white space.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func trimLeft(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

func trimRight(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// cutTag splits a line without surrounding white space into address and tag. A
// comma begins the tag, unless it is inside a list of ports.
func cutTag(line []byte) (addr, tag []byte) {
	for i, c := range line {
		switch {
		case c == ',':
			if end := portsEnd(line, i); end > 0 {
				return line[:end], trimLeft(line[end:])
			}
			return line[:i], trimLeft(line[i+1:])
		case isSpace(c):
			return line[:i], trimLeft(line[i+1:])
		}
	}
	return line, nil
}

// portsEnd returns the end of the list of ports that has a comma at i, or 0 if the
// comma is not in such a list.
func portsEnd(line []byte, i int) int {
	first := bytes.LastIndexByte(line[:i], ':') + 1
	end := i
	for end < len(line) && !isSpace(line[end]) {
		end++
	}
	if first == 0 || !isPortList(line[first:end]) {
		return 0
	}
	return end
}

// addrOf unpacks an address.
func addrOf(ip uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)})
}

// ipOf packs an IPv4 address.
func ipOf(a netip.Addr) uint32 {
	b := a.As4()
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}
