package flagvalue

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

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
		{"127.0.0.1:4000", syscall.EADDRINUSE, "--source 127.0.0.1:4000: another program has the port", "without the port"},
		{"192.0.2.1", syscall.EADDRNOTAVAIL, "--source 192.0.2.1: no address of this machine", "without --source"},
		{"127.0.0.1:53", syscall.EACCES, "--source 127.0.0.1:53: the port is not for everybody", "1024"},
		{"", syscall.EMFILE, "too many open files", "--help"},
	} {
		var s Source
		if test.source != "" {
			if err := s.Set(test.source); err != nil {
				t.Fatal(err)
			}
		}
		f := s.Failure(fmt.Errorf("listen: %w", test.errno))
		if !strings.Contains(f.Error(), test.say) || !strings.Contains(f.Hint, test.hint) ||
			test.source == "" && strings.Contains(f.Error(), "--source") {
			t.Errorf("%s, %v: %v (%s)", test.source, test.errno, f, f.Hint)
		}
	}
}
