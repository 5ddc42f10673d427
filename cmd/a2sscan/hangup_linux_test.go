package main

import (
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

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
	p.wait(p.err, "hint: the exclusions stay as they were")
	io.WriteString(p.in, targets(port, "127.68.0.1", "127.68.0.3"))
	p.wait(p.out, `"ip":"127.68.0.3"`)

	write("127.68.0.4\n127.68.0.5\n")
	p.hangUp()
	p.wait(p.err, "exclusions: read again, 4 rules hold") // 0.0.0.0 and the relays are always two of them
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
	args := []string{"scan", "-", "-v", "--order", "input", "--allow-reserved",
		"--cooldown", "0", "--timeout", "1s", "--retries", "0"}
	t.Run("heeded", func(t *testing.T) {
		p := startScan(t, args...)
		// The silent server comes first, so that the scan still waits for it when the
		// other has answered.
		io.WriteString(p.in, targets(port, "127.68.9.9", "127.68.1.1"))
		p.wait(p.out, `"ip":"127.68.1.1"`)
		p.hangUp()
		p.wait(p.err, "a2sscan: interrupted: no new targets, finishing what is open")
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
