package bench

import (
	"cmp"
	"fmt"
	"net/netip"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bar is a measured number with the limit that it must meet.
type bar struct {
	what  string
	got   float64
	limit float64
	least bool // got must be at least limit, not at most
}

func (x bar) met() bool {
	if x.least {
		return x.got >= x.limit
	}
	return x.got <= x.limit
}

func (x bar) String() string {
	sign, verdict := "≤", "met"
	if x.least {
		sign = "≥"
	}
	if !x.met() {
		verdict = "NOT MET"
	}
	return fmt.Sprintf("%-50s %9.4g  %s %-7.4g %s", x.what, x.got, sign, x.limit, verdict)
}

// TestBars compares the scan with the ceiling. Without -bars it only checks, on a
// few servers, that both do the same work. With -bars it takes some minutes, and
// nothing else should run on the machine.
func TestBars(t *testing.T) {
	if !*barsFlag {
		if !testing.Short() {
			t.Run("throughput", testSmallThroughput)
		}
		t.Run("sweep", testSmallSweep)
		t.Run("path", testSmallPath)
		return
	}
	t.Logf("%s, %d processors, %s", runtime.Version(), runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly))
	t.Run("throughput", barsOfThroughput)
	t.Run("memory", barsOfMemory)
	t.Run("realistic", barsOfRealistic)
	t.Run("timeouts", barsOfTimeouts)
	t.Run("path", barsOfPath)
	t.Run("sweep", barsOfSweep)
}

// measure runs the workloads in turn, n times, and logs every run.
func measure(t *testing.T, n int, configs ...Config) []Series {
	t.Helper()
	all := make([]Series, len(configs))
	for round := range n {
		for i, c := range configs {
			r := run(t, c)
			t.Log(line(round, &r))
			all[i] = append(all[i], r)
		}
	}
	return all
}

// line describes one run for the log.
func line(round int, r *Result) string {
	fleet := float64(r.FleetUsage.Total())
	return fmt.Sprintf("%d %-14s %7.2f µs/target (user %.2f, system %.2f)", round+1, r.Config.Name(), r.cpu(), r.userTime(), r.systemTime()) +
		fmt.Sprintf("  %7.0f/s  %6.2f s  sent %d received %d in %d+%d calls, drops %d",
			r.rate(), r.seconds(), r.Sent, r.Received, r.Writes, r.Reads, r.Drops) +
		fmt.Sprintf("  complete %d of %d  peak %.1f MB  fleet's share %.2f  file %.1f MB",
			r.Complete, r.Live, r.memory(), fleet/(fleet+float64(r.Usage.Total())), float64(r.FileLen)/1e6)
}

// hold logs the bars, and fails the test if a bar is not met.
func hold(t *testing.T, bars ...bar) {
	t.Helper()
	for _, x := range bars {
		if t.Log(x); !x.met() {
			t.Errorf("not met: %s", x.what)
		}
	}
}

// clients returns the ceiling and the clients that are compared with it: the
// library, and the program as users start it.
func clients(servers int) []Config {
	c := Throughput(servers)
	scan := c.With(Scan, Zstd)
	scan.Profile = *profileFlag
	return []Config{
		c.With(Bare, ""), c.With(Scan, Discard), c.With(Scan, NDJSON), scan,
		c.With(Program, NDJSON), c.With(Program, Zstd),
	}
}

// between returns the bar for a ratio to the bare loop: slow where the loop takes
// 16 µs of CPU a server or more, quick where it takes 7 or less, and in between by a
// straight line. A quick machine does less work in its system calls, so the rest
// counts for more.
func between(bareCPU, quick, slow float64) float64 {
	share := min(max((bareCPU-7)/(16-7), 0), 1)
	return quick + share*(slow-quick)
}

func barsOfThroughput(t *testing.T) {
	all := measure(t, *roundsFlag, clients(*serversFlag)...)
	bare, ndjson, zstd, program, programZstd := all[0], all[2], all[3], all[4], all[5]
	cpu, rate := (*Result).cpu, (*Result).rate
	t.Logf("%-14s %10s %10s %10s %10s %10s %8s", "median of", "µs/server", "user", "system", "of bare's", "servers/s", "peak MB")
	for _, s := range all {
		t.Logf("%-14s %10.2f %10.2f %10.2f %10.2f %10.0f %8.1f", s[0].Config.Name(), s.median(cpu), s.median((*Result).userTime),
			s.median((*Result).systemTime), s.ratio(bare, cpu), s.median(rate), s.median((*Result).memory))
	}
	bareCPU := bare.median(cpu)
	hold(t,
		bar{what: "bare loop, µs of CPU a server", got: bareCPU, limit: 25},
		bar{what: "NDJSON: CPU a server, times the bare loop's", got: ndjson.ratio(bare, cpu), limit: 1.4},
		bar{what: "zstd: CPU a server, times the bare loop's", got: zstd.ratio(bare, cpu), limit: 1.7},
		bar{what: "zstd: servers a second, of the bare loop's", got: zstd.ratio(bare, rate), limit: 0.75, least: true},
		bar{what: "program to NDJSON: CPU a server, times the bare loop's",
			got: program.ratio(bare, cpu), limit: between(bareCPU, 1.35, 1.15)},
		bar{what: "program to zstd: CPU a server, times the bare loop's",
			got: programZstd.ratio(bare, cpu), limit: between(bareCPU, 1.7, 1.4)},
		bar{what: "program to zstd: servers a second, of the bare loop's",
			got: programZstd.ratio(bare, rate), limit: 0.78, least: true},
	)
}

// barsOfMemory measures the memory of the program as users start it.
func barsOfMemory(t *testing.T) {
	s := measure(t, *roundsFlag, Throughput(1<<16).With(Program, Zstd))[0]
	hold(t, bar{what: "65,536 targets: peak RSS, MB", got: s.median((*Result).memory) * 1e6 / (1 << 20), limit: 96})
}

func barsOfRealistic(t *testing.T) {
	s := measure(t, *roundsFlag, Realistic(*targetsFlag))[0]
	hold(t,
		bar{what: "live servers complete, %", got: s.median((*Result).complete), limit: 99.9, least: true},
		bar{what: "seconds", got: s.median((*Result).seconds), limit: 22},
		bar{what: "datagrams sent, for each live server", got: s.median((*Result).datagrams), limit: 5.6},
	)
}

func sweepOf(t *testing.T, network string) Config {
	p, err := netip.ParsePrefix(network)
	if err != nil {
		t.Fatal(err)
	}
	return Sweep(p)
}

func barsOfSweep(t *testing.T) {
	c := sweepOf(t, *halfFlag)
	all := measure(t, *roundsFlag, c.With(Blast, ""), c)
	whole := measure(t, 1, sweepOf(t, *sweepFlag))[0]
	hold(t,
		bar{what: "datagrams a second, of the bare WriteBatch loop's",
			got: all[1].ratio(all[0], (*Result).sendRate), limit: 0.75, least: true},
		bar{what: "live servers found, %", got: whole.median((*Result).complete), limit: 99.9, least: true},
		bar{what: "peak RSS, MB", got: whole.median((*Result).memory), limit: 64},
	)
}

// barsOfTimeouts checks how long scans with learned timeouts take, and how many
// servers they complete.
func barsOfTimeouts(t *testing.T) {
	few, lossy := Realistic(8192), Realistic(8192)
	lossy.Fleet.Loss = 0.02
	all := measure(t, *roundsFlag, lossy, few, Realistic(*targetsFlag))
	loss, clean, many := all[0], all[1], all[2]
	seconds, complete := (*Result).seconds, (*Result).complete
	hold(t,
		bar{what: "8,192 targets, 2 % of replies lost: seconds", got: loss.median(seconds), limit: 3.2},
		bar{what: "live servers complete, %", got: loss.median(complete), limit: 99.9, least: true},
		bar{what: "8,192 targets, nothing lost: seconds", got: clean.median(seconds), limit: 2.6},
		bar{what: "live servers complete, %", got: clean.median(complete), limit: 100, least: true},
		bar{what: "200,000 targets: seconds", got: many.median(seconds), limit: 17},
		bar{what: "live servers complete, %", got: many.median(complete), limit: 99.9, least: true},
		bar{what: "datagrams sent, for each live server", got: many.median((*Result).datagrams), limit: 5.6},
	)
	tail, doubling := Distant(*targetsFlag), Distant(*targetsFlag)
	tail.Fleet.Tail = true
	// The delays double about halfway through the scan.
	doubling.Fleet.Doubled = time.Duration(float64(doubling.Targets()) * 3.7 / doubling.Rate / 2 * float64(time.Second))
	for name, c := range map[string]Config{"tail": tail, "doubling": doubling} {
		fixed := c
		fixed.Timeout = time.Second
		both := measure(t, 1, c, fixed)
		t.Logf("%s: learned %.2f s, fixed %.2f s", name, both[0].median(seconds), both[1].median(seconds))
		hold(t, bar{what: name + ": complete, less than with fixed timeouts, %",
			got: both[1].median(complete) - both[0].median(complete), limit: 0.05})
	}
}

// testSmallThroughput checks that every server is complete, that every record is
// correct, and that all clients exchange the same numbers of datagrams.
func testSmallThroughput(t *testing.T) {
	t.Parallel()
	const servers = 300
	for _, c := range clients(servers) {
		c.Check = c.Loop != Bare
		c.Timeout = 10 * time.Second // a busy machine must not cause retries
		t.Run(c.Name(), func(t *testing.T) {
			t.Parallel() // the program waits for late replies
			r := run(t, c)
			want := Kinds{servers, servers, servers, servers}
			all := r.Complete == servers && r.Live == servers
			if !all || r.Kinds != want || r.Sent != 4*servers || r.Received != 4*servers {
				t.Errorf("%d of %d complete, sent %d, received %d: %+v", r.Complete, r.Live, r.Sent, r.Received, r.Kinds)
			}
			if r.Fleet.Queries != r.Sent || r.Fleet.Replies != r.Received {
				t.Errorf("the fleet has other numbers: %+v", r.Fleet)
			}
			if wantsFile := c.Output == NDJSON || c.Output == Zstd; wantsFile != (r.FileLen > 0) {
				t.Errorf("a file of %d bytes", r.FileLen)
			}
			if r.Usage.Total() <= 0 || r.PeakRSS < 1<<20 || r.Elapsed <= 0 {
				t.Errorf("%+v, %d bytes of memory, %v", r.Usage, r.PeakRSS, r.Elapsed)
			}
		})
	}
}

func testSmallSweep(t *testing.T) {
	t.Parallel()
	c := sweepOf(t, "127.16.0.0/18")
	c.Check, c.Timeout = true, 5*time.Second // also on a busy machine, each server must answer in time
	r := run(t, c)
	if r.Complete != r.Live || r.Live < 100 || r.Live > 230 {
		t.Errorf("%d of %d complete", r.Complete, r.Live)
	}
	if r.Fleet.Nobody != 0 || r.Fleet.Queries != 2*r.Live {
		t.Errorf("the filter let through: %+v", r.Fleet)
	}
	blast := run(t, c.With(Blast, ""))
	if blast.Sent != 1<<14 || blast.Fleet.Queries != blast.Live {
		t.Errorf("blast: sent %d; the fleet saw %d", blast.Sent, blast.Fleet.Queries)
	}
}

func run(t *testing.T, c Config) Result {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

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
	// A busy machine sends in bursts, of which the link drops more, so the rate that the scan
	// finds may be far lower.
	if rate := r.pacedRate(); rate > 2*carries {
		t.Errorf("%.0f datagrams per second", rate)
	}
	if r.complete() < 97 {
		t.Errorf("%d of %d complete", r.Complete, r.Live)
	}
}
