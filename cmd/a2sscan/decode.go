package main

import (
	"bufio"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/capture"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/scanner"
)

// decodeFlags are the flags of decode.
type decodeFlags struct {
	outFlags
	scanID string
	raw    bool
	check  bool
}

func (a *app) decodeCommand() *cobra.Command {
	f := &decodeFlags{}
	cmd := &cobra.Command{
		Use:   "decode [FILE…]",
		Short: "Decode captured datagrams into records",
		Long: `Reads captured datagrams and writes one record per sender. Without FILE, or for
-, it reads standard input. The format is detected from the first bytes:

Text holds one datagram per line in hexadecimal. Spaces are allowed, # begins a
comment, and ip:port before the datagram names its sender. Lines without an
address belong to one sender per file. Fragments and replies may come in any
order.

A pcap or pcapng file holds network traffic. What servers replied becomes one
record per server address.

A census that scan --raw wrote, compressed or not, holds the datagrams of each
record. Each record is decoded again; its address, times, counts and tag, which
datagrams cannot tell, are kept. With --check, decode writes nothing and
compares instead: if a record comes out differently, it reports the difference
and ends with exit code 1.`,
		Example: `  tcpdump -w - 'udp port 27015' | a2sscan decode | jq .
  echo 'ffffffff 44 01 00 626f6200 05000000 0000803f' | a2sscan decode
  a2sscan decode --check census.ndjson.zst`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.refuse(cmd); err != nil {
				return err
			}
			return a.decode(f, args)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.raw, "raw", false, "keep every datagram in the record, as base64")
	cmd.Flags().StringVar(&f.scanID, "scan-id", "",
		"`NAME` of the scan in every record (default: that of a record, else no name)")
	cmd.Flags().BoolVar(&f.check, "check", false,
		"write nothing; check that records with raw datagrams decode to the same again")
	return cmd
}

// refuse refuses flags that contradict each other.
func (f *decodeFlags) refuse(cmd *cobra.Command) error {
	for _, name := range []string{"output", "append", "force", "raw", "scan-id"} {
		if f.check && cmd.Flags().Changed(name) {
			return console.Fail(console.ExitUsage, "--check and --%s exclude each other", name).
				WithHint("--check writes no records")
		}
	}
	return f.outFlags.check()
}

// decodeRun is one run of decode.
type decodeRun struct {
	term    *console.Terminal
	flags   *decodeFlags
	stdin   io.Reader
	out     *output.Output
	decoder *scanner.Decoder

	records   int
	datagrams int
	badLines  int
	noRaw     int // records without all of their datagrams
	check     recheck
}

func (a *app) decode(f *decodeFlags, files []string) error {
	if len(files) == 0 {
		if isTerminal(a.in) {
			return console.Fail(console.ExitUsage, "standard input is a terminal").
				WithHint("name a file, or pipe datagrams in: a2sscan decode --help")
		}
		files = []string{"-"}
	}
	if f.force || f.append {
		if err := inputs.Overwritten("--output", f.output, files); err != nil {
			return err
		}
	}
	out, err := f.plan(f.scanID)
	if err != nil {
		return err
	}
	d := &decodeRun{term: a.Terminal, flags: f, stdin: a.in, out: out, decoder: scanner.NewDecoder()}
	for _, name := range files {
		if err := d.file(name); err != nil {
			d.out.Close()
			return err
		}
	}
	return d.end()
}

// file decodes one file.
func (d *decodeRun) file(name string) error {
	r, err := d.open(name)
	if err != nil {
		return console.OpenFailure(name, err)
	}
	defer r.Close()
	in := bufio.NewReaderSize(r, 1<<16)
	format := capture.Detect(in)
	if format == capture.Records {
		return d.census(name, in)
	}
	if d.flags.check {
		return console.Fail(console.ExitUsage, "%s: --check needs records", console.Plain(name, 200)).
			WithHint("scan --raw writes records that can be checked")
	}
	senders, err := d.read(name, format, in)
	for _, s := range senders {
		if err == nil {
			err = d.decodeSender(s)
		}
	}
	return err
}

func (d *decodeRun) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(d.stdin), nil
	}
	return os.Open(name)
}

// read reads the datagrams of a capture.
func (d *decodeRun) read(name string, format capture.Format, in *bufio.Reader) ([]*capture.Sender, error) {
	if format == capture.Hex {
		senders, err := capture.ReadHex(in, d.reportBadLine(name))
		if err != nil {
			err = console.Fail(console.ExitInput, "%w", err)
		}
		return senders, err
	}
	senders, stats, err := capture.ReadPcap(in)
	name = console.Plain(name, 200)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "%s: after %d packets: %w", name, stats.Packets, err)
	}
	d.term.Say("%s: %d packets, %d replies, %d cut short", name, stats.Packets, stats.Replies, stats.Cut)
	if stats.Truncated {
		d.term.Say("%s: truncated: the packet after those is left out", name)
	}
	return senders, nil
}

// reportBadLine returns a function that counts the bad lines of a file and
// reports the first few.
func (d *decodeRun) reportBadLine(file string) func(int, string, error) {
	return func(line int, text string, err error) {
		d.badLines++
		if d.badLines <= inputs.MaxBadLines {
			d.term.Say("%s:%d: %v: %s", console.Plain(file, 100), line, err, console.Quoted(text, 60))
		}
	}
}

// decodeSender writes the record of one sender.
func (d *decodeRun) decodeSender(s *capture.Sender) error {
	d.load(s.Datagrams)
	r := d.decoder.Result()
	r.Addr = s.Addr
	return d.write(d.flags.scanID, r)
}

// load gives the decoder the datagrams of another server.
func (d *decodeRun) load(datagrams [][]byte) {
	d.decoder.Reset()
	for _, b := range datagrams {
		d.decoder.Add(b)
	}
	d.datagrams += len(datagrams)
}

// write writes one record. The first one creates the file.
func (d *decodeRun) write(scan string, r *scanner.Result) error {
	if d.records == 0 {
		if err := d.out.Open(); err != nil {
			return output.Failure(err)
		}
	}
	if !d.flags.raw {
		r.Raw = nil
	}
	d.out.WriteAs(scan, r)
	d.records++
	return nil
}

// end closes the output and reports the counts.
func (d *decodeRun) end() error {
	if err := d.out.Finish(); err != nil {
		return err
	}
	if d.badLines > inputs.MaxBadLines {
		d.term.Say("no datagram in %s", console.Plural(d.badLines-inputs.MaxBadLines, "more line"))
	}
	if d.flags.check {
		return d.endCheck()
	}
	if d.noRaw > 0 {
		d.term.Say("left out: %s without all of their datagrams, which scan --raw keeps", console.Plural(d.noRaw, "record"))
	}
	bad := console.Plural(d.badLines, "bad line")
	if d.records == 0 {
		return console.Fail(console.ExitInput, "no datagrams in the input, %s", bad).
			WithHint("decode reads datagrams in hexadecimal, pcap files, and records with raw datagrams: a2sscan decode --help")
	}
	d.term.Say("%s from %s, %s", console.Plural(d.records, "record"), console.Plural(d.datagrams, "datagram"), bad)
	return nil
}
