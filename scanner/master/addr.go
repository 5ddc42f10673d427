package master

import (
	"net/netip"
	"strconv"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/wire"
)

// parseAddr parses "a.b.c.d:port" as netip.ParseAddrPort does, but without
// allocating. It returns wire.ErrMalformed for anything else, and for numbers with
// leading zeros, which some programs read as octal.
func parseAddr(b []byte) (netip.AddrPort, error) {
	var octets [4]byte
	for i := range octets {
		end := byte('.')
		if i == 3 {
			end = ':'
		}
		v, rest, ok := number(b, 255)
		if !ok || len(rest) == 0 || rest[0] != end {
			return netip.AddrPort{}, wire.ErrMalformed
		}
		octets[i], b = byte(v), rest[1:]
	}
	port, rest, ok := number(b, 65535)
	if !ok || len(rest) > 0 {
		return netip.AddrPort{}, wire.ErrMalformed
	}
	return netip.AddrPortFrom(netip.AddrFrom4(octets), uint16(port)), nil
}

// number parses the decimal number that b begins with; rest is what follows it. ok
// is false if there is no number, if it exceeds most, or if it has a leading zero.
func number(b []byte, most int) (v int, rest []byte, ok bool) {
	n := 0
	for n < len(b) && '0' <= b[n] && b[n] <= '9' && v <= most {
		v = v*10 + int(b[n]-'0')
		n++
	}
	return v, b[n:], n > 0 && v <= most && (n == 1 || b[0] != '0')
}

// key packs an IPv4 address and port into a key of collector.seen.
func key(a netip.AddrPort) uint64 {
	b := a.Addr().As4()
	return uint64(b[0])<<40 | uint64(b[1])<<32 | uint64(b[2])<<24 | uint64(b[3])<<16 |
		uint64(a.Port())
}

// maxShown is the maximum number of characters of a string that show quotes.
const maxShown = 80

// show quotes an untrusted string for a message. Unprintable characters become Go
// escape sequences, and a string longer than maxShown is cut.
func show(s string) string {
	cut := s
	for i, n := 0, 0; i < len(s); n++ {
		if n == maxShown {
			cut = s[:i]
			break
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	if len(cut) < len(s) {
		return strconv.Quote(cut) + "…"
	}
	return strconv.Quote(s)
}
