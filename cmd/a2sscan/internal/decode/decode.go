// Package decode makes records from captured datagrams: from hexadecimal text, pcap and
// pcapng files, and from the datagrams that are stored in records.
package decode

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"net/netip"
	"os"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// Options choose the input of Run, and what Run writes into the records.
type Options struct {
	Files  []string // "-": standard input
	Raw    bool     // write the datagrams to the records
	ScanID string   // scan ID of the records; empty: the ID in the census, if there is one
}

type run struct {
	term    *console.Terminal
	options Options
	stdin   io.Reader
	out     *sink.Output
	decoder *scanner.Decoder

	records   int
	datagrams int
	badLines  int
	noRaw     int // records that lack datagrams
}

// Run decodes files, and writes their records to out.
func Run(t *console.Terminal, o Options, stdin io.Reader, out *sink.Output) error {
	d := &run{term: t, options: o, stdin: stdin, out: out, decoder: scanner.NewDecoder()}
	var lost error // the error of a damaged census
	for _, name := range o.Files {
		err := d.file(name)
		if err != nil && console.ExitCode(err) != console.ExitNumbers {
			d.out.Close()
			return err
		}
		lost = cmp.Or(lost, err)
	}
	if err := d.out.Commit(); err != nil {
		return censusfile.WriteFailure(err)
	}
	if d.badLines > console.MaxBadLines {
		t.Say("found no datagram in %s", console.Plural(d.badLines-console.MaxBadLines, "more line"))
	}
	bad := console.Plural(d.badLines, "bad line")
	if d.noRaw > 0 {
		t.Say("skipped %s, because datagrams are missing; a scan with --raw stores all datagrams", console.Plural(d.noRaw, "record"))
	}
	if d.records == 0 && lost == nil {
		return console.Fail(console.ExitInput, "found no datagrams in the input, and skipped %s", bad).
			WithHint("give datagrams in hexadecimal, pcap files, or records with raw datagrams: see a2sscan decode --help")
	}
	t.Say("decoded %s from %s, and skipped %s", console.Plural(d.records, "record"), console.Plural(d.datagrams, "datagram"), bad)
	return lost
}

func (d *run) file(name string) error {
	r := d.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return console.OpenFailure(name, err)
		}
		defer f.Close()
		r = f
	}
	in := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\uFEFF" { // a byte order mark
		_, _ = in.Discard(3)
	}
	kind := detect(in)
	shown := console.Plain(name, 200)
	var senders []*sender
	var err error
	switch {
	case kind == recordsFormat:
		return d.recorded(name, in)
	case kind == hexFormat:
		if senders, err = readHex(in, d.reportBadLine(name)); err != nil {
			return console.Fail(console.ExitInput, "%w", err)
		}
	default:
		var stats pcapStats
		if senders, stats, err = readPcap(in); err != nil {
			return console.Fail(console.ExitInput, "%s: reading failed after %s: %w", shown, console.Plural(stats.Packets, "packet"), err)
		}
		d.term.Say("%s: packets %d, truncated packets %d, replies %d", shown, stats.Packets, stats.Cut, stats.Replies)
		if stats.Fragments > 0 {
			d.term.Say("%s: skipped %s, because decode does not reassemble IP packets", shown, console.Plural(stats.Fragments, "IP fragment"))
		}
		if stats.IPv6 > 0 {
			d.term.Say("%s: skipped %s, because decode reads only IPv4", shown, console.Plural(stats.IPv6, "IPv6 packet"))
		}
		if stats.Truncated {
			d.term.Say("%s is truncated, so decode skipped the last packet", shown)
		}
	}
	for _, s := range senders {
		d.load(s.datagrams)
		r := d.decoder.Result()
		r.Addr = s.addr
		if err := d.write(d.options.ScanID, r); err != nil {
			return err
		}
	}
	return nil
}

// The formats of files with datagrams.
const (
	hexFormat     = iota // one datagram per line in hexadecimal
	recordsFormat        // a census, whether compressed or not
	pcapFormat           // pcap or pcapng
)

// detect detects the format from the first bytes of the input, without consuming them.
func detect(in *bufio.Reader) (format int) {
	b, _ := in.Peek(4)
	switch string(b) {
	case "\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1", pcapngMagic:
		return pcapFormat // pcapng, or pcap with microseconds or nanoseconds, in either byte order
	case "\x28\xB5\x2F\xFD": // zstd
		return recordsFormat
	}
	skippable := len(b) == 4 && b[0]&0xF0 == 0x50 && string(b[1:]) == "\x2A\x4D\x18" // zstd
	gzip := bytes.HasPrefix(b, []byte("\x1F\x8B"))
	if skippable || gzip || bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) {
		return recordsFormat
	}
	return hexFormat
}

// sender is a server with the datagrams that it sent, in the order of the file.
type sender struct {
	addr      netip.AddrPort // invalid if unknown
	datagrams [][]byte
}

// senders holds the servers in a file, in the order of their first datagrams.
type senders struct {
	all    []*sender
	byAddr map[netip.AddrPort]*sender
}

func (s *senders) add(from netip.AddrPort, datagram []byte) {
	one := s.byAddr[from]
	if one == nil {
		one = &sender{addr: from}
		s.byAddr[from] = one
		s.all = append(s.all, one)
	}
	one.datagrams = append(one.datagrams, datagram)
}

// reportBadLine returns a function that counts the bad lines of a file and reports them.
// Over all files, it reports at most console.MaxBadLines lines.
func (d *run) reportBadLine(file string) func(int, string, error) {
	return func(line int, text string, err error) {
		d.badLines++
		if d.badLines <= console.MaxBadLines {
			d.term.Say("%s:%d: %v: %s", console.Plain(file, 100), line, err, console.Quoted(text, 60))
		}
	}
}

func (d *run) load(datagrams [][]byte) {
	d.decoder.Reset()
	for _, b := range datagrams {
		d.decoder.Add(b)
	}
	d.datagrams += len(datagrams)
}

// write writes one record. The first record creates the file.
func (d *run) write(scan string, r *scanner.Result) error {
	if d.records == 0 {
		if err := d.out.Open(); err != nil {
			return censusfile.WriteFailure(err)
		}
	}
	if !d.options.Raw {
		r.Raw = nil
	}
	if err := d.out.Write(scan, r); err != nil {
		return censusfile.WriteFailure(err)
	}
	d.records++
	return nil
}
