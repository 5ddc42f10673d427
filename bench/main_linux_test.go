package bench

import (
	"flag"
	"os"
	"testing"
)

var (
	barsFlag    = flag.Bool("bars", false, "measure in full and hold the ratios against their bars")
	roundsFlag  = flag.Int("rounds", 5, "alternating runs of each client; the median counts")
	serversFlag = flag.Int("servers", 100_000, "servers of a run without delay")
	targetsFlag = flag.Int("targets", 200_000, "targets of the realistic list")
	sweepFlag   = flag.String("sweep", "127.0.0.0/8", "network to sweep once, for its memory and what is found")
	halfFlag    = flag.String("sweep-rounds", "127.0.0.0/11", "network to sweep in alternating runs")
	profileFlag = flag.String("profile", "", "file for the CPU profile of the last scan")
)

// TestMain calls Child first, because Run starts this test binary for its processes.
func TestMain(m *testing.M) {
	Child()
	code := m.Run()
	if programDir != "" {
		os.RemoveAll(programDir)
	}
	os.Exit(code)
}
