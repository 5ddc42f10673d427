// Package capture reads recorded datagrams from hexadecimal text, pcap and pcapng
// files, and groups them by the server that sent them. Package decode makes records
// from them.
package capture

import (
	"bufio"
	"bytes"
	"net/netip"
)

// Format is the format of a file with datagrams.
type Format uint8

// These are the formats that Detect returns.
const (
	Hex     Format = iota // one datagram per line in hexadecimal
	Records               // a census, whether compressed or not
	Pcap                  // pcap or pcapng
)

// Detect detects the format from the first bytes of in, without consuming them.
// Anything but a packet capture or a census counts as Hex.
func Detect(in *bufio.Reader) Format {
	b, _ := in.Peek(4)
	switch string(b) {
	case "\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1", pcapngMagic:
		return Pcap // with microseconds or nanoseconds, in either byte order
	case "\x28\xB5\x2F\xFD": // zstd
		return Records
	}
	skippable := len(b) == 4 && b[0]&0xF0 == 0x50 && string(b[1:]) == "\x2A\x4D\x18" // zstd
	if skippable || bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) {
		return Records
	}
	return Hex
}

// Sender is a server with the datagrams that it sent, in the order of the file.
type Sender struct {
	Addr      netip.AddrPort // not valid: the file does not say who sent them
	Datagrams [][]byte
}

// senders holds the servers in a file, in the order of their first datagrams.
type senders struct {
	all    []*Sender
	byAddr map[netip.AddrPort]*Sender
}

func (s *senders) add(from netip.AddrPort, datagram []byte) {
	one := s.byAddr[from]
	if one == nil {
		one = &Sender{Addr: from}
		if s.byAddr == nil {
			s.byAddr = map[netip.AddrPort]*Sender{}
		}
		s.byAddr[from] = one
		s.all = append(s.all, one)
	}
	one.Datagrams = append(one.Datagrams, datagram)
}
