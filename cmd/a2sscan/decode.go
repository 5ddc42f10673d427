package main

import (
	"bufio"
	"io"
	"os"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/spf13/cobra"

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
		Short: "Make records of captured datagrams",
		Long: `Reads datagrams in hexadecimal, one a line, and writes one record for each
sender. Spaces are allowed, what follows # is a comment, and ip:port before the
datagram names its sender; lines without one belong to one sender a file.
Fragments and several replies may come in any order. Without FILE, or for -,
standard input is read.

Captures of network traffic, pcap and pcapng, are recognised too: what the
servers in them replied becomes one record for each server's address.

A census that scan --raw wrote, compressed or not, is recognised too: each
record is made anew from its datagrams, with what those can't tell (address,
times, counts, tag, silence) taken from it. With --check nothing is written:
each record must come out the same again, or what differs is said and the exit
code is 1.`,
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
		"write nothing: see that records with raw come out the same again")
	return cmd
}

// refuse refuses what makes no sense together.
func (f *decodeFlags) refuse(cmd *cobra.Command) error {
	for _, name := range []string{"output", "append", "force", "raw", "scan-id"} {
		if f.check && cmd.Flags().Changed(name) {
			return console.Fail(console.ExitUsage, "--check and --%s exclude each other", name).
				WithHint("--check writes no records")
		}
	}
	return f.outFlags.check()
}

// decoding is one run of decode.
type decoding struct {
	*app
	flags     *decodeFlags
	out       *output
	decoder   *scanner.Decoder
	senders   int
	datagrams int
	bad       int
	checked   checked
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
		if err := writtenOver("--output", f.output, files); err != nil {
			return err
		}
	}
	d := &decoding{app: a, flags: f, decoder: scanner.NewDecoder()}
	var err error
	if d.out, err = f.plan(f.scanID); err != nil {
		return err
	}
	for _, name := range files {
		if err := d.file(name); err != nil {
			d.out.close()
			return err
		}
	}
	return d.end()
}

// file decodes what one file holds.
func (d *decoding) file(name string) error {
	r, err := d.input(name)
	if err != nil {
		return console.OpenFailure(name, err)
	}
	defer r.Close()
	in := bufio.NewReaderSize(r, 1<<16)
	kind := sniff(in)
	switch {
	case kind == inputRecords:
		return d.census(name, in)
	case d.flags.check:
		return console.Fail(console.ExitUsage, "%s: --check needs records", console.Plain(name, 200)).
			WithHint("scan --raw writes records that can be checked")
	}
	var cs captures
	if kind == inputPcap {
		err = d.pcap(name, in, &cs)
	} else if err = cs.read(in, d.badLine(name)); err != nil {
		err = console.Fail(console.ExitInput, "%w", err)
	}
	if err != nil {
		return err
	}
	for _, c := range cs.all {
		if err := d.record(c); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoding) input(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(d.in), nil
	}
	return os.Open(name)
}

// badLine names the first few lines that hold no datagram.
func (d *decoding) badLine(file string) func(int, string, error) {
	return func(line int, text string, err error) {
		d.bad++
		if d.bad <= maxBadLines {
			d.Say("%s:%d: %v: %s", console.Plain(file, 100), line, err, console.Quoted(text, 60))
		}
	}
}

// record writes what one sender said.
func (d *decoding) record(c *capture) error {
	d.add(c.datagrams)
	r := d.decoder.Result()
	r.Addr = c.from
	return d.write(d.flags.scanID, r)
}

// add gives the decoder the datagrams of another server.
func (d *decoding) add(datagrams [][]byte) {
	d.decoder.Reset()
	for _, b := range datagrams {
		d.decoder.Add(b)
	}
	d.datagrams += len(datagrams)
}

// write writes one record. The file is made for the first one.
func (d *decoding) write(scan string, r *scanner.Result) error {
	if d.senders == 0 {
		if err := d.out.open(); err != nil {
			return writeFailure(err)
		}
	}
	if !d.flags.raw {
		r.Raw = nil
	}
	d.out.writeAs(scan, r)
	d.senders++
	return nil
}

// end closes the output and says how much there was.
func (d *decoding) end() error {
	if err := d.out.close(); err != nil {
		return err
	}
	if d.bad > maxBadLines {
		d.Say("no datagram in %s", console.Plural(d.bad-maxBadLines, "more line"))
	}
	if d.flags.check {
		return d.endCheck()
	}
	if n := d.checked.noRaw; n > 0 {
		d.Say("left out: %s without all of their datagrams, which scan --raw keeps", console.Plural(n, "record"))
	}
	if d.senders == 0 {
		return console.Fail(console.ExitInput, "no datagrams in the input, %s", console.Plural(d.bad, "bad line")).
			WithHint("datagrams in hexadecimal, a pcap, or records with raw are wanted: a2sscan decode --help")
	}
	d.Say("%s from %s, %s", console.Plural(d.senders, "record"), console.Plural(d.datagrams, "datagram"), console.Plural(d.bad, "bad line"))
	return nil
}
