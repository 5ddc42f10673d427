package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/a2sscan/a2sscan/bench/fleet/canned"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// checker compares each record with what its server sends. A second record of a
// server is an error.
type checker struct {
	fleet canned.Config
	asked scanner.Questions
	seen  map[netip.AddrPort]bool
	enc   record.Encoder
	got   []byte
	want  []byte
}

func newChecker(c *Config) *checker {
	return &checker{fleet: c.Fleet, asked: c.questions(), seen: map[netip.AddrPort]bool{}}
}

// result checks the record of a result.
func (c *checker) result(r *scanner.Result) error {
	c.got = c.enc.Append(c.got[:0], "", r)
	return c.line(c.got)
}

// said holds the keys of a record that checker compares, with the server's address.
type said struct {
	IP      netip.Addr
	Port    uint16
	Status  string
	Info    json.RawMessage
	Players json.RawMessage
	Rules   json.RawMessage
}

// line checks a record.
func (c *checker) line(line []byte) error {
	var got, want said
	if err := json.Unmarshal(line, &got); err != nil {
		return err
	}
	addr := netip.AddrPortFrom(got.IP, got.Port)
	switch {
	case !c.fleet.HasServer(addr):
		return errors.New("a record of a place without a server")
	case c.seen[addr]:
		return errors.New("a second record")
	}
	c.seen[addr] = true
	c.want = c.enc.Append(c.want[:0], "", c.fleet.Truth(addr, c.asked))
	if err := json.Unmarshal(c.want, &want); err != nil {
		return err
	}
	return got.differ(&want)
}

func (s *said) differ(want *said) error {
	switch {
	case s.Status != want.Status:
		return fmt.Errorf("status is %s, want %s", s.Status, want.Status)
	case !bytes.Equal(s.Info, want.Info):
		return errWrong("info", s.Info, want.Info)
	case !bytes.Equal(s.Players, want.Players):
		return errWrong("players", s.Players, want.Players)
	case !bytes.Equal(s.Rules, want.Rules):
		return errWrong("rules", s.Rules, want.Rules)
	}
	return nil
}

// errWrong returns the error for a key whose value differs from what the server
// sent. It shows both values from the first byte that differs.
func errWrong(key string, got, want []byte) error {
	const most = 60
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	return fmt.Errorf("%s: byte %d: %.*q, want %.*q", key, at, most, got[at:], most, want[at:])
}

// file checks every record of a file, and that answered servers have a record.
func (c *checker) file(path string, answered uint64) error {
	r, err := sink.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	clear(c.seen)
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.line(line)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if d := r.Damage(); d.Found() {
		return fmt.Errorf("%s: skipped %s", path, d)
	}
	if uint64(len(c.seen)) != answered || r.Truncated() != 0 {
		return fmt.Errorf("%s: %d records and %d truncated bytes, want %d records",
			path, len(c.seen), r.Truncated(), answered)
	}
	return nil
}
