package bench

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/canned"
)

// childEnv is the environment variable that tells a process which role Run has
// started it for.
const childEnv = "A2SSCAN_BENCH"

// The roles of a child process.
const (
	partFleet  = "fleet"
	partClient = "client"
)

// Child does the work of a process that Run has started, and then exits. In any
// other process it does nothing.
func Child() {
	var err error
	switch part := os.Getenv(childEnv); part {
	case "":
		return
	case partFleet:
		err = fleetMain(os.Stdin, os.Stdout)
	case partClient:
		err = clientMain(os.Stdin, os.Stdout)
	default:
		err = fmt.Errorf("%s=%s: no such part", childEnv, part)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is a child process that exchanges JSON with its parent. A fleet ends when
// its input ends, a client when its run is over.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	cancel context.CancelFunc
}

// start starts a child for one role and sends it its task. After limit the child is
// killed.
func start(part string, limit time.Duration, task any) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	p := &process{cmd: exec.CommandContext(ctx, self), cancel: cancel}
	p.cmd.Env = append(os.Environ(), childEnv+"="+part)
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		var out io.Reader
		if out, err = p.cmd.StdoutPipe(); err == nil {
			p.out = json.NewDecoder(out)
			err = p.cmd.Start()
		}
	}
	if err == nil {
		err = json.NewEncoder(p.in).Encode(task)
	}
	if err != nil {
		p.end()
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	return p, nil
}

// end closes the child's input, waits until the child has exited, and returns its
// exit error.
func (p *process) end() error {
	defer p.cancel()
	if p.in != nil {
		p.in.Close()
	}
	if p.cmd.Process == nil {
		return nil
	}
	return p.cmd.Wait()
}

// fleetEnd is the report that a fleet sends when it ends.
type fleetEnd struct {
	Stats fleet.Stats
	Usage Usage
}

// fleetTail is how long a fleet continues after its input has ended, so that it
// reads everything that was sent to it.
const fleetTail = 100 * time.Millisecond

// fleetMain reads a canned.Config from in, runs its fleet and writes the fleet's
// ports to out. When in ends, it writes a fleetEnd.
func fleetMain(in io.Reader, out io.Writer) error {
	var cfg canned.Config
	commands := json.NewDecoder(in)
	if err := commands.Decode(&cfg); err != nil {
		return err
	}
	f, err := canned.New(cfg)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- f.Serve(ctx) }()

	before := usage(Usage{})
	answers := json.NewEncoder(out)
	if err := answers.Encode(f.Numbers()); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, in) // until the parent closes it or dies
	time.Sleep(fleetTail)
	stop()
	if err := <-served; err != nil {
		return err
	}
	return answers.Encode(fleetEnd{f.Stats(), usage(before)})
}

var (
	barsFlag    = flag.Bool("bars", false, "measure in full and hold the ratios against their bars")
	roundsFlag  = flag.Int("rounds", 5, "alternating runs of each client; the median counts")
	serversFlag = flag.Int("servers", 100_000, "servers of a run without delay")
	targetsFlag = flag.Int("targets", 200_000, "targets of the realistic list")
	sweepFlag   = flag.String("sweep", "127.0.0.0/8", "network to sweep once, for its memory and what is found")
	halfFlag    = flag.String("sweep-rounds", "127.0.0.0/11", "network to sweep in alternating runs")
	profileFlag = flag.String("profile", "", "file for the CPU profile of the last scan")
)

// TestMain calls Child first, because Run starts this test binary for its processes.
func TestMain(m *testing.M) {
	Child()
	code := m.Run()
	if programDir != "" {
		os.RemoveAll(programDir)
	}
	os.Exit(code)
}
