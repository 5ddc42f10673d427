package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
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
	t.Cleanup(served(fl))
	return fl.Config(), strconv.Itoa(int(fl.Config().Ports[0]))
}

// served lets a fleet answer until stop is called.
func served(fl *fleet.Fleet) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		fl.Serve(ctx)
	}()
	return func() {
		cancel()
		<-done
		fl.Close()
	}
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
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
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
// including those that were not read.
func TestInterruptRest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sum.json")
	p := startScan(t, "scan", "-v", "127.65.16.0/20", "-p", "27470", "--allow-reserved", "--timeout", "600ms",
		"-r", "20", "--status", "json", "--summary", path)
	p.wait(p.err, `"sent_rate":`) // printed a second later, or more on a busy machine; all targets take 10 minutes
	p.interrupt()
	p.wait(p.err, "interrupt again to end at once")
	_, errs := p.end(console.ExitInterrupted)
	l := readSummary(t, path).Targets
	if l.Unread == 0 || l.Finished+l.Left() != 4096 {
		t.Errorf("%v", l)
	}
	p.said(errs, `"message":"interrupted: `+console.Grouped(4096-l.Finished)+` of 4,096 targets left unfinished"`)
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

func (p *process) hangUp() {
	p.Helper()
	check(p, p.cmd.Process.Signal(syscall.SIGHUP))
}

// targets returns a list of servers: ips, all with the same port.
func targets(port string, ips ...string) string {
	return strings.Join(ips, ":"+port+"\n") + ":" + port + "\n"
}

// TestHangup changes the exclusions of a running scan. If a file is bad, the old
// exclusions stay in force. A good file applies to the targets that follow.
func TestHangup(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix("127.68.0.0/29"),
		Kinds: []fleet.Kind{fleet.Source}})
	path := filepath.Join(t.TempDir(), "exclude.txt")
	write := func(text string) {
		check(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("127.68.0.1\n127.68.0.6\n")
	p := startScan(t, "scan", "-", "-v", "--order", "input", "--allow-reserved", "--cooldown", "0", "--exclude-file", path)
	io.WriteString(p.in, targets(port, "127.68.0.1", "127.68.0.2"))
	p.wait(p.out, `"ip":"127.68.0.2"`)

	write("127.68.0.2\nnonsense\n")
	p.hangUp()
	p.wait(p.err, `exclude.txt:2: not an IPv4 address: "nonsense"`)
	p.wait(p.err, "hint: the old exclusions still apply")
	io.WriteString(p.in, targets(port, "127.68.0.1", "127.68.0.3"))
	p.wait(p.out, `"ip":"127.68.0.3"`)

	write("127.68.0.4\n127.68.0.5\n")
	p.hangUp()
	p.wait(p.err, "exclusions: read again, and now have 4 rules") // 0.0.0.0 and the relays are always two of them
	io.WriteString(p.in, targets(port, "127.68.0.4", "127.68.0.5", "127.68.0.6"))
	p.wait(p.out, `"ip":"127.68.0.6"`)
	p.in.Close()
	out, errs := p.end(console.ExitOK)
	if out != "" {
		t.Errorf("asked although excluded: %s", out)
	}
	p.said(errs, `(?m) 7 read = 3 excluded \+ 1 duplicate `)
	p.said(errs, `(?m)^ +excluded +3 by .*/exclude\.txt$`)
}

// catchHangup lets child processes receive SIGHUP even if the test runs under
// nohup: children inherit an ignored signal, but not a caught one.
func catchHangup(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(signals) })
}

// TestHangupEnds: without exclusion files, a scan that receives SIGHUP starts no new
// targets and finishes those in progress. A terminal session that closes may send the
// signal twice. Under nohup the scan ignores it.
func TestHangupEnds(t *testing.T) {
	t.Parallel()
	catchHangup(t)
	_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix("127.68.1.0/29"),
		Kinds: []fleet.Kind{fleet.Source}})
	// On a busy machine, a server may seem silent. With --unanswered it has a record, too.
	args := []string{"scan", "-", "-v", "--order", "input", "--allow-reserved", "--unanswered",
		"--cooldown", "0", "--timeout", "1s", "--retries", "0"}
	t.Run("heeded", func(t *testing.T) {
		p := startScan(t, args...)
		// The silent server comes first, so that the scan still waits for it when the
		// other has answered.
		io.WriteString(p.in, targets(port, "127.68.9.9", "127.68.1.1"))
		p.wait(p.out, `"ip":"127.68.1.1"`)
		p.hangUp()
		p.wait(p.err, "a2sscan: interrupted: starting no new targets, finishing targets in progress")
		p.hangUp()
		_, errs := p.end(console.ExitInterrupted)
		p.said(errs, `(?m) 2 finished \+ 0 unfinished$`)
	})
	t.Run("ignored", func(t *testing.T) {
		p := startCommand(t, "sh", append([]string{"-c", `trap "" HUP; exec a2sscan "$@"`, "sh"}, args...)...)
		io.WriteString(p.in, targets(port, "127.68.1.2"))
		p.wait(p.out, `"ip":"127.68.1.2"`)
		p.hangUp()
		io.WriteString(p.in, targets(port, "127.68.1.3"))
		p.wait(p.out, `"ip":"127.68.1.3"`)
		p.in.Close()
		p.end(console.ExitOK)
	})
}

// TestHangupElsewhere: SIGHUP also ends the commands fleet and ask properly.
func TestHangupElsewhere(t *testing.T) {
	t.Parallel()
	catchHangup(t)
	p := startCommand(t, "a2sscan", "fleet", "--network", "127.68.2.0/30", "-p", "0", "--for", "50s")
	p.wait(p.err, "127.68.2.0/30")
	p.hangUp()
	p.end(console.ExitOK)

	silent, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 68, 9, 9)})
	check(t, err)
	defer silent.Close()
	p = startCommand(t, "a2sscan", "ask", silent.LocalAddr().String(), "--timeout", "40s")
	if _, _, err := silent.ReadFrom(make([]byte, 100)); err != nil { // from here on, ask handles the signal
		t.Fatal(err)
	}
	p.hangUp()
	p.end(console.ExitInterrupted)
}

func (p *process) signal(s syscall.Signal) {
	p.Helper()
	check(p, p.cmd.Process.Signal(s))
}

// TestControls: each signal changes the rate of a running scan or makes the scan print
// its state, and the scan continues. Hostile lines, file names and scan IDs in the
// messages do no harm to a terminal.
func TestControls(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix("127.77.1.0/25"),
		Kinds: []fleet.Kind{fleet.Source}})
	dir := t.TempDir()
	out := filepath.Join(dir, "\x1b[31m\u202ered.ndjson")
	p := startScan(t, "scan", "-", "-v", "--allow-reserved", "--cooldown", "0", "--timeout", "100ms",
		"-r", "500", "-o", out, "--scan-id", "\x1b[2Jtonight", "--status", "json")
	var said strings.Builder
	p.err = bufio.NewReader(io.TeeReader(p.err, &said))

	io.WriteString(p.in, strings.Repeat("127.77.1.1:"+port+"\n", 300)+"\x1b[2Jno server\n")
	p.wait(p.err, "not an IPv4 address") // it has read this far, and waits for more
	p.signal(syscall.SIGUSR1)
	p.wait(p.err, "SIGUSR1: the rate goes from 500/s to 550/s; the scan began with 500/s")
	p.signal(syscall.SIGQUIT)
	p.wait(p.err, "; nothing was sent yet")
	io.WriteString(p.in, "127.77.1.0/25:"+port+"\n")
	p.in.Close()
	p.wait(p.err, `"phase":"asking"`)
	p.signal(syscall.SIGUSR2)
	p.wait(p.err, "SIGUSR2: the rate goes from 550/s to 495/s; the scan began with 500/s")
	p.signal(syscall.SIGQUIT)
	p.wait(p.err, `"message":"state: scan \\x1b[2Jtonight, 0:0`)
	for _, line := range []string{
		" = 1 invalid + 300 duplicate + ", `"message":"sent: `,
		`"message":"rate: 500/s at first, 495/s after 2 changes`, `"message":"output: ` + dir + `/\\x1b[31m\\u202ered.ndjson, `,
	} {
		p.wait(p.err, line)
	}
	_, rest := p.end(console.ExitOK)
	for line := range strings.Lines(said.String()) {
		if !strings.HasPrefix(line, `{"time":`) || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool {
			return !unicode.IsPrint(r)
		}) {
			t.Errorf("said: %q", line)
		}
	}
	for _, has := range []string{`"first_answers":{`, `"round_trips":{`, `"rate_changes":[{`} {
		if !strings.Contains(rest, has) {
			t.Errorf("no %q in\n%s", has, rest)
		}
	}
	sum := readSummary(t, out+".summary.json")
	if c := sum.Changes; len(c) != 2 || c[0].From != 500 || c[1].To != *sum.RateAsked || int(c[1].To+0.5) != 495 {
		t.Errorf("%+v", sum)
	}
}

// TestControlsGoverned: a scan without a rate controls its rate itself and reports
// that.
func TestControlsGoverned(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix("127.77.2.0/30")})
	p := startScan(t, "scan", "-", "--order", "input", "--allow-reserved", "--cooldown", "0", "-r", "0", "-q")
	io.WriteString(p.in, "127.77.2.1:"+port+"\n")
	p.wait(p.out, `"ip":"127.77.2.1"`)
	p.signal(syscall.SIGUSR2)
	p.wait(p.err, "SIGUSR2 is ignored, because this scan chooses its own rate")
	p.wait(p.err, "hint: to change the rate with signals")
	// The counts are published ten times a second, so the state right after the
	// record may still be that of the start.
	for state := ""; !strings.Contains(state, "waiting: the target list"); {
		p.signal(syscall.SIGQUIT)
		state = p.wait(p.err, "state     scan")
		p.wait(p.err, "rate      as fast as possible")
		p.wait(p.err, "output    ")
	}
	p.in.Close()
	p.end(console.ExitOK)
}

// TestCatOpen: cat ends when it has printed enough records, or when nobody reads its output,
// even if the program that writes its input waits.
func TestCatOpen(t *testing.T) {
	t.Parallel()
	const record = `{"schema":1,"ip":"192.0.2.1","port":1,"addr":"192.0.2.1:1","status":"ok"}` + "\n"
	p := startScan(t, "cat", "-", "-n", "2", "--format", "json")
	io.WriteString(p.in, strings.Repeat(record, 3))
	if out, errs := p.end(0); out != record+record || errs != "" {
		t.Errorf("%s%s", out, errs)
	}
	cmd := exec.CommandContext(p.ctx, "a2sscan", "cat", "-", "-f", "addr", "--format", "csv")
	in, err := cmd.StdinPipe()
	check(t, err)
	out, to, err := os.Pipe()
	check(t, err)
	cmd.Stdout = to
	check(t, cmd.Start())
	check(t, to.Close())
	io.WriteString(in, record)
	for r, want := bufio.NewReader(out), "192.0.2.1:1\n"; ; {
		if line, err := r.ReadString('\n'); err != nil || line == want {
			check(t, err)
			break
		}
	}
	check(t, out.Close())
	io.WriteString(in, record)
	if cmd.Wait(); cmd.ProcessState.ExitCode() != console.ExitPipe {
		t.Errorf("%v", cmd.ProcessState)
	}
}
