package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/netip"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// input is what decode reads, as its first bytes show.
type input uint8

const (
	inputHex input = iota
	inputRecords
	inputPcap
)

// sniff says what a file holds, and takes nothing from it.
func sniff(in *bufio.Reader) input {
	b, _ := in.Peek(4)
	switch {
	case isPcap(b):
		return inputPcap
	case len(b) == 4 && bytes.HasPrefix(b, []byte("\x28\xB5\x2F\xFD")),
		len(b) == 4 && b[0]&0xF0 == 0x50 && bytes.HasPrefix(b[1:], []byte("\x2A\x4D\x18")):
		return inputRecords
	case bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")):
		return inputRecords
	}
	return inputHex
}

// checked are the numbers of decode --check.
type checked struct {
	same   int
	differ int
	noRaw  int
}

// census makes the records of a census anew, or checks them.
func (d *decoding) census(name string, in io.Reader) error {
	r := sink.NewReader(in)
	r.KeepLines()
	defer r.Close()
	bad := d.badLine(name)
	for n := 1; ; n++ {
		line, err := r.Next()
		switch {
		case err == io.EOF && r.Damage().Found():
			return damageFailure(name, r.Damage())
		case err == io.EOF:
			d.sayTorn(name, r.Torn())
			return nil
		case err != nil:
			return readFailure(err)
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		if err := d.remake(name, n, line, bad); err != nil {
			return err
		}
	}
}

// remake makes one record anew.
func (d *decoding) remake(name string, n int, line []byte, bad func(int, string, error)) error {
	scan, known, err := record.Parse(line)
	switch {
	case errors.Is(err, record.ErrNoRaw):
		d.checked.noRaw++
		return nil
	case err != nil:
		bad(n, string(line[:min(len(line), 100)]), err)
		return nil
	}
	d.add(known.Raw)
	again := d.decoder.Remake(known)
	if d.flags.check {
		d.compare(name, n, line, scan, again)
		return nil
	}
	if d.flags.scanID != "" {
		scan = d.flags.scanID
	}
	return d.write(scan, again)
}

// Bounds of what a check says.
const (
	maxDiffering = 20 // records
	maxKeys      = 5  // of each
)

// compare holds a record against the one made anew.
func (d *decoding) compare(name string, n int, line []byte, scan string, again *scanner.Result) {
	ds, err := record.Differences(line, record.Append(nil, scan, again))
	if err == nil && len(ds) == 0 {
		d.checked.same++
		return
	}
	d.checked.differ++
	if d.checked.differ > maxDiffering {
		return
	}
	for _, diff := range ds[:min(len(ds), maxKeys)] {
		d.Say("%s:%d: %s: %s is %s, made anew %s", console.Plain(name, 100), n, sender(again.Addr),
			console.Plain(diff.Key, 60), shownValue(diff.One), shownValue(diff.Other))
	}
	if len(ds) > maxKeys {
		d.Say("%s:%d: and %d more keys", console.Plain(name, 100), n, len(ds)-maxKeys)
	}
}

// sender names a server, which a record of a capture need not do.
func sender(addr netip.AddrPort) string {
	if !addr.IsValid() {
		return "no address"
	}
	return addr.String()
}

func shownValue(s string) string {
	if s == "" {
		return "absent"
	}
	return console.Plain(s, 80)
}

// endCheck says how the check ended. A line that is no record is not one that
// comes out the same.
func (d *decoding) endCheck() error {
	c := &d.checked
	d.Say("%s the same again, %s differ, %s without all their datagrams, %s", console.Plural(c.same, "record"),
		console.Grouped(uint64(c.differ)), console.Grouped(uint64(c.noRaw)), console.Plural(d.bad, "bad line"))
	switch {
	case c.differ > 0 || d.bad > 0:
		return console.Fail(console.ExitUsage, "not all records come out the same again").
			WithHint("their datagrams say something else now: the record was changed, or another version wrote it")
	case c.same == 0:
		return console.Fail(console.ExitInput, "no record that can be checked").
			WithHint("scan --raw keeps the datagrams")
	}
	return nil
}
