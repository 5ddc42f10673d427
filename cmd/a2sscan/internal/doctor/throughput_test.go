package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestThroughput: the level of the finding follows from the measured throughput and
// the rate of the scan.
func TestThroughput(t *testing.T) {
	for _, test := range []struct {
		name  string
		rate  float64
		loop  Loop
		err   error
		level Level
		found string
		need  string
	}{
		{"a rate that every machine reaches", 20e3, Loop{}, nil, OK, "not measured", ""},
		{"enough", 600e3, Loop{1e6, 1e6, time.Second}, nil, OK, "1M datagrams per second", "900k"},
		{"enough for the system calls, not for the records", 700e3, Loop{1e6, 1e6, time.Second}, nil, Warning, "1M datagrams", "-r 660k at most"},
		{"too little", 10e6, Loop{1e6, 1e6, time.Second}, nil, Bad, "1M datagrams", "-r 660k at most"},
		{"time counts", 600e3, Loop{1e6, 1e6, 2 * time.Second}, nil, Bad, "500k datagrams", "-r 330k at most"},
		{"only answers count", 600e3, Loop{1e6, 0.5e6, time.Second}, nil, Bad, "500k datagrams", "-r 330k at most"},
		{"no rate", 0, Loop{1e6, 1e6, time.Second}, nil, OK, "expect a scan of about 660k", ""},
		{"a slow machine without a rate", 0, Loop{10, 10, time.Second}, nil, OK, "expect a scan of about 6", ""},
		{"no loopback", 1e6, Loop{}, errors.New("no such device"), Unknown, "no such device", ""},
		{"nothing was answered", 1e6, Loop{Sent: 1e6, Spent: time.Second}, nil, Unknown, "no datagram was answered", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _ := healthy()
			m.measure = func(time.Duration) (Loop, error) { return test.loop, test.err }
			o := ordinary()
			o.Rate = test.rate
			got := m.checkThroughput(o)
			if got.Level != test.level || !strings.Contains(got.Found, test.found) || !strings.Contains(got.Need, test.need) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestMeasureLoopback: a measurement of one round sends requests and receives at
// most as many replies.
func TestMeasureLoopback(t *testing.T) {
	loop, err := measureLoopback(time.Nanosecond)
	if err != nil || loop.Sent == 0 || loop.Received == 0 || loop.Received > loop.Sent || loop.Spent <= 0 {
		t.Errorf("%+v, %v", loop, err)
	}
}
