package bench

import (
	"testing"
	"time"
)

// fixed returns c with fixed timeouts instead of learned ones.
func fixed(c Config) Config {
	c.Timeout = time.Second
	return c
}

// lossy returns c with a fleet that loses one reply in fifty.
func lossy(c Config) Config {
	c.Fleet.Loss = 0.02
	return c
}

func tailed(c Config) Config {
	c.Fleet.Tail = true
	return c
}

// doubling returns c with a fleet whose delays double about halfway through the
// scan.
func doubling(c Config) Config {
	c.Fleet.Doubled = time.Duration(float64(c.Targets()) * 3.7 / c.Rate / 2 * float64(time.Second))
	return c
}

// barsOfTimeouts checks how long scans with learned timeouts take, and how many
// servers they complete.
func barsOfTimeouts(t *testing.T) {
	few := Realistic(8192)
	all := measure(t, *roundsFlag, lossy(few), few, Realistic(*targetsFlag))
	loss, clean, many := all[0], all[1], all[2]
	hold(t,
		bar{what: "8,192 targets, 2 % of replies lost: seconds", got: loss.median(seconds), limit: 3.2},
		bar{what: "live servers complete, %", got: completeOf(loss), limit: 99.9, least: true},
		bar{what: "8,192 targets, nothing lost: seconds", got: clean.median(seconds), limit: 2.6},
		bar{what: "live servers complete, %", got: completeOf(clean), limit: 100, least: true},
		bar{what: "200,000 targets: seconds", got: many.median(seconds), limit: 17},
		bar{what: "live servers complete, %", got: completeOf(many), limit: 99.9, least: true},
		bar{what: "datagrams sent, for each live server", got: many.median(datagrams), limit: 5.6},
	)
	for name, change := range map[string]func(Config) Config{"tail": tailed, "doubling": doubling} {
		c := change(Distant(*targetsFlag))
		both := measure(t, 1, c, fixed(c))
		t.Logf("%s: learned %.2f s, fixed %.2f s", name, both[0].median(seconds), both[1].median(seconds))
		hold(t, bar{what: name + ": complete, less than with fixed timeouts, %",
			got: completeOf(both[1]) - completeOf(both[0]), limit: 0.05})
	}
}

// testSmallTimeouts scans with learned timeouts over real sockets. On a busy
// machine the scan may lose a few servers that answer after three seconds; in the
// scanner's own simulation it loses none.
func testSmallTimeouts(t *testing.T) {
	c := tailed(Distant(1500))
	c.Check, c.Rate = true, 5000
	r := run(t, c)
	if r.Complete+3 < r.Live || r.Live < 950 || r.Live > 1150 {
		t.Errorf("%d of %d complete", r.Complete, r.Live)
	}
}
