package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// scan runs the scanner, from opening the list to closing the record file.
func (t *task) scan(c *Client) error {
	targets, err := t.openList()
	if err != nil {
		return err
	}
	var out *sink.Output // nil: results are only counted
	if t.Output != "" {
		if out, err = sink.Create(t.Output, sink.Options{}); err != nil {
			return err
		}
	}
	cfg := t.scannerConfig()
	stop := c.watchPace(cfg.Control.Monitor)
	var failed error
	s, err := scanner.Scan(context.Background(), cfg, targets.From(0), func(r *scanner.Result) {
		switch {
		case r.Received == 0:
		case out == nil:
			c.Records++
		default:
			failed = cmp.Or(failed, out.Write("bench", r))
		}
	})
	stop()
	if out != nil {
		err = errors.Join(err, failed, out.Close())
		c.Records = out.Count()
	}
	kind := func(word string) uint64 { return s.Kinds[slices.Index(scanner.ReplyKinds[:], word)] }
	c.Complete, c.Answered = s.Finished[scanner.StatusOK], s.Answered()
	c.Sent, c.Received = s.DatagramsSent(), s.DatagramsReceived()
	c.Kinds = Kinds{kind("challenge"), kind("info"), kind("players"), kind("rules")}
	c.Reads, c.Writes, c.Drops = s.Socket.Reads, s.Socket.Writes, s.Socket.KernelDrops
	if taken := uint64(t.Config.Targets()); s.Taken != taken || s.Unfinished > 0 || c.Answered != c.Records {
		c.problem("%d of %d targets taken, %d unfinished; %d servers answered, and there are %d records",
			s.Taken, taken, s.Unfinished, c.Answered, c.Records)
	}
	return errors.Join(err, targets.Err())
}

func (t *task) openList() (*list.List, error) {
	x, err := list.NewExclusions(true, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg := list.Config{Args: []string{t.List}, Exclusions: x}
	if t.List == "" {
		ports := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(t.Ports)), ","), "[]")
		if cfg.Ports, err = list.ParsePorts(ports); err != nil {
			return nil, err
		}
		cfg.Args = []string{t.Config.Network.String()}
	}
	return list.Open(cfg)
}

func (t *task) scannerConfig() scanner.Config {
	c := &t.Config
	return scanner.Config{
		Questions: c.questions(), Rate: c.Rate, FindRate: c.FindRate, AddressRate: c.AddressRate,
		Timeout: c.Timeout, Attempts: c.Attempts, Cooldown: c.Cooldown, Tuning: scanner.Tuning{InFlight: c.Window},
		Control: scanner.Control{Monitor: new(scanner.Monitor)},
	}
}

// watchPace samples a scan at intervals, and stores in c.Paced how much it sent
// while it had something to send.
func (c *Client) watchPace(m *scanner.Monitor) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(50 * time.Millisecond) // the Monitor is updated every 100 ms
		defer tick.Stop()
		var first scanner.Stats
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			s := m.Stats()
			switch sent := s.DatagramsSent(); {
			case sent == 0 || s.Wait != scanner.WaitNothing:
			case first.Elapsed == 0:
				first = s
			default:
				c.Paced = Paced{sent - first.DatagramsSent(), s.Elapsed - first.Elapsed}
			}
		}
	}()
	return func() { close(done); <-gone }
}

// writeList writes the list of targets to a file: all ports of an address, then
// those of the next address.
func (t *task) writeList() error {
	var b []byte
	addr := t.Config.Network.Masked().Addr()
	for range t.Config.addresses() {
		for _, p := range t.Ports {
			b = fmt.Appendf(b, "%v:%d\n", addr, p)
		}
		addr = addr.Next()
	}
	return os.WriteFile(t.List, b, 0o600)
}

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
