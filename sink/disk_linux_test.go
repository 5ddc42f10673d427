package sink

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestFullDisk fills a real file system of 1 MiB.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mounting a small file system needs root: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	for _, name := range names {
		path := filepath.Join(disk, name)
		w := create(t, path, Options{})
		n := 0
		for w.Write("", typical(n)) == nil {
			n++
		}
		checkFull(t, w.Close(), path)
		got, truncated := readFile(t, path)
		if len(got) == 0 || truncated != 0 || !slices.Equal(got, lines(0, len(got))) {
			t.Errorf("%s: %d lines of %d, %d truncated", name, len(got), n, truncated)
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// TestDeviceFull writes to /dev/full, the device that is always full.
func TestDeviceFull(t *testing.T) {
	const path = "/dev/full"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("this system has no such device: %v", err)
	}
	w := create(t, path, Options{})
	write(t, w, 0, 1)
	checkFull(t, syncNow(w), path)
	checkFull(t, w.Close(), path)
}

// TestSIGPIPE checks what Create documents about standard output. It uses another
// process, because SIGPIPE kills the process that writes.
func TestSIGPIPE(t *testing.T) {
	const role = "SINK_TEST_SIGPIPE"
	switch os.Getenv(role) {
	case "ignored":
		signal.Ignore(syscall.SIGPIPE)
		fallthrough
	case "default":
		pipeChild()
	}
	for how, want := range map[string]string{
		"ignored": "write standard output: broken pipe; the reader closed the pipe\n",
		"default": "",
	} {
		r, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd := exec.Command(os.Args[0], "-test.run=^TestSIGPIPE$")
		cmd.Env = append(os.Environ(), role+"="+how)
		cmd.Stdout = out
		said := new(bytes.Buffer)
		cmd.Stderr = said
		err = cmd.Run()
		out.Close()
		if said.String() != want {
			t.Errorf("%s: it said %q (%v), want %q", how, said, err, want)
		}
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if killed := status.Signaled() && status.Signal() == syscall.SIGPIPE; killed != (how == "default") {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// pipeChild writes a record to a standard output that nobody reads, and reports the
// error.
func pipeChild() {
	w, err := Create("-", Options{})
	if err == nil {
		err = w.Write("", typical(0))
	}
	if err == nil {
		err = w.Close()
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(0)
}
