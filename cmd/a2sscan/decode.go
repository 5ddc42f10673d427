package main

import (
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/decode"
	"github.com/a2sscan/a2sscan/sink"
)

type decodeFlags struct {
	outFlags
	scanID string
	raw    bool
}

func (a *app) decodeCommand() *cobra.Command {
	f := &decodeFlags{}
	cmd := &cobra.Command{
		Use:   "decode [FILE…]",
		Short: "Decode captured datagrams into records",
		Long: `Decodes captured datagrams and writes one record per server. Without FILE, or
for -, it reads standard input. It detects the format from the first bytes:

  text     One datagram per line, in hexadecimal. Spaces are allowed, and #
           begins a comment. ip:port before a datagram names its sender; all
           other lines of a file belong to one sender. Replies and their
           fragments may be in any order.
  capture  A pcap or pcapng file. Each server address whose replies it
           contains gets a record.
  census   A census of scan --raw, plain or compressed. Each record is decoded
           again from its datagrams. Its address, times, counts and tag, which
           the datagrams do not contain, stay as they are.`,
		Example: `  tcpdump -w - 'udp port 27015' | a2sscan decode | jq .
  echo 'ffffffff 44 01 00 626f6200 05000000 0000803f' | a2sscan decode
  a2sscan decode census.ndjson.zst -o again.ndjson.zst`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.outFlags.check(); err != nil {
				return err
			}
			return a.decode(f, args)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.raw, "raw", false, "store every datagram in the record, as base64")
	cmd.Flags().StringVar(&f.scanID, "scan-id", "",
		"name the scan `NAME` in every record (default: the name in the census, if there is one)")
	return cmd
}

func (a *app) decode(f *decodeFlags, files []string) error {
	if len(files) == 0 {
		if console.IsTerminal(a.in) {
			return console.Fail(console.ExitUsage, "standard input is a terminal").
				WithHint("name a file, or pipe datagrams in; to see the formats, run: a2sscan decode --help")
		}
		files = []string{"-"}
	}
	if f.force || f.append {
		if err := censusfile.Overwritten("--output", f.output, files); err != nil {
			return err
		}
	}
	c := f.choice()
	if err := c.CheckFormat(); err != nil {
		return err
	}
	out := sink.New(c.Path, c.Options())
	if err := out.Check(); err != nil { // before reading any input
		return censusfile.WriteFailure(err)
	}
	o := decode.Options{Files: files, Raw: f.raw, ScanID: f.scanID}
	return decode.Run(a.term, o, a.in, out)
}
