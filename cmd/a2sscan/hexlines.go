package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"io"
	"net/netip"
	"strings"
)

// A capture is text: one datagram a line in hexadecimal, spaces allowed, what
// follows # is a comment, and an ip:port before it names the sender.

// maxHexLine bounds a line: the longest datagram there is with a space after
// each byte, an address and a comment.
const maxHexLine = 256 << 10

// capture is what came from one sender, in order.
type capture struct {
	from      netip.AddrPort // not valid: the capture does not say
	datagrams [][]byte
}

// captures are those of one file, in the order in which their senders appear.
type captures struct {
	all []*capture
	by  map[netip.AddrPort]*capture
}

func (cs *captures) add(from netip.AddrPort, datagram []byte) {
	c := cs.by[from]
	if c == nil {
		c = &capture{from: from}
		if cs.by == nil {
			cs.by = map[netip.AddrPort]*capture{}
		}
		cs.by[from] = c
		cs.all = append(cs.all, c)
	}
	c.datagrams = append(c.datagrams, datagram)
}

// read takes in a file. A line that makes no sense is given to bad, and the
// next one is read. The error is that of reading.
func (cs *captures) read(r io.Reader, bad func(line int, text string, err error)) error {
	b := bufio.NewReaderSize(r, maxHexLine)
	for line := 1; ; line++ {
		text, err := readLine(b)
		if err != nil && err != errLong {
			return ignoreEOF(err)
		}
		if err == nil {
			err = cs.line(text)
		}
		if err != nil {
			bad(line, text, err)
		}
	}
}

var errLong = errors.New("longer than any datagram")

// readLine returns the next line, or the beginning of one that is too long,
// with errLong. At the end it returns io.EOF.
func readLine(b *bufio.Reader) (string, error) {
	text, err := b.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		start := string(text[:100])
		for err == bufio.ErrBufferFull {
			_, err = b.ReadSlice('\n')
		}
		return start, errLong
	case err != nil && len(text) == 0:
		return "", err
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// line takes in one line.
func (cs *captures) line(text string) error {
	text, _, _ = strings.Cut(text, "#")
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	var from netip.AddrPort
	if strings.ContainsAny(fields[0], ".:") {
		var err error
		from, err = netip.ParseAddrPort(fields[0])
		if err != nil || !from.Addr().Is4() {
			return errors.New("the sender is not an ip:port")
		}
		fields = fields[1:]
	}
	datagram, err := hex.DecodeString(strings.Join(fields, ""))
	switch {
	case err != nil:
		return errors.New("not hexadecimal")
	case len(datagram) == 0:
		return errors.New("a sender without a datagram")
	}
	cs.add(from, datagram)
	return nil
}
