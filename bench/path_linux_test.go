package bench

import (
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
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
	var err error
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with its namespace
		if err = l.enter(); err == nil {
			r, err = Run(c)
		}
	}()
	<-done
	switch err := err.(type) {
	case nil:
	case noLink:
		t.Skipf("NO LINK THAT DROPS: this needs root, network namespaces, ip and iptables: %v", err)
	default:
		t.Fatal(err)
	}
	t.Logf("%s\npath %+v", line(0, &r), r.Path)
	return r
}

// noLink is the error of a machine that can't make a link.
type noLink struct{ error }

// enter moves the calling thread into a new network namespace with the link.
// Processes that the thread starts are in that namespace too.
func (l link) enter() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return noLink{err}
	}
	for _, command := range l.commands() {
		words := strings.Fields(command)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return noLink{fmt.Errorf("%s: %w: %s", command, err, out)}
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

// needed returns how many seconds it takes to send the datagrams of a run at the
// given rate if none is lost: four to each live server, and three to each dead
// target.
func needed(r *Result, perSecond int) float64 {
	dead := uint64(r.Config.Targets()) - r.Live
	return float64(4*r.Live+3*dead) / float64(perSecond)
}

func (r *Result) complete() float64 { return 100 * float64(r.Complete) / float64(r.Live) }

// barsOfPath measures scans that find their rate over links that drop requests. It
// compares their time and rates with what the links allow.
func barsOfPath(t *testing.T) {
	const carries = 20_000
	c := findRate(Realistic(*targetsFlag))
	full := link{carries: carries}.run(t, c)
	lossy := link{loss: 0.05}.run(t, c)
	both := link{carries: carries, loss: 0.05}.run(t, c)
	paced := func(r *Result) float64 { return float64(r.Paced.Sent) / r.Paced.Took.Seconds() / r.Config.Rate }
	hold(t,
		bar{what: "a link that carries 20k: times the ideal time", got: full.Elapsed.Seconds() / needed(&full, carries), limit: 1.3},
		bar{what: "live servers complete, %", got: full.complete(), limit: 99.9, least: true},
		bar{what: "5 % loss at any rate: the rate, of the highest", got: paced(&lossy), limit: 0.8, least: true},
		bar{what: "the rate at the end, of the highest", got: lossy.Path.Now / c.Rate, limit: 0.8, least: true},
		bar{what: "both: the rate at the end, of 20k", got: both.Path.Now / carries, limit: 0.8, least: true},
	)
}

// testSmallPath checks that a scan finds the rate of a link that drops requests.
// The rates are low, so that the link limits them and not this machine.
func testSmallPath(t *testing.T) {
	if testing.Short() {
		t.Skip("NO PATH: with -short (a machine that is too slow to send looks like a path that drops)")
	}
	const carries = 2000
	c := findRate(Realistic(2000))
	c.Rate = 8000
	r := link{carries: carries}.run(t, c)
	if p := &r.Path; p.Carried < carries/2 || p.Carried > 2*carries || p.Now > 2*carries {
		t.Errorf("%+v", *p)
	}
	if r.complete() < 97 {
		t.Errorf("%d of %d complete", r.Complete, r.Live)
	}
}
