package decode

import (
	"bufio"
	"encoding/hex"
	"errors"
	"io"
	"net/netip"
	"strings"
)

// maxHexLine is the maximum length of a line in bytes. It has room for the longest
// datagram with a space after each byte, an address and a comment.
const maxHexLine = 256 << 10

// readHex reads text with one datagram per line in hexadecimal. A line may have spaces, a
// comment after #, and the ip:port of the sender before the datagram. All lines without an
// address belong to one sender. For each line that is not valid, readHex calls bad() and
// continues. It returns an error only if reading r fails.
func readHex(r io.Reader, bad func(line int, text string, err error)) ([]*sender, error) {
	s := senders{byAddr: map[netip.AddrPort]*sender{}}
	b := bufio.NewReaderSize(r, maxHexLine)
	for line := 1; ; line++ {
		start, err := b.ReadSlice('\n')
		text, long := string(start), err == bufio.ErrBufferFull
		for err == bufio.ErrBufferFull {
			_, err = b.ReadSlice('\n')
		}
		switch {
		case err == io.EOF && text == "":
			return s.all, nil
		case err != nil && err != io.EOF:
			return s.all, err
		case long:
			bad(line, text[:100], errors.New("the line is longer than the longest datagram"))
			continue
		}
		if err := s.addHex(text); err != nil {
			bad(line, strings.TrimRight(text, "\r\n"), err)
		}
	}
}

// addHex adds the datagram of one line, unless the line is empty or a comment.
func (s *senders) addHex(text string) error {
	text, _, _ = strings.Cut(text, "#")
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	var from netip.AddrPort
	var err error
	if strings.ContainsAny(fields[0], ".:") {
		if from, err = netip.ParseAddrPort(fields[0]); err != nil || !from.Addr().Is4() {
			return errors.New("the sender is not an ip:port")
		}
		fields = fields[1:]
	}
	datagram, err := hex.DecodeString(strings.Join(fields, ""))
	switch {
	case err != nil:
		return errors.New("the datagram is not hexadecimal")
	case len(datagram) == 0:
		return errors.New("no datagram follows the sender")
	}
	s.add(from, datagram)
	return nil
}
