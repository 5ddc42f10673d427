package decode

import (
	"cmp"
	"errors"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// recorded decodes the records of a census again, or checks them.
func (d *run) recorded(name string, in io.Reader) error {
	r := sink.NewReader(in)
	r.KeepLines()
	defer r.Close()
	bad := d.reportBadLine(name)
	reader := record.NewReader()
	read, err := censusfile.Each(name, r, func(n int, line []byte) error {
		recorded, err := reader.Read(line)
		switch {
		case errors.As(err, new(record.SchemaError)):
			return console.Fail(console.ExitInput, "%s:%d: %w", console.Plain(name, 200), n, err).
				WithHint("a newer version reads it")
		case err != nil:
			bad(n, string(line[:min(len(line), 100)]), err)
			return nil
		case len(recorded.Raw) < int(recorded.Received): // the scan did not keep all of them
			d.noRaw++
			return nil
		}
		d.load(recorded.Raw)
		again := d.decoder.Redecode(&recorded.Result)
		if d.options.Check {
			d.compare(name, n, line, recorded.Scan, again)
			return nil
		}
		return d.write(cmp.Or(d.options.ScanID, recorded.Scan), again)
	})
	if err == nil {
		err = censusfile.Lost(d.term, []census.Reading{read}, false)
	}
	return err
}

// These limit what --check reports.
const (
	maxDiffering = 20 // records
	maxKeys      = 5  // of each record
)

// compare compares a record with its datagrams decoded again, and reports the
// differences.
func (d *run) compare(name string, n int, line []byte, scan string, again *scanner.Result) {
	diffs, err := record.Differences(line, record.Append(nil, scan, again))
	if err == nil && len(diffs) == 0 {
		d.same++
		return
	}
	if d.differ++; d.differ > maxDiffering {
		return
	}
	name = console.Plain(name, 100)
	server := "no address" // as a record made from a capture may have
	if again.Addr.IsValid() {
		server = again.Addr.String()
	}
	for _, diff := range diffs[:min(len(diffs), maxKeys)] {
		d.term.Say("%s:%d: %s: %s is %s, decodes to %s", name, n, server,
			console.Plain(diff.Key, 60), censusfile.ValueText(diff.One), censusfile.ValueText(diff.Other))
	}
	if len(diffs) > maxKeys {
		d.term.Say("%s:%d: and %d more keys", name, n, len(diffs)-maxKeys)
	}
}
