package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
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

// clientMain reads a task from in, runs the client that its Config names, and writes the
// client's report to out.
func clientMain(in io.Reader, out io.Writer) error {
	var t task
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return err
	}
	if path := t.Config.Profile; path != "" {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	work := t.scan
	switch t.Config.Loop {
	case Bare:
		work = t.bare
	case Blast:
		work = t.blast
	}
	var c Client
	before, begin := usage(Usage{}), time.Now()
	err := work(&c)
	c.Elapsed, c.Usage = time.Since(begin), usage(before)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Config.Name(), err)
	}
	if c.PeakRSS, err = peakRSS(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(c)
}

// Usage is the processor time that a process has spent.
type Usage struct{ User, System time.Duration }

// Total returns the sum of user and system time.
func (u Usage) Total() time.Duration { return u.User + u.System }

// usage returns the processor time that this process has spent since v.
func usage(v Usage) Usage {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic("bench: getrusage: " + err.Error()) // it has no way to fail
	}
	return Usage{time.Duration(r.Utime.Nano()) - v.User, time.Duration(r.Stime.Nano()) - v.System}
}

// peakRSS returns the peak memory of this process in bytes. Linux resets it on
// exec, so a child's peak does not include its parent's.
func peakRSS() (kib int64, err error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscanf(after, "%d kB", &kib)
	return kib << 10, err
}

// builtProgram builds the program once, into a directory that TestMain removes.
var builtProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "a2sscan-bench")
	if err != nil {
		return "", err
	}
	programDir = dir
	path := filepath.Join(dir, "a2sscan")
	if out, err := exec.Command("go", "build", "-ldflags", "-w", "-o", path, "../cmd/a2sscan").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

var programDir string

// program runs a2sscan scan as users start it: with its default flags, except that
// the rate is not limited. The processor time is that of the whole process, and the
// elapsed time is from its start to its end. The counts are those of its summary.
func (t *task) program(c *Client) error {
	path, err := builtProgram()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.Config.Limit)
	defer cancel()
	args := []string{"scan", t.List, "--allow-reserved", "--rate", "0", "-o", t.Output, "-q"}
	if t.Config.Timeout > 0 {
		args = append(args, "--timeout", t.Config.Timeout.String())
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stderr = os.Stderr
	begin := time.Now()
	err = cmd.Run()
	c.Elapsed = time.Since(begin)
	if err != nil {
		return fmt.Errorf("%q: %w", cmd.Args, err)
	}
	c.Usage = Usage{cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()}
	return c.readSummary(t.Output + ".summary.json")
}

// readSummary copies the counts of a summary.
func (c *Client) readSummary(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s struct {
		Records    uint64
		Servers    uint64
		Consistent bool
		PeakRSS    int64 `json:"peak_rss_bytes"` // the maximum of wait4 may be that of the parent
		Targets    struct {
			ByStatus map[string]uint64 `json:"by_status"`
		}
		Datagrams struct {
			Sent, Received uint64
			KernelDrops    uint64 `json:"kernel_drops"`
			MatchedByKind  Kinds  `json:"matched_by_kind"`
		}
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.Complete, c.Answered, c.Records = s.Targets.ByStatus["ok"], s.Servers, s.Records
	c.Sent, c.Received, c.Drops = s.Datagrams.Sent, s.Datagrams.Received, s.Datagrams.KernelDrops
	c.Kinds, c.PeakRSS = s.Datagrams.MatchedByKind, s.PeakRSS
	if !s.Consistent {
		c.problem("the sums of the summary do not add up")
	}
	if c.Answered != c.Records {
		c.problem("%d servers answered, and there are %d records", c.Answered, c.Records)
	}
	return nil
}
