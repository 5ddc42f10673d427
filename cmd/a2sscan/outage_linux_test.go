package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"

	"github.com/a2sscan/a2sscan/wire"
)

var outages = flag.Int("outages", 0, "how many times `N` TestOutages has each outage and each firewall, of 20 in its long form; 0: a few of them once")

// testNet is two network namespaces, joined by a virtual cable. In one of them, every
// address of 10.99.0.0/16 is a server; a scan runs in the other.
type testNet struct {
	*testing.T
	do      func(func() error) error // calls a function in the namespace of the scan
	servers *ipv4.PacketConn         // in the namespace of the servers
	names   net.PacketConn           // there, a name server
	asked   atomic.Int64             // requests that came for INFO
	when    int64                    // how many of them cause the event
	event   chan struct{}
}

// serversNet has all servers. The scan has the address scanAddr.
const (
	serversNet = "10.99.0.0/16"
	scanAddr   = "10.98.0.1"
	routeBack  = "ip route add " + serversNet + " via 10.98.0.2"
)

// newTestNet makes the namespaces, which end with the test. It skips the test if this
// machine can't make them.
func newTestNet(t *testing.T) *testNet {
	n := &testNet{T: t, event: make(chan struct{})}
	n.do = inOwnThread(t, "NO OUTAGE WAS TRIED: this needs root, network namespaces, ip and nsenter", n.make)
	t.Cleanup(func() { errors.Join(n.servers.Close(), n.names.Close()) })
	go n.serve()
	go n.serveNames()
	return n
}

func (n *testNet) make() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return err
	}
	theirs, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer theirs.Close()
	if err := commands("ip link set lo up", "ip route add local "+serversNet+" dev lo"); err != nil {
		return err
	}
	c, err := net.ListenPacket("udp4", "0.0.0.0:27015")
	if err != nil {
		return err
	}
	n.servers = ipv4.NewPacketConn(c)
	if n.names, err = net.ListenPacket("udp4", "10.99.0.53:53"); err != nil {
		return err
	}
	c.(*net.UDPConn).SetReadBuffer(1 << 20)
	if err := errors.Join(n.servers.SetControlMessage(ipv4.FlagDst, true), syscall.Unshare(syscall.CLONE_NEWNET)); err != nil {
		return err
	}
	path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), theirs.Fd())
	in := "nsenter --net=" + path + " ip "
	return commands(
		"ip link set lo up",
		"ip link add scan type veth peer name servers netns "+path,
		in+"addr add 10.98.0.2/24 dev servers", in+"link set servers up",
		"ip addr add "+scanAddr+"/24 dev scan", "ip link set scan up", routeBack,
	)
}

// serve answers every request, and causes the event.
func (n *testNet) serve() {
	b := make([]byte, 64)
	for {
		size, to, from, err := n.servers.ReadFrom(b)
		if err != nil {
			return
		}
		if b[0] == '1' { // a request for a list, which has one server
			list := "\xff\xff\xff\xfff\n" + "\x0a\x63\x02\x01\x69\x87" + "\x00\x00\x00\x00\x00\x00"
			n.servers.WriteTo([]byte(list), &ipv4.ControlMessage{Src: to.Dst}, from)
			continue
		}
		req, err := wire.DecodeRequest(b[:size])
		if err != nil {
			continue
		}
		reply := infoReply
		switch req.Kind {
		case wire.KindPlayersRequest:
			reply = wire.AppendPlayers(nil, 0, nil)
		case wire.KindRulesRequest:
			reply = wire.AppendRules(nil, 0, nil)
		default:
			if n.asked.Add(1) == n.when {
				close(n.event)
			}
		}
		n.servers.WriteTo(reply, &ipv4.ControlMessage{Src: to.Dst}, from)
	}
}

// serveNames says that every name has the address 10.99.0.1, and no IPv6 address.
func (n *testNet) serveNames() {
	b := make([]byte, 512)
	for {
		size, from, err := n.names.ReadFrom(b)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(b[:size]) != nil || len(query.Questions) != 1 {
			continue
		}
		q := query.Questions[0]
		reply := dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true}, Questions: query.Questions}
		if q.Type == dnsmessage.TypeA {
			reply.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: [4]byte{10, 99, 0, 1}},
			}}
		}
		if packed, err := reply.Pack(); err == nil {
			n.names.WriteTo(packed, from)
		}
	}
}

// run runs commands in the namespace of the scan.
func (n *testNet) run(all []string) {
	n.Helper()
	if err := n.do(func() error { return commands(all...) }); err != nil {
		n.Error(err)
	}
}

func commands(all ...string) error {
	for _, command := range all {
		words := strings.Fields(command)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, out)
		}
	}
	return nil
}

// start starts a scan of the servers in its namespace.
func (n *testNet) start(ctx context.Context, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	n.Helper()
	cmd, said := exec.CommandContext(ctx, "a2sscan", append([]string{"scan", testServers, "-p", "27015", "--allow-reserved", "--unanswered",
		"--timeout", "1s", "--cooldown", "0", "-r", "1k", "-o", "out.ndjson", "--checkpoint", "checkpoint"}, args...)...), new(bytes.Buffer)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, said, said
	if err := n.do(cmd.Start); err != nil {
		n.Fatal(err)
	}
	return cmd, said
}

// testServers are the servers that are asked: so many that a scan takes two seconds.
const (
	testServers = "10.99.2.0/23"
	inTest      = 512
)

// ended checks the exit code of a scan.
func (n *testNet) ended(cmd *exec.Cmd, said *bytes.Buffer, code int) {
	n.Helper()
	if cmd.Wait(); cmd.ProcessState.ExitCode() != code {
		n.Errorf("exit code %d instead of %d\n%s", cmd.ProcessState.ExitCode(), code, said)
	}
}

// statuses reads the census, in which every server must be once, and returns how many
// have each status. A server that was not asked must be an error.
func (n *testNet) statuses(dir string) map[string]int {
	n.Helper()
	census, err := os.ReadFile(filepath.Join(dir, "out.ndjson"))
	if err != nil {
		n.Fatal(err)
	}
	all, seen := map[string]int{}, map[string]bool{}
	for line := range bytes.Lines(census) {
		var r struct {
			Addr, Status string
			Sent         int
			Errors       map[string]string
		}
		if err := json.Unmarshal(line, &r); err != nil {
			n.Fatal(err)
		}
		if seen[r.Addr] || (r.Sent == 0) != (r.Status == "error" && r.Errors["info"] == "send_failed") {
			n.Errorf("%s", line)
		}
		seen[r.Addr] = true
		all[r.Status]++
	}
	return all
}

// outage is a way to lose the network.
type outage struct {
	name       string
	away, back []string
	args       []string // of the scan
}

var testOutages = []outage{
	{"route", []string{"ip route del " + serversNet}, []string{routeBack}, nil},
	{"link", []string{"ip link set scan down"}, []string{"ip link set scan up", routeBack}, nil},
	{"address", []string{"ip addr del " + scanAddr + "/24 dev scan"}, []string{"ip addr add " + scanAddr + "/24 dev scan", routeBack}, nil},
	{"source", []string{"ip addr del " + scanAddr + "/24 dev scan"}, []string{"ip addr add " + scanAddr + "/24 dev scan", routeBack},
		[]string{"--source", scanAddr}},
}

// forGood is the duration of an outage that --max-outage ends.
const forGood = 24 * time.Hour

// TestOutages: the network of a scan goes away before its first packet, in the middle or
// when nearly all servers were asked. The scan, or the one that resumes it, finds every
// server; and none is silent.
func TestOutages(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: the scans take real seconds")
	}
	t.Parallel()
	whens := []int64{0, inTest / 2, inTest - 1}
	if *outages == 0 {
		for i, o := range testOutages {
			tryOutage(t, o, []time.Duration{time.Second, 200 * time.Millisecond, 3 * time.Second, 200 * time.Millisecond}[i], whens[(i+1)%3])
		}
		tryOutage(t, testOutages[0], forGood, whens[1])
	}
	for range *outages {
		for _, o := range testOutages {
			for _, d := range []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second, 12 * time.Second, forGood} {
				for _, when := range whens {
					tryOutage(t, o, d, when)
				}
			}
		}
	}
}

func tryOutage(t *testing.T, o outage, d time.Duration, when int64) {
	t.Run(fmt.Sprintf("%s/%v/%d", o.name, d, when), func(t *testing.T) {
		t.Parallel()
		n, dir := newTestNet(t), t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		args, code := append(o.args, "--max-outage", "1m"), 0
		if d == forGood {
			args[len(args)-1], code = "1s", 5
		}
		if n.when = when; when == 0 {
			n.run(o.away)
		}
		cmd, said := n.start(ctx, dir, args...)
		if when > 0 {
			select {
			case <-n.event:
			case <-ctx.Done():
				t.Error("the scan asked too few")
			}
			n.run(o.away)
		}
		if code == 0 {
			time.Sleep(d)
			n.run(o.back)
		}
		cmd.Wait()
		ended := cmd.ProcessState.ExitCode()
		if ended != code && !(when == inTest-1 && ended == 0) { // all may have answered before the outage
			n.Errorf("exit code %d instead of %d\n%s", ended, code, said)
		}
		if ended != 0 {
			for _, limit := range [][]string{{"--max-outage", "1s"}, {"--max-runtime", "500ms"}} { // while the network is still away
				cmd, again := n.start(ctx, dir, append(args[:len(args)-2:len(args)-2], limit...)...)
				n.ended(cmd, again, 5)
			}
			n.run(o.back)
			cmd, again := n.start(ctx, dir, args...)
			n.ended(cmd, again, 0)
			said.Write(again.Bytes())
		}
		if all := n.statuses(dir); all["ok"] != inTest || len(all) != 1 {
			t.Errorf("%v\n%s", all, said)
		}
	})
}

// TestFirewalls: a rule refuses half of the servers during the whole scan. The scan finds
// all others, and is complete.
func TestFirewalls(t *testing.T) {
	t.Parallel()
	for range max(*outages, 1) {
		for _, rule := range []string{
			"ip route add prohibit 10.99.3.0/24", "ip route add unreachable 10.99.3.0/24",
			"iptables -A OUTPUT -d 10.99.3.0/24 -j DROP", "iptables -A OUTPUT -d 10.99.3.0/24 -j REJECT",
		} {
			t.Run(rule, func(t *testing.T) {
				t.Parallel()
				n, dir := newTestNet(t), t.TempDir()
				if err := n.do(func() error { return commands(rule) }); err != nil {
					t.Skipf("SKIPPED, THE FIREWALL WAS NOT TRIED: %v", err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				cmd, said := n.start(ctx, dir)
				n.ended(cmd, said, 0)
				if all := n.statuses(dir); all["ok"] != inTest/2 || all["error"] != inTest/2 {
					t.Errorf("%v\n%s", all, said)
				}
			})
		}
	}
}

// TestBoot: a machine that starts has no network yet. A scan that fetches its list, or
// looks up a name, waits for the network, or ends as --max-outage says.
func TestBoot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
		most string
		code int
	}{
		{"master", []string{"--master", "10.99.0.1:27015"}, "1m", 0},
		{"master for good", []string{"--master", "10.99.0.1:27015"}, "500ms", 5},
		{"name", []string{"server.example.org:27015"}, "1m", 0},
		{"name for good", []string{"server.example.org:27015"}, "500ms", 5},
		{"name in a list", []string{"list", "--resolve"}, "1m", 0},
		{"name in a list for good", []string{"list", "--resolve"}, "500ms", 5},
		{"name in a list in order for good", []string{"list", "--resolve", "--order", "input", "--checkpoint", "cp"}, "500ms", 5},
		{"key that is missing", []string{"--master", "web", "--key-file", "missing"}, "1m", 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n, dir := newTestNet(t), t.TempDir()
			n.run([]string{"ip route del " + serversNet})
			for file, text := range map[string]string{"list": "127.0.0.1:9\nserver.example.org:27015\n", "resolv.conf": "nameserver 10.99.0.53\n"} {
				check(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			scan := append([]string{"-m", "sh", "-c", `mount --bind resolv.conf /etc/resolv.conf && exec a2sscan scan "$@"`, "scan",
				"--allow-reserved", "--cooldown", "0", "--max-outage", test.most, "-o", "out.ndjson"}, test.args...)
			cmd := exec.CommandContext(ctx, "unshare", scan...)
			cmd.Dir = dir
			pipe, err := cmd.StderrPipe()
			check(t, errors.Join(err, n.do(cmd.Start)))
			var all []string
			for said := bufio.NewScanner(pipe); said.Scan(); {
				all = append(all, said.Text())
				if strings.Contains(said.Text(), "has been away since") && test.code == 0 {
					n.run([]string{"ip route add default via 10.98.0.2"})
				}
			}
			if cmd.Wait(); cmd.ProcessState.ExitCode() != test.code {
				t.Errorf("exit code %d instead of %d\n%q", cmd.ProcessState.ExitCode(), test.code, all)
			}
			if slices.Contains(test.args, "--checkpoint") {
				n.run([]string{"ip route add default via 10.98.0.2"})
				again := exec.CommandContext(ctx, "unshare", scan...)
				again.Dir = dir
				check(t, n.do(again.Start))
				if err := again.Wait(); err != nil {
					t.Errorf("the scan that resumes this one: %v", err)
				}
				test.code = 0
			}
			if test.code == 0 && n.statuses(dir)["ok"] != 1 {
				t.Errorf("%q", all)
			}
		})
	}
}
