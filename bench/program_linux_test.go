package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

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
