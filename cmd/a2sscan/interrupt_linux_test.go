package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

// serve runs a fleet until the test ends. If cfg has no ports, the fleet uses a free
// port. serve returns the fleet's final configuration, and its port.
func serve(t *testing.T, cfg fleet.Config) (_ fleet.Config, port string) {
	t.Helper()
	if cfg.Ports == nil {
		cfg.Ports = []uint16{0}
	}
	fl, err := fleet.New(cfg)
	check(t, err)
	serveFleet(t, fl)
	return fl.Config(), strconv.Itoa(int(fl.Config().Ports[0]))
}

// serveFleet lets a fleet answer until the test ends.
func serveFleet(t *testing.T, fl *fleet.Fleet) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		fl.Serve(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		fl.Close()
	})
}

// process is a scan in a process of its own. The test holds its standard input,
// output and error.
type process struct {
	*testing.T
	ctx      context.Context
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err *bufio.Reader
}

func startScan(t *testing.T, args ...string) *process {
	t.Helper()
	return startCommand(t, "a2sscan", args...)
}

func startCommand(t *testing.T, name string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	p := &process{T: t, ctx: ctx, cmd: exec.CommandContext(ctx, name, args...)}
	p.in, _ = p.cmd.StdinPipe()
	out, _ := p.cmd.StdoutPipe()
	errs, _ := p.cmd.StderrPipe()
	p.out, p.err = bufio.NewReader(out), bufio.NewReader(errs)
	check(t, p.cmd.Start())
	return p
}

// wait reads lines until one contains words, and returns that line.
func (p *process) wait(r *bufio.Reader, words string) string {
	p.Helper()
	var all strings.Builder
	for {
		line, err := r.ReadString('\n')
		all.WriteString(line)
		if strings.Contains(line, words) {
			return line
		}
		if err != nil {
			p.Fatalf("%v before a line with %q:\n%s", err, words, all.String())
		}
	}
}

func (p *process) interrupt() {
	p.Helper()
	check(p, p.cmd.Process.Signal(os.Interrupt))
}

// end checks the exit code and returns the rest of standard output and standard
// error.
func (p *process) end(code int) (out, errs string) {
	p.Helper()
	o, _ := io.ReadAll(p.out)
	e, _ := io.ReadAll(p.err)
	p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.Errorf("exit code %d, want %d\n%s", got, code, e)
	}
	return string(o), string(e)
}

func (p *process) said(text, pattern string) {
	p.Helper()
	if !regexp.MustCompile(pattern).MatchString(text) {
		p.Errorf("no match for %q in\n%s", pattern, text)
	}
}

// TestInterruptTwice: the second signal does not wait for a silent server.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix("127.65.1.0/30"),
		Kinds: []fleet.Kind{fleet.Source}})
	p := startScan(t, "scan", "-", "-v", "--order", "input", "--allow-reserved", "--timeout", "10m")
	// The silent server comes first, so that the scan still waits for it when the other
	// has answered.
	io.WriteString(p.in, "127.65.9.9:"+port+"\n127.65.1.1:"+port+"\n")
	p.wait(p.out, `"ip":"127.65.1.1"`)
	p.interrupt()
	p.wait(p.err, "interrupt again to end at once")
	p.interrupt()
	out, errs := p.end(console.ExitInterrupted)
	p.said(errs, `(?m) 1 finished \+ 1 unfinished$`)
	if out != "" {
		t.Errorf("written after the end: %s", out)
	}
}

// TestInterruptRest: the unfinished targets are all that remain of the list,
// including those that were not read. --max-runtime has no effect on a scan that
// was interrupted before.
func TestInterruptRest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sum.json")
	p := startScan(t, "scan", "-v", "127.65.16.0/20", "-p", "27470", "--allow-reserved", "--timeout", "600ms",
		"-r", "300", "--max-runtime", "1500ms", "--status", "json", "--summary", path)
	p.wait(p.err, `"sent_rate":`) // printed a second later
	p.interrupt()
	p.wait(p.err, "interrupt again to end at once")
	_, errs := p.end(console.ExitInterrupted)
	text, err := os.ReadFile(path)
	check(t, err)
	var sum struct {
		Targets ledger.Counts `json:"targets"`
	}
	check(t, json.Unmarshal(text, &sum))
	l := sum.Targets
	if l.N("unread") == 0 || l.N("finished")+l.Left() != 4096 {
		t.Errorf("%v", l)
	}
	rest := console.Grouped(4096 - l.N("finished"))
	p.said(errs, `(?m)^ +ledger +4,096 = .*`+rest+" unfinished$")
	p.said(errs, `(?m)^a2sscan: interrupted: `+rest+` of 4,096 targets were not finished$`)
}

// TestInterruptEarly: a scan that is interrupted before its first packet leaves no
// file behind. At this rate the first packet would be sent after a hundred seconds.
func TestInterruptEarly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.ndjson")
	p := startScan(t, "scan", "127.65.2.1:27105", "--allow-reserved", "-r", "0.01", "-o", path)
	for {
		if _, err := os.Stat(path); err == nil {
			break
		}
		select {
		case <-p.ctx.Done():
			t.Fatal("the file was never created")
		case <-time.After(time.Millisecond): // polling is the only way to notice a new file
		}
	}
	p.interrupt()
	_, errs := p.end(console.ExitInterrupted)
	p.said(errs, `(?m)^a2sscan: interrupted before the first packet$`)
	for _, name := range []string{path, path + ".summary.json"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was left behind", name)
		}
	}
}

// TestInterruptLoading: a signal ends a scan that is reading its list, and no file
// is left behind.
func TestInterruptLoading(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.ndjson")
	p := startScan(t, "scan", "-", "--allow-reserved", "-o", path)
	// The format of a list is detected from its first 4096 bytes.
	io.WriteString(p.in, strings.Repeat("127.65.3.1:27105\n", 300)+"no server\n")
	p.wait(p.err, "not an IPv4 address") // it has read this far, and waits for more
	p.interrupt()
	_, errs := p.end(console.ExitInterrupted)
	p.said(errs, "(?m)^a2sscan: interrupted before the first packet$")
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was left behind")
	}
}
