package bench

import (
	"cmp"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// link is a path in a network namespace of its own. It carries a limited number of
// requests per second, and loses requests at random. It loses no replies.
type link struct {
	carries int     // requests per second; 0: any number
	loss    float64 // from 0 to 1
}

// commands returns the commands that make the loopback interface of a new namespace
// a link. Requests are the datagrams that are not sent to 127.0.0.1. The firewall
// counts packets, so no packet may carry two requests.
func (l link) commands() []string {
	const drop = "iptables -A INPUT -p udp ! -d 127.0.0.1 -m "
	all := []string{"ip link set lo up", "ip link set dev lo gso_max_segs 1"}
	if l.carries > 0 {
		all = append(all, drop+"hashlimit --hashlimit-name link --hashlimit-above "+strconv.Itoa(l.carries)+
			"/sec --hashlimit-burst "+strconv.Itoa(l.carries/100)+" -j DROP")
	}
	if l.loss > 0 {
		all = append(all, fmt.Sprintf(drop+"statistic --mode random --probability %g -j DROP", l.loss))
	}
	return all
}

// run measures a workload over the link. It skips the test if this machine can't
// make the link.
func (l link) run(t *testing.T, c Config) Result {
	t.Helper()
	var r Result
	var none, err error
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with its namespace
		if none = l.enter(); none == nil {
			r, err = Run(c)
		}
	}()
	<-done
	if none != nil {
		t.Skipf("NO LINK THAT DROPS: this needs root, network namespaces, ip and iptables: %v", none)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log(line(0, &r))
	return r
}

// enter moves the calling thread into a new network namespace with the link.
// Processes that the thread starts are in that namespace too.
func (l link) enter() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return err
	}
	for _, command := range l.commands() {
		words := strings.Fields(command)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, out)
		}
	}
	return nil
}

// findRate returns c with a scan that finds its rate, on a path that drops
// datagrams.
func findRate(c Config) Config {
	c.FindRate, c.Dropping = true, true
	return c
}

// pacedRate returns how many datagrams per second the scan sent while it was sending.
func (r *Result) pacedRate() float64 { return float64(r.Paced.Sent) / r.Paced.Took.Seconds() }

// barsOfPath measures scans that find their rate over links that drop requests. It
// compares their time and rates with what the links allow.
func barsOfPath(t *testing.T) {
	c := findRate(Realistic(*targetsFlag))
	c.Limit = 10 * time.Minute // the narrowest link takes two minutes at best
	for _, l := range []link{{carries: 20_000}, {loss: 0.05}, {20_000, 0.05}, {12_000, 0.03}, {carries: 35_000}, {carries: 6000}} {
		name := fmt.Sprintf("%d/s, %.0f %% loss", l.carries, 100*l.loss)
		r := l.run(t, c)
		carries := cmp.Or(l.carries, int(c.Rate))
		// Each live server takes four datagrams, each dead target three.
		datagrams := 4*r.Live + 3*(uint64(c.Targets())-r.Live)
		ideal := float64(datagrams) / float64(carries) / (1 - l.loss)
		hold(t,
			bar{what: name + ": time, times the ideal", got: r.Elapsed.Seconds() / ideal, limit: 1.6},
			bar{what: name + ": live servers complete, %", got: r.complete(), limit: 99.8, least: true},
		)
		if l.carries == 0 {
			hold(t, bar{what: name + ": the rate, of the highest", got: r.pacedRate() / c.Rate, limit: 0.7, least: true})
		}
	}
}

// testSmallPath checks that a scan finds the rate of a link that drops requests.
// The rates are low, so that the link limits them and not this machine.
func testSmallPath(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: with the race detector, this machine is too slow to send, which looks like a path that drops; go test without -short runs it")
	}
	t.Parallel() // most of the time it waits until it may send
	const carries = 2000
	c := findRate(Realistic(1200))
	c.Rate = 8000
	r := link{carries: carries}.run(t, c)
	if rate := r.pacedRate(); rate < carries/2 || rate > 2*carries {
		t.Errorf("%.0f datagrams per second", rate)
	}
	if r.complete() < 97 {
		t.Errorf("%d of %d complete", r.Complete, r.Live)
	}
}
