package bench

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// barsOfStart checks how soon the scan of a large list begins: it measures the time
// from the start of the program until its first datagram arrives.
func barsOfStart(t *testing.T) {
	const lines = 10_000_000
	var took []time.Duration
	s := newStarter(t, lines)
	s.build(t)
	for range *roundsFlag {
		took = append(took, s.first(t))
		t.Logf("%.2f s", took[len(took)-1].Seconds())
	}
	slices.Sort(took)
	hold(t, bar{what: "10 million lines, seconds to the first datagram", got: took[len(took)/2].Seconds(), limit: 3})
}

// testSmallStart checks that a datagram for a target of the list arrives. Unlike go
// build, go run links the program only if it has changed.
func testSmallStart(t *testing.T) {
	s := newStarter(t, 1000)
	s.program = []string{"go", "run", mainPackage}
	s.first(t)
}

const mainPackage = "../cmd/a2sscan"

// starter starts the program with a list of addresses. The test listens on all of
// them.
type starter struct {
	program      []string // the command
	list, output string

	sock *net.UDPConn
}

func newStarter(t *testing.T, lines int) *starter {
	t.Helper()
	dir := t.TempDir()
	s := &starter{list: filepath.Join(dir, "list.txt"), output: filepath.Join(dir, "records.ndjson.zst")}
	var err error
	if s.sock, err = net.ListenUDP("udp4", nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.sock.Close() })
	if err := s.write(lines); err != nil {
		t.Fatal(err)
	}
	return s
}

// build builds the program.
func (s *starter) build(t *testing.T) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "a2sscan")
	if out, err := exec.Command("go", "build", "-o", program, mainPackage).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.program = []string{program}
}

// write writes a list of distinct addresses from all of 127.0.0.0/8, with the port
// on which the test listens.
func (s *starter) write(lines int) error {
	f, err := os.Create(s.list)
	if err != nil {
		return err
	}
	defer f.Close()
	port := s.sock.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	b := bufio.NewWriterSize(f, 1<<20)
	for i := range lines {
		host := 1 + i*(1<<24-2)/lines
		addr := netip.AddrFrom4([4]byte{127, byte(host >> 16), byte(host >> 8), byte(host)})
		fmt.Fprintln(b, netip.AddrPortFrom(addr, port))
	}
	return b.Flush()
}

// first makes the program scan one target of the list. It returns the time from the
// start of the program until the datagram to the target arrives.
func (s *starter) first(t *testing.T) time.Duration {
	t.Helper()
	const most = time.Minute
	cmd := exec.Command(s.program[0], append(s.program[1:], "scan", s.list, "--allow-reserved", "--max-targets", "1",
		"--query", "info", "--retries", "0", "--timeout", "100ms", "--cooldown", "0",
		"--max-runtime", most.String(), "-o", s.output, "--force", "-q")...)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = s.sock.SetReadDeadline(start.Add(most))
	_, err := s.sock.Read(make([]byte, 64))
	took := time.Since(start)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	return took
}
