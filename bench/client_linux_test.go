package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"time"
)

// Client is what a client reports about its run.
type Client struct {
	Complete uint64 // servers that answered every question
	Answered uint64 // servers that answered anything
	Sent     uint64 // datagrams
	Received uint64 // datagrams
	Kinds    Kinds  // the received datagrams by kind
	Reads    uint64 // system calls
	Writes   uint64 // system calls
	Drops    uint64 // datagrams that did not fit into the client's buffer

	Records uint64 // written
	FileLen int64  // bytes in the file

	Elapsed time.Duration
	Usage   Usage
	Paced   Paced
	PeakRSS int64 // bytes

	Problems []string // faults: a ledger that does not add up, a wrong record
}

// Paced counts the datagrams that a scan sent between two samples: the first and
// the last that were taken while it was sending.
type Paced struct {
	Sent uint64
	Took time.Duration
}

// Kinds counts datagrams by kind.
type Kinds struct{ Challenge, Info, Players, Rules uint64 }

func (c *Client) problem(format string, args ...any) {
	const most = 10
	if len(c.Problems) < most {
		c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
	}
}

// task is the work of a client.
type task struct {
	Config Config
	Ports  []uint16
	List   string // the file of targets; empty: the network
	Output string // the file of records
}

// clientMain reads a task from in, runs it and writes the client's report to out.
func clientMain(in io.Reader, out io.Writer) error {
	var t task
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return err
	}
	stop, err := profile(t.Config.Profile)
	if err != nil {
		return err
	}
	c, err := t.run()
	stop()
	if err != nil {
		return fmt.Errorf("%s: %w", t.Config.Name(), err)
	}
	if c.PeakRSS, err = peakRSS(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(c)
}

// run runs the client that the Config names, and measures its elapsed and processor
// time.
func (t *task) run() (*Client, error) {
	work := t.scan
	switch t.Config.Loop {
	case Bare:
		work = t.bare
	case Blast:
		work = t.blast
	}
	c := &Client{}
	before, begin := usage(), time.Now()
	err := work(c)
	c.Elapsed, c.Usage = time.Since(begin), usage().minus(before)
	return c, err
}

// profile starts a CPU profile if path is not empty. stop writes it to path.
func profile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, nil
}
