package bench

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
)

// scan runs the scanner, from opening the list to closing the record file.
func (t *task) scan(c *Client) error {
	list, err := t.openList()
	if err != nil {
		return err
	}
	r := recorder{Client: c}
	if t.Output != "" {
		if r.w, err = sink.Create(t.Output, sink.Options{}); err != nil {
			return err
		}
	}
	if t.Config.Check {
		r.check = newChecker(&t.Config)
	}
	cfg := t.scannerConfig()
	stop := c.watchPace(cfg.Monitor)
	stats, err := scanner.Scan(context.Background(), cfg, list.From(0), r.record)
	stop()
	if err != nil {
		return err
	}
	if r.w != nil {
		if err := r.w.Close(); err != nil {
			return err
		}
	}
	r.finish(&stats)
	t.audit(c, list.Stats(), &stats)
	return list.Err()
}

func (t *task) openList() (*list.List, error) {
	x, err := list.NewExclusions(true, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg := list.Config{Args: []string{t.List}, Exclusions: x}
	if t.List == "" {
		words := make([]string, len(t.Ports))
		for i, p := range t.Ports {
			words[i] = strconv.Itoa(int(p))
		}
		if cfg.Ports, err = list.ParsePorts(strings.Join(words, ",")); err != nil {
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
		Timeout: c.Timeout, Attempts: c.Attempts, Cooldown: c.Cooldown, InFlight: c.Window,
		RecvBuffer: c.RecvBuffer, Monitor: new(scanner.Monitor),
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

// recorder receives the results of a scan.
type recorder struct {
	*Client
	w     *sink.Output // nil: results are only counted
	err   error
	check *checker // nil: results are not checked
}

func (r *recorder) record(res *scanner.Result) {
	switch {
	case res.Received == 0:
		return
	case r.check != nil:
		if err := r.check.result(res); err != nil {
			r.problem("%v: %v", res.Addr, err)
		}
	}
	if r.w == nil {
		r.Records++
		return
	}
	if err := r.w.Write("bench", res); err != nil && r.err == nil {
		r.err = err
	}
}

// finish copies the statistics of a scan that has ended to the client's report.
func (r *recorder) finish(s *scanner.Stats) {
	r.Complete, r.Answered = s.Finished[scanner.StatusOK], s.Answered()
	r.Sent, r.Received = s.DatagramsSent(), s.DatagramsReceived()
	r.Kinds = Kinds{
		Challenge: s.Kinds[slices.Index(scanner.ReplyKinds[:], "challenge")], Info: s.Kinds[slices.Index(scanner.ReplyKinds[:], "info")],
		Players: s.Kinds[slices.Index(scanner.ReplyKinds[:], "players")], Rules: s.Kinds[slices.Index(scanner.ReplyKinds[:], "rules")],
	}
	r.Reads, r.Writes, r.Drops = s.Socket.Reads, s.Socket.Writes, s.Socket.KernelDrops
	if r.w != nil {
		r.Records = r.w.Count()
	}
	if r.err != nil {
		r.problem("records: %v", r.err)
	}
}

// audit reports a problem for each count of the scan that does not match another
// count.
func (t *task) audit(c *Client, l list.Stats, s *scanner.Stats) {
	equal := func(what string, a, b uint64) {
		if a != b {
			c.problem("%s: %d and %d", what, a, b)
		}
	}
	equal("targets asked for and given out", uint64(t.Config.Targets()), l.Given)
	equal("targets given out and taken", l.Given, s.Taken)
	equal("targets taken and accounted for", s.Taken,
		s.Unscannable+s.Duplicate+s.OverLimit+s.TargetsFinished()+s.Unfinished)
	equal("targets unfinished and none", s.Unfinished, 0)
	equal("datagrams sent by the scan and by its socket", s.DatagramsSent(), s.Socket.Sent)
	equal("datagrams received by the scan and by its socket", s.DatagramsReceived(), s.Socket.Received)
	known := s.Received[slices.Index(scanner.Classes[:], "matched")] + s.Received[slices.Index(scanner.Classes[:], "duplicate")]
	known += s.Received[slices.Index(scanner.Classes[:], "late")]
	if !t.remembers() {
		known += s.Received[slices.Index(scanner.Classes[:], "foreign")]
	}
	equal("datagrams received and recognised", s.DatagramsReceived(), known)
	equal("servers with an answer and records", s.Answered(), c.Records)
}

// remembers reports whether the scan remembers finished targets until their last
// reply has come. A scan that does not can't distinguish a late reply from a
// foreign reply. With a cooldown, it remembers them for two to four seconds: the
// second answer of a server 3 s away may come later than that.
func (t *task) remembers() bool { return t.Config.Cooldown != off && !t.Config.Fleet.Tail }

// writeList writes the list of targets to a file: all ports of an address, then
// those of the next address.
func (t *task) writeList() error {
	f, err := os.Create(t.List)
	if err != nil {
		return err
	}
	defer f.Close()
	var b []byte
	addr := t.Config.Network.Masked().Addr()
	for range t.Config.addresses() {
		for _, p := range t.Ports {
			b = addr.AppendTo(b)
			b = append(b, ':')
			b = strconv.AppendUint(b, uint64(p), 10)
			b = append(b, '\n')
		}
		addr = addr.Next()
	}
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Close()
}
