package bench

import (
	"fmt"
	"math"
	"runtime"
	"strings"
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
		t.Run("throughput", testSmallThroughput)
		t.Run("trips", testSmallTrips)
		t.Run("sweep", testSmallSweep)
		t.Run("start", testSmallStart)
		for name, waits := range map[string]func(*testing.T){
			"realistic": testSmallRealistic, "timeouts": testSmallTimeouts, "path": testSmallPath, "drops": testSmallDrops,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				waits(t)
			})
		}
		return
	}
	t.Logf("%s, %d processors, %s", runtime.Version(), runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly))
	t.Run("server", barsOfServer)
	t.Run("throughput", barsOfThroughput)
	t.Run("compression", barsOfCompression)
	t.Run("realistic", barsOfRealistic)
	t.Run("timeouts", barsOfTimeouts)
	t.Run("path", barsOfPath)
	t.Run("trips", barsOfTrips)
	t.Run("sweep", barsOfSweep)
	t.Run("drops", barsOfDrops)
	t.Run("pacing", barsOfPacing)
	t.Run("start", barsOfStart)
}

// measure runs n rounds and logs every run.
func measure(t *testing.T, n int, configs ...Config) []Series {
	t.Helper()
	all, err := Rounds(n, configs, func(round int, r Result) { t.Log(line(round, &r)) })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// line describes one run for the log.
func line(round int, r *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %-8s %7.2f µs/target (user %.2f, system %.2f)", round+1, r.Config.Name(),
		us(r.CPU()), us(r.Usage.User/time.Duration(r.Config.Targets())),
		us(r.Usage.System/time.Duration(r.Config.Targets())))
	fmt.Fprintf(&b, "  %7.0f/s  %6.2f s  sent %d received %d in %d+%d calls, drops %d",
		r.Rate(), r.Elapsed.Seconds(), r.Sent, r.Received, r.Writes, r.Reads, r.Drops)
	fmt.Fprintf(&b, "  complete %d of %d  peak %.1f MB  fleet's share %.2f  file %.1f of %.1f MB",
		r.Complete, r.Live, memory(r), r.FleetShare(), float64(r.FileLen)/1e6, float64(r.Bytes)/1e6)
	return b.String()
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// hold logs the bars, and fails the test if a bar is not met.
func hold(t *testing.T, bars ...bar) {
	t.Helper()
	for _, x := range bars {
		if t.Log(x); !x.met() {
			t.Errorf("not met: %s", x.what)
		}
	}
}

// logParts logs the user and the system time per server separately. Microseconds
// differ threefold from machine to machine, but ratios differ less. It logs the
// ratio of user time to the time for copying and scanning the bytes of a server,
// and that of system time to the system time of the first series, the bare loop.
func logParts(t *testing.T, all []Series) {
	t.Helper()
	floor := floorTime()
	t.Logf("copying and scanning the bytes of a server: %.2f µs", us(floor))
	for _, x := range all {
		user, system := x.median(userTime), x.median(systemTime)
		t.Logf("%-8s user %5.2f µs a server, %5.2f times copying and scanning; system %5.2f µs, %.2f times the bare loop's",
			x[0].Config.Name(), user/1e3, user/float64(floor), system/1e3, system/all[0].median(systemTime))
	}
}

func barsOfThroughput(t *testing.T) {
	all := measure(t, *roundsFlag, clients(*serversFlag)...)
	ceiling, discard, ndjson, zstd := all[0], all[1], all[2], all[3]
	t.Logf("servers/s: bare %.0f, discard %.0f, ndjson %.0f, zstd %.0f",
		ceiling.Rate(), discard.Rate(), ndjson.Rate(), zstd.Rate())
	t.Logf("discard: CPU %.2f times the bare loop's", discard.CPURatio(ceiling))
	logParts(t, all)
	hold(t,
		bar{what: "bare loop, µs of CPU a server", got: us(ceiling.CPU()), limit: 25},
		bar{what: "NDJSON: CPU a server, times the bare loop's", got: ndjson.CPURatio(ceiling), limit: 1.4},
		bar{what: "zstd: CPU a server, times the bare loop's", got: zstd.CPURatio(ceiling), limit: 1.7},
		bar{what: "zstd: servers a second, of the bare loop's",
			got: zstd.RateRatio(ceiling), limit: 0.75, least: true},
	)
}

func barsOfRealistic(t *testing.T) {
	s := measure(t, *roundsFlag, Realistic(*targetsFlag))[0]
	hold(t,
		bar{what: "live servers complete, %", got: 100 - 100*s.median(unanswered), limit: 99.9, least: true},
		bar{what: "seconds", got: s.median(seconds), limit: 22},
		bar{what: "datagrams sent, for each live server", got: s.median(datagrams), limit: 5.6},
	)
}

func barsOfSweep(t *testing.T) {
	c := sweepOf(t, *halfFlag)
	all := measure(t, *roundsFlag, c.With(Blast, ""), c)
	whole := measure(t, 1, sweepOf(t, *sweepFlag))[0]
	hold(t,
		bar{what: "datagrams a second, of the bare WriteBatch loop's",
			got: all[1].SendRatio(all[0]), limit: 0.75, least: true},
		bar{what: "live servers found, %", got: 100 - 100*whole.median(unanswered), limit: 99.9, least: true},
		bar{what: "peak RSS, MB", got: whole.median(memory), limit: 64},
	)
}

// barsOfDrops scans at 80 % of the rate of the bare loop, with the scanner's
// default for targets in flight. The scan must read the replies before the kernel's
// buffer is full.
func barsOfDrops(t *testing.T) {
	ceiling := measure(t, *roundsFlag, Throughput(*serversFlag).With(Bare, ""))[0]
	rate := 0.8 * ceiling.SendRate()
	t.Logf("bare loop: %.0f datagrams a second; the scan's rate: %.0f", ceiling.SendRate(), rate)
	s := measure(t, *roundsFlag, Steady(*serversFlag, rate))[0]
	hold(t,
		bar{what: "datagrams dropped by the client's kernel", got: s.median(drops), limit: 0},
		bar{what: "servers complete, %", got: 100 - 100*s.median(unanswered), limit: 100, least: true},
	)
	t.Logf("rate reached while sending: %.0f", s.median(paced))
}

// barsOfPacing checks that scans keep the configured rate, up to 100,000 datagrams
// per second.
func barsOfPacing(t *testing.T) {
	for _, rate := range []float64{10, 100, 1000, 10_000, 100_000, 200_000} {
		r := run(t, Pacing(rate))
		due := rate * r.Paced.Took.Seconds()
		off := float64(r.Paced.Sent) - due
		t.Logf("%7.0f/s: %d datagrams in %.3f s, %+.3f %%", rate, r.Paced.Sent, r.Paced.Took.Seconds(), 100*off/due)
		if rate <= 100_000 {
			hold(t, bar{what: "off the rate, of 0.5 % or one datagram",
				got: math.Abs(off) / max(1, 0.005*due), limit: 1})
		}
	}
}

// testSmallDrops makes the client's receive buffer far too small. It checks that
// the client counts every reply as received or dropped.
func testSmallDrops(t *testing.T) {
	c := Throughput(600)
	c.Window, c.RecvBuffer, c.Output = 0, 1, Discard // the kernel raises it to its minimum
	c.Retries, c.Timeout = 2, 300*time.Millisecond
	r := run(t, c)
	if r.Drops == 0 || r.Received+r.Drops != r.Fleet.Replies {
		t.Errorf("%d replies, of which %d were received and %d dropped", r.Fleet.Replies, r.Received, r.Drops)
	}
}

// testSmallThroughput checks that every server is complete, that every record is
// correct, and that the bare loop and the scanner exchange the same numbers of
// datagrams.
func testSmallThroughput(t *testing.T) {
	const servers = 1000
	for _, c := range clients(servers) {
		c.Check = c.Loop == Scan
		c.Timeout = 10 * time.Second // a busy machine must not cause retries
		r := run(t, c)
		want := Kinds{servers, servers, servers, servers}
		all := r.Complete == servers && r.Live == servers
		if !all || r.Kinds != want || r.Sent != 4*servers || r.Received != 4*servers {
			t.Errorf("%s: %d of %d complete, sent %d, received %d: %+v",
				c.Name(), r.Complete, r.Live, r.Sent, r.Received, r.Kinds)
		}
		if r.Fleet.Queries != r.Sent || r.Fleet.Replies != r.Received {
			t.Errorf("%s: the fleet has other numbers: %+v", c.Name(), r.Fleet)
		}
		if wantsFile := c.Output == NDJSON || c.Output == Zstd; wantsFile != (r.FileLen > 0) {
			t.Errorf("%s: a file of %d bytes", c.Name(), r.FileLen)
		}
	}
	for _, l := range []Loop{BareTwo, BarePolled} {
		r := run(t, Throughput(servers).With(l, ""))
		if r.Complete != servers || r.Sent != 4*servers {
			t.Errorf("%s: %d complete, sent %d", l, r.Complete, r.Sent)
		}
	}
}

func testSmallRealistic(t *testing.T) {
	const targets = 2000
	c := Realistic(targets)
	c.Check = true
	c.Cooldown, c.Retries = time.Second, 1
	r := run(t, c)
	if r.Complete != r.Live || r.Live < targets*65/100 || r.Live > targets*75/100 {
		t.Errorf("%d of %d complete", r.Complete, r.Live)
	}
	if dead := targets - r.Live; r.Sent < 4*r.Live+2*dead || r.Fleet.Nobody < 2*dead {
		t.Errorf("sent %d to %d live and %d dead; the fleet saw %d for dead ones", r.Sent, r.Live, dead, r.Fleet.Nobody)
	}
}

func testSmallSweep(t *testing.T) {
	c := sweepOf(t, "127.16.0.0/18")
	c.Check = true
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
