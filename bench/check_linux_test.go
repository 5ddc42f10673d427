package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/a2sscan/a2sscan/bench/fleet/canned"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// checker compares each result with what its server sends. A second result of a
// server is an error.
type checker struct {
	fleet canned.Config
	asked scanner.Questions
	seen  map[netip.AddrPort]bool
}

func newChecker(c *Config) *checker {
	return &checker{fleet: c.Fleet, asked: c.questions(), seen: map[netip.AddrPort]bool{}}
}

// result checks a result.
func (c *checker) result(r *scanner.Result) error {
	switch {
	case !c.fleet.HasServer(r.Addr):
		return errors.New("a record of a place without a server")
	case c.seen[r.Addr]:
		return errors.New("a second record")
	}
	c.seen[r.Addr] = true
	got, want := answersIn(r), answersIn(c.fleet.Truth(r.Addr, c.asked))
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s, want %s", got, want)
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

// file checks every record of a file, and that answered servers have a record.
func (c *checker) file(path string, answered uint64) error {
	r, err := sink.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	clear(c.seen)
	for reader := record.NewReader(); ; {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var rec *record.Record
		if err == nil {
			rec, err = reader.Read(line)
		}
		if err == nil {
			err = c.result(&rec.Result)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if d := r.Damage(); d.Found() {
		return fmt.Errorf("%s: skipped %s", path, d)
	}
	if uint64(len(c.seen)) != answered || r.Damage().Truncated != 0 {
		return fmt.Errorf("%s: %d records and %d truncated bytes, want %d records",
			path, len(c.seen), r.Damage().Truncated, answered)
	}
	return nil
}
