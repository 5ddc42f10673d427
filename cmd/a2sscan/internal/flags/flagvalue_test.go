package flags

import (
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

func TestListenAddr(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"9100", "127.0.0.1:9100"},
		{":9100", "127.0.0.1:9100"},
		{"0", "127.0.0.1:0"},
		{"localhost:9100", "127.0.0.1:9100"},
		{"0.0.0.0:9100", "0.0.0.0:9100"},
		{"192.0.2.1:9100", "192.0.2.1:9100"},
		{"[::1]:9100", "[::1]:9100"},
		{"", ""}, {":", ""}, {"127.0.0.1", ""}, {"65536", ""}, {"-1", ""}, {"http", ""}, {"127.0.0.1:http", ""},
		{"example.org:9100", ""}, {"*:9100", ""}, {"[fe80::1%eth0]:9100", ""}, {"1.2.3:9100", ""}, {"127.0.0.1:", ""},
	} {
		if got, err := ParseListen(test.text); (err == nil) != (test.want != "") || got != test.want {
			t.Errorf("%q: %v, %s, want %s", test.text, err, got, test.want)
		}
	}
}

func TestBandwidth(t *testing.T) {
	for _, text := range []string{"760k", "760Kbps", "0.76M"} {
		if r, err := ParseBandwidth(text); err != nil || r != 1000 {
			t.Errorf("%s: %v, %v", text, float64(r), err)
		}
	}
	if r, err := ParseBandwidth("5"); err == nil || r > 0 {
		t.Error("a bandwidth of 5 bits per second is accepted")
	}
}

func TestRate(t *testing.T) {
	tests := []struct {
		in   string
		want float64
	}{
		{"800", 800}, {"5k", 5000}, {"2.5k", 2500}, {"1M", 1e6}, {"0.5M", 5e5}, {"0", 0}, {"0.5", 0.5}, {"5K", 5000}, {"5kpps", 5000}, {"800pps", 800},
	}
	for _, test := range tests {
		var r Rate
		if err := r.Set(test.in); err != nil || float64(r) != test.want {
			t.Errorf("%q is %v (%v), want %v", test.in, float64(r), err, test.want)
		}
	}
	for _, bad := range []string{"", "k", "pps", "-1", "5kk", "1e400", "nan", "inf", "5 k", "five", "1g"} {
		r := Rate(7)
		if err := r.Set(bad); err == nil || r != 7 {
			t.Errorf("%q is accepted, as %v", bad, float64(r))
		}
	}
	if Rate(0).Limit() != scanner.Off || Rate(9).Limit() != 9 {
		t.Error("a rate of 0 does not mean no limit, or another rate does")
	}
}

func TestAutoRate(t *testing.T) {
	for text, want := range map[string]AutoRate{
		"auto": {scanner.DefaultMostRate, true}, "auto:20k": {20_000, true}, "5k": {5000, false}, "0": {},
	} {
		r := AutoRate{Rate: 7}
		if err := r.Set(text); err != nil || r != want || r.String() != text {
			t.Errorf("%s: %v, %+v", text, err, r)
		}
	}
	for _, bad := range []string{"automatic", "auto:", "auto:0", "auto:x", ":5k", "5k:auto"} {
		var r AutoRate
		if r.Set(bad) == nil {
			t.Errorf("%s is accepted, as %v", bad, &r)
		}
	}
}

func TestQuestions(t *testing.T) {
	var q Questions
	if err := q.Set("rules,info"); err != nil || q.String() != "info,rules" {
		t.Errorf("rules,info is %q (%v)", q.String(), err)
	}
	if err := q.Set("ping,info"); err != nil || q.String() != "info,ping" {
		t.Errorf("ping,info is %q (%v)", q.String(), err)
	}
	for _, bad := range []string{"", "info,", "infos", "INFO", "info rules", "ping", "challenge,info"} {
		if err := q.Set(bad); err == nil {
			t.Errorf("%q is accepted, as %q", bad, q.String())
		}
	}
}

func TestSource(t *testing.T) {
	for in, want := range map[string]string{"127.0.0.2": "127.0.0.2:0", "127.0.0.2:4000": "127.0.0.2:4000"} {
		if s, err := ParseSource(in); err != nil || s.String() != want {
			t.Errorf("%q is %v (%v)", in, s, err)
		}
	}
	for _, bad := range []string{"", "::1", "[::1]:80", "localhost", "127.0.0.2:70000", ":80"} {
		if s, err := ParseSource(bad); err == nil {
			t.Errorf("%q is accepted, as %v", bad, s)
		}
	}
}

func TestShare(t *testing.T) {
	for text, want := range map[string]float64{"2%": 0.02, "0.02": 0.02, "100%": 1, "0": 0, "1": 1, "0.5%": 0.005} {
		if s, err := ParseShare(text); err != nil || math.Abs(s-want) > 1e-12 {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "%", "2", "101%", "-1%", "NaN", "x"} {
		if s, err := ParseShare(text); err == nil {
			t.Errorf("%q is accepted, as %v", text, s)
		}
	}
}

func TestAuto(t *testing.T) {
	for text, want := range map[string]Auto{"auto": {On: true}, "800ms": {D: 800e6}, "0": {}} {
		a := Auto{D: 7}
		if err := a.Set(text); err != nil || a != want {
			t.Errorf("%q is %+v (%v), want %+v", text, a, err, want)
		}
		if b := (Auto{}); b.Set(a.String()) != nil || b != a {
			t.Errorf("%v is read back as %v", &a, &b)
		}
	}
	for _, bad := range []string{"", "5", "Auto", "fast"} {
		a := Auto{D: 7}
		if err := a.Set(bad); err == nil || a.D != 7 {
			t.Errorf("%q is taken for %v", bad, &a)
		}
	}
	if a, b := (&Auto{On: true}).Or(9), (&Auto{D: 7}).Or(9); a != 9 || b != 7 {
		t.Errorf("%d and %d", a, b)
	}
}

// TestSourceFailure: a socket that can't be opened is blamed on --source only if the
// user gave it. Binding to port 0 fails with EADDRINUSE if all ports are taken.
func TestSourceFailure(t *testing.T) {
	for _, test := range []struct {
		source    string
		errno     syscall.Errno
		say, hint string
	}{
		{"", syscall.EADDRINUSE, "no source port is free: ", "ip_local_port_range"},
		{"127.0.0.1", syscall.EADDRINUSE, "no source port is free: ", "ip_local_port_range"},
		{"127.0.0.1:4000", syscall.EADDRINUSE, "--source 127.0.0.1:4000: another program uses the port", "omit the port"},
		{"192.0.2.1", syscall.EADDRNOTAVAIL, "--source 192.0.2.1 is not an address of this machine", "omit --source"},
		{"127.0.0.1:53", syscall.EACCES, "--source 127.0.0.1:53: only privileged programs may use this port", "1024"},
		{"", syscall.EMFILE, "too many open files", "--help"},
	} {
		source, _ := ParseSource(test.source)
		f := SourceFailure(source, fmt.Errorf("listen: %w", test.errno))
		if !strings.Contains(f.Error(), test.say) || !strings.Contains(f.Hint, test.hint) ||
			test.source == "" && strings.Contains(f.Error(), "--source") {
			t.Errorf("%s, %v: %v (%s)", test.source, test.errno, f, f.Hint)
		}
	}
}
