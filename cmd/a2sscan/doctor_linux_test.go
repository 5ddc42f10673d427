package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/doctor"
)

func findingOf(r *doctor.Report, check string) doctor.Finding {
	for _, f := range r.Findings {
		if f.Check == check {
			return f
		}
	}
	return doctor.Finding{}
}

// doctored runs a script that ends with doctor in a child process. It returns the
// report, or what the script printed if that is not a report.
func doctored(t *testing.T, attr *syscall.SysProcAttr, script string) (*doctor.Report, string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = attr
	cmd.Dir = "/"
	var errs strings.Builder
	cmd.Stderr = &errs
	out, _ := cmd.Output() // the caller gets what is not a report
	r := new(doctor.Report)
	if json.Unmarshal(out, r) != nil {
		return r, strings.TrimSpace(errs.String() + string(out))
	}
	return r, ""
}

// TestDoctorBuffers: the kernel grants a user without privileges buffers only up to
// the system's limit, and doctor reports how to raise it.
func TestDoctorBuffers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, A REAL LIMIT OF BUFFERS WAS NOT TRIED: only root can become a user without privileges; " +
			"run the tests as root")
	}
	text, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	if err != nil {
		t.Skipf("SKIPPED, A REAL LIMIT OF BUFFERS WAS NOT TRIED: it can't be read (a kernel with CONFIG_NET shows it): %v", err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || most >= 60e6 {
		t.Skipf("SKIPPED, A REAL LIMIT OF BUFFERS WAS NOT TRIED: it is %q, and nothing falls short of it; "+
			"sysctl -w net.core.rmem_max=212992 sets the usual one", text)
	}
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	r, problem := doctored(t, nobody, copied(t)+" doctor --json -r 0")
	if problem != "" {
		t.Skipf("SKIPPED, A REAL LIMIT OF BUFFERS WAS NOT TRIED: user 65534 can't run the program from /tmp; "+
			"mount that without noexec: %s", problem)
	}
	f := findingOf(r, "receive_buffer")
	if f.Level == doctor.OK || !strings.HasPrefix(f.Found, console.Bytes(uint64(most))+" granted of 67.1 MB") ||
		len(f.Mend) != 2 || f.Mend[0] != "sudo sysctl -w net.core.rmem_max=67108864" {
		t.Errorf("with rmem_max %d: %+v", most, f)
	}
}

// copied copies the program to a directory in which every user can run it, and returns
// the path.
func copied(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("a2sscan")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "doctor")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	to := filepath.Join(dir, "a2sscan")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}
