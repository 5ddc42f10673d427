package decode

import (
	"cmp"
	"errors"
	"io"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// recorded decodes the datagrams that are stored in the records of a census.
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
				WithHint("use a newer version of a2sscan")
		case err != nil:
			bad(n, string(line[:min(len(line), 100)]), err)
			return nil
		case len(recorded.Raw) < int(recorded.Received): // the record lacks datagrams
			d.noRaw++
			return nil
		}
		d.load(recorded.Raw)
		again := d.decoder.Redecode(&recorded.Result)
		return d.write(cmp.Or(d.options.ScanID, recorded.Scan), again)
	})
	if err == nil {
		err = censusfile.Lost(d.term, []census.Reading{read})
	}
	return err
}
