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
		name    string
		rate    float64
		reached float64
		err     error
		level   Level
		found   string
		need    string
	}{
		{"a rate that every machine reaches", 20e3, 0, nil, OK, "not measured", ""},
		{"enough", 600e3, 1e6, nil, OK, "1M datagrams per second", "900k"},
		{"enough for the system calls, not for the records", 700e3, 1e6, nil, Warning, "1M datagrams", "-r 667k at most"},
		{"too little", 600e3, 500e3, nil, Bad, "500k datagrams", "-r 333k at most"},
		{"no rate", 0, 1e6, nil, OK, "expect a scan of about 667k", ""},
		{"no loopback", 1e6, 0, errors.New("no such device"), Unknown, "no such device", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _ := healthy()
			m.measure = func(time.Duration) (float64, error) { return test.reached, test.err }
			o := ordinary()
			o.Rate = test.rate
			got := m.checkThroughput(o)
			if got.Level != test.level || !strings.Contains(got.Found, test.found) || !strings.Contains(got.Need, test.need) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestMeasureLoopback: a measurement of one round sends requests and receives replies.
func TestMeasureLoopback(t *testing.T) {
	if rate, err := measureLoopback(time.Nanosecond); err != nil || rate <= 0 {
		t.Errorf("%v, %v", rate, err)
	}
}
