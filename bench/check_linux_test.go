package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// check compares every record of a file with what its server sends, and checks that each
// server that answered has one record.
func (c *Config) check(path string, answered uint64) error {
	r, err := sink.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	seen := map[netip.AddrPort]bool{}
	for reader := record.NewReader(); ; {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var rec *record.Record
		if err == nil {
			rec, err = reader.Read(line)
		}
		switch {
		case err != nil:
		case !c.Fleet.HasServer(rec.Addr) || seen[rec.Addr]:
			err = errors.New("a second record, or one of a place without a server")
		default:
			got, want := answersIn(&rec.Result), answersIn(c.Fleet.Truth(rec.Addr, c.questions()))
			if !bytes.Equal(got, want) {
				err = fmt.Errorf("%s, want %s", got, want)
			}
			seen[rec.Addr] = true
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if d := r.Damage(); d.Found() || d.Truncated != 0 || uint64(len(seen)) != answered {
		return fmt.Errorf("%s: %d records of %d, and %s", path, len(seen), answered, d)
	}
	return nil
}

// answersIn returns a record with the answers in r, and nothing else.
func answersIn(r *scanner.Result) []byte {
	return record.Append(nil, "", &scanner.Result{
		Addr: r.Addr, Status: r.Status, HasInfo: r.HasInfo, Info: r.Info,
		HasPlayers: r.HasPlayers, Players: r.Players, PlayersAnnounced: r.PlayersAnnounced,
		HasRules: r.HasRules, Rules: r.Rules, RulesAnnounced: r.RulesAnnounced,
	})
}
