package main

import (
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// TestFindPort: ask --find-port finds servers of twelve games by the port at which players
// join, sends one datagram to each port, and ends within twelve seconds.
func TestFindPort(t *testing.T) {
	t.Parallel()
	games := []struct{ join, query uint16 }{
		{28015, 28017}, {2302, 2305}, {27102, 27131}, {8766, 27016}, {8777, 27015}, {17777, 27015},
		{9876, 9877}, {7787, 27165}, {5761, 57561}, {30000, 30001}, {40000, 15637}, {41000, 40999},
	}
	do := inOwnNet(t)
	var wait sync.WaitGroup
	for i, game := range games {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 9, 0, byte(i + 1)}), game.query)
		var servers []*net.UDPConn
		listen := func(at netip.AddrPort) error {
			c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
			servers = append(servers, c)
			return err
		}
		check(t, do(func() error { return listen(addr) }))
		// Another server of the same machine answers at a port nearby.
		check(t, do(func() error { return listen(netip.AddrPortFrom(addr.Addr(), game.join+10)) }))
		for at, c := range servers {
			t.Cleanup(func() { c.Close() })
			info := wire.Info{Protocol: 17, Name: []byte("one"), MaxPlayers: 9, Has: wire.HasGamePort, GamePort: game.join}
			if at > 0 {
				info.Name, info.GamePort = []byte("an\x1bother"), 1
			}
			go answer(c, wire.AppendInfo(nil, &info))
		}
		wait.Go(func() {
			joined := fmt.Sprintf("%v:%d", addr.Addr(), game.join)
			var out, errs strings.Builder
			cmd := exec.CommandContext(t.Context(), "a2sscan", "ask", joined, "--find-port", "--allow-reserved")
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := do(cmd.Start)
			if err == nil {
				err = cmd.Wait()
			}
			want := fmt.Sprintf("%v answers: \"one\", game port %d\n", addr, game.join)
			if err != nil || !strings.HasSuffix(out.String(), want) || !strings.Contains(errs.String(), fmt.Sprintf("queries go to port %d\n", game.query)) {
				t.Errorf("%s: %v\n%s%s", joined, err, out.String(), errs.String())
			}
		})
	}
	wait.Wait()
}

// TestFindPortSilent: if no port answers, each of them gets one INFO request, at most ten
// each second, and the exit code is 6.
func TestFindPortSilent(t *testing.T) {
	t.Parallel()
	do := inOwnNet(t)
	counter := make(chan int, 1)
	check(t, do(func() error {
		all, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_RAW, syscall.IPPROTO_UDP)
		if err != nil {
			return err
		}
		wait := syscall.Timeval{Sec: 2}
		go func() {
			defer syscall.Close(all)
			ports, b := map[uint16]int{}, make([]byte, 200)
			if err := syscall.SetsockoptTimeval(all, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &wait); err != nil {
				t.Error(err)
			}
			for begun := false; ; {
				n, _, err := syscall.Recvfrom(all, b, 0)
				if err == syscall.EINTR || err == syscall.EAGAIN && !begun {
					continue
				}
				if err != nil {
					break
				}
				begun = true
				if n > 28 {
					ports[uint16(b[22])<<8|uint16(b[23])]++
				}
			}
			for port, n := range ports {
				if n != 1 {
					t.Errorf("%d datagrams to port %d", n, port)
				}
			}
			counter <- len(ports)
		}()
		return nil
	}))
	var errs strings.Builder
	cmd := exec.CommandContext(t.Context(), "a2sscan", "ask", "127.9.1.1:7777", "--find-port", "--allow-reserved", "--timeout", "200ms")
	cmd.Stderr = &errs
	check(t, do(cmd.Start))
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 6 || !strings.Contains(errs.String(), "no query port found: ") {
		t.Errorf("exit code %d\n%s", code, errs.String())
	}
	if ports := <-counter; ports < 60 || ports > 90 || !strings.Contains(errs.String(), fmt.Sprintf(" none of the %d ports of 127.9.1.1 answered", ports)) {
		t.Errorf("datagrams to %d ports\n%s", ports, errs.String())
	}
}

// TestFindPortUnsent: if this machine can't send any request, ask does not blame the server.
func TestFindPortUnsent(t *testing.T) {
	t.Parallel()
	do := inOwnNet(t) // without a route to the server
	var errs strings.Builder
	cmd := exec.CommandContext(t.Context(), "a2sscan", "ask", "192.0.2.1:7777", "--find-port", "--allow-reserved", "--timeout", "200ms")
	cmd.Stderr = &errs
	check(t, do(cmd.Start))
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "a2sscan: no request could be sent: ") {
		t.Errorf("exit code %d\n%s", code, errs.String())
	}
}

// inOwnNet makes a network namespace that has only loopback and ends with the test. do
// calls a function in it, one at a time.
func inOwnNet(t *testing.T) (do func(func() error) error) {
	return inOwnThread(t, "NO PORT WAS TRIED: this needs root, network namespaces and ip", func() error {
		if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
			return err
		}
		return commands("ip link set lo up")
	})
}

// inOwnThread calls first in a thread that ends with the test. do calls a function in it, one
// at a time. If first fails, the test is skipped.
func inOwnThread(t *testing.T, skipped string, first func() error) (do func(func() error) error) {
	calls, results := make(chan func() error), make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its namespace
		results <- first()
		for call := range calls {
			results <- call()
		}
	}()
	if err := <-results; err != nil {
		t.Skipf("SKIPPED, %s: %v", skipped, err)
	}
	t.Cleanup(func() { close(calls) })
	var one sync.Mutex
	return func(call func() error) error {
		one.Lock()
		defer one.Unlock()
		calls <- call
		return <-results
	}
}

// answer sends a reply to every datagram until the socket is closed.
func answer(c *net.UDPConn, reply []byte) {
	b := make([]byte, 200)
	for {
		_, from, err := c.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		_, _ = c.WriteToUDPAddrPort(reply, from)
	}
}
