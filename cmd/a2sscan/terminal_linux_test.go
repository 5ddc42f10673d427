package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/transcript"
	"github.com/a2sscan/a2sscan/scanner"
)

// terminalPair opens a terminal that has the given number of columns. What is written
// to tty can be read from ours.
func terminalPair(t *testing.T, columns uint16) (ours, tty *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	check(t, err)
	t.Cleanup(func() { ours.Close() })
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 25, Col: columns})
	}
	check(t, err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	check(t, err)
	return ours, tty
}

// watchFor reads what a terminal shows. It closes seen when the text contains
// words. At the end it returns all of the text.
func watchFor(r io.Reader, words string, seen chan<- struct{}) string {
	var all strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		all.Write(buf[:n])
		if seen != nil && strings.Contains(all.String(), words) {
			close(seen)
			seen = nil
		}
		if err != nil { // EIO: the other end is closed
			return all.String()
		}
	}
}

// TestStalledPipe reads nothing from standard output until the status line shows that
// the scan waits for the output. The kernel drops no datagram meanwhile. Once the test
// reads the pipe, a complete record of every server arrives. (What limited the rate
// most depends on the machine, so the tests of the scanner check that, with a clock of
// their own.)
func TestStalledPipe(t *testing.T) { // not parallel: others at full rate starve it
	const servers = 1 << 14
	network := netip.MustParsePrefix("127.72.0.0/18")
	_, port := serve(t, fleet.Config{Network: network, Kinds: []fleet.Kind{fleet.Source}})
	screen, tty := terminalPair(t, 400)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "a2sscan", "scan", network.String(), "-p", port, "--allow-reserved",
		"--query", "info", "--rate", "10k", "--retries", "5", "--cooldown", "0")
	cmd.Stderr = tty
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	tty.Close()
	waits, shown := make(chan struct{}), make(chan string, 1)
	go func() { shown <- watchFor(screen, "waiting: the output", waits) }()

	select {
	case <-waits:
	case text := <-shown:
		t.Fatalf("the scan ended without waiting for its output:\n%s", text)
	}
	records := 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(`"status":"ok"`)) {
			records++
		}
	}
	text := <-shown
	if err := cmd.Wait(); err != nil || lines.Err() != nil || records != servers {
		t.Errorf("%v, %v, %d of %d servers whole:\n%s", err, lines.Err(), records, servers, text)
	}
	if strings.Contains(text, "DROPS") || strings.Contains(text, "kernel drops") {
		t.Errorf("drops:\n%s", text)
	}
}

// TestStalledReader: the second signal ends a scan even if the reader of its output has
// stopped, and the scan reports how many records the reader did not take.
func TestStalledReader(t *testing.T) {
	t.Parallel()
	network := netip.MustParsePrefix("127.72.64.0/18")
	_, port := serve(t, fleet.Config{Network: network, Kinds: []fleet.Kind{fleet.Source}})
	p := startScan(t, "scan", network.String(), "-p", port, "--allow-reserved",
		"--query", "info", "--rate", "20k", "--cooldown", "0", "--status", "json")
	p.wait(p.err, `"waiting":"output"`)
	p.signal(syscall.SIGTERM)
	p.wait(p.err, "interrupted: starting no new targets")
	p.signal(syscall.SIGTERM)
	text := p.wait(p.err, "the reader of the output stopped")
	p.said(text, `"message":"interrupted: the reader of the output stopped reading, and did not read the last [\d,]+ records"}\n$`)
	p.cmd.Wait() // nothing was read
	if code := p.cmd.ProcessState.ExitCode(); code != console.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// TestSignalAtTheEnd: a signal that arrives after the scan has ended does not kill
// the program while it reports.
func TestSignalAtTheEnd(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix("127.72.128.0/30"), Kinds: []fleet.Kind{fleet.Source}})
	summary := filepath.Join(t.TempDir(), "summary")
	check(t, syscall.Mkfifo(summary, 0o600))
	pipe := fullPipe(t, summary)
	p := startScan(t, "scan", "127.72.128.1:"+port, "--allow-reserved", "--cooldown", "0", "--status", "json", "--summary", summary)
	p.wait(p.err, `"phase":"ended"`) // the pipe has no room for the summary, so the program waits
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGHUP} {
		p.signal(s)
	}
	text := bufio.NewReader(pipe)
	for found := false; !found; {
		line, err := text.ReadString('\n')
		check(t, err)
		found = strings.Contains(line, `"ended": "complete"`)
	}
	go text.WriteTo(io.Discard)
	p.end(console.ExitOK)
}

// fullPipe opens a named pipe for reading, and fills it with empty lines.
func fullPipe(t *testing.T, name string) *os.File {
	t.Helper()
	pipe, err := os.OpenFile(name, os.O_RDWR, 0)
	check(t, err)
	t.Cleanup(func() { pipe.Close() })
	size, err := unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, 4096)
	check(t, err)
	if _, err := pipe.Write(bytes.Repeat([]byte("\n"), size)); err != nil {
		t.Fatal(err)
	}
	return pipe
}

// TestInvisible: every command that shows a record on a terminal shows invisible
// characters as escapes, so that names which look the same are the same. In files
// and pipes these characters are unchanged.
func TestInvisible(t *testing.T) {
	hex := filepath.Join(t.TempDir(), "capture.hex")
	// The name of this rule is a, U+FEFF, U+200B, b.
	check(t, os.WriteFile(hex, []byte("ffffffff45 0100 61efbbbfe2808b6200 3100\n"), 0o600))
	const raw, shown = "\"a\ufeff\u200bb\"", `"a\ufeff\u200bb"`
	piped, err := exec.Command("a2sscan", "decode", hex).Output()
	if err != nil || !strings.Contains(string(piped), raw) {
		t.Errorf("piped: %v, %s", err, piped)
	}
	ours, tty := terminalPair(t, 400)
	cmd := exec.CommandContext(t.Context(), "a2sscan", "decode", hex)
	cmd.Stdout = tty
	check(t, cmd.Run())
	tty.Close()
	if got := watchFor(ours, "", nil); !strings.Contains(got, shown) || strings.Count(got, "\n") != 1 {
		t.Errorf("shown: %q", got)
	}
}

// TestVerdictLast: on a terminal, ask repeats the verdict below the datagrams and the
// record, behind which the first one has scrolled away.
func TestVerdictLast(t *testing.T) {
	target := netip.MustParseAddrPort("127.0.0.1:27015")
	s := &transcript.Session{Target: target, Width: 80, Result: &scanner.Result{Addr: target, Status: scanner.StatusNoReply},
		Verdict: transcript.Verdict{Word: "silent", Text: []string{"no answer at all"}}}
	ours, theirs := terminalPair(t, 80)
	printSession(&app{out: &results{w: theirs}}, s, &askFlags{})
	theirs.Close()
	b, err := io.ReadAll(ours) // the terminal gives it in pieces, and then EIO
	shown := strings.ReplaceAll(string(b), "\r", "")
	if !strings.HasPrefix(shown, "verdict: silent\n- no answer") || !strings.HasSuffix(shown, "}\n\nverdict: silent\nno answer at all\n") {
		t.Errorf("%v: %s", err, shown)
	}
}
