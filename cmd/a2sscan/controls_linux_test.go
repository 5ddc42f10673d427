package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

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
	p.wait(p.err, "SIGUSR1: rate turned up from 500/s to 550/s, begun with 500/s")
	p.signal(syscall.SIGQUIT)
	p.wait(p.err, "; nothing was sent yet")
	io.WriteString(p.in, "127.77.1.0/25:"+port+"\n")
	p.in.Close()
	p.wait(p.err, `"phase":"asking"`)
	p.signal(syscall.SIGUSR2)
	p.wait(p.err, "SIGUSR2: rate turned down from 550/s to 495/s, begun with 500/s")
	p.signal(syscall.SIGQUIT)
	p.wait(p.err, `state     scan \x1b[2Jtonight, 0:0`)
	for _, line := range []string{
		" = 1 invalid + 300 duplicate + ", "sent  ",
		"rate      495/s asked after 2 changes from 500/s", "output    " + dir + `/\x1b[31m\u202ered.ndjson, `,
	} {
		p.wait(p.err, line)
	}
	_, rest := p.end(console.ExitOK)
	for line := range strings.Lines(said.String()) {
		if !strings.HasPrefix(line, "a2sscan: ") && !strings.HasPrefix(line, "         ") && !strings.HasPrefix(line, `{"time":`) || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool {
			return !unicode.IsPrint(r)
		}) {
			t.Errorf("said: %q", line)
		}
	}
	for _, has := range []string{"  answered ", "  round trips ", "495/s asked after 2 changes"} {
		if !strings.Contains(rest, has) {
			t.Errorf("no %q in\n%s", has, rest)
		}
	}
	checkChanges(t, out+".summary.json")
}

// checkChanges checks that a summary has both changes of the rate.
func checkChanges(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	var sum struct {
		RateAsked   float64         `json:"rate_asked"`
		RateChanges []ledger.Change `json:"rate_changes"`
	}
	check(t, json.Unmarshal(text, &sum))
	if c := sum.RateChanges; len(c) != 2 || c[0].From != 500 || c[1].To != sum.RateAsked || int(c[1].To+0.5) != 495 {
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
	p.wait(p.err, "SIGUSR2: without a fixed rate the scan governs itself")
	p.wait(p.err, "hint: --rate N")
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
