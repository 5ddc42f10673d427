//go:build unix

package scan

import (
	"os"
	"os/exec"
	"syscall"
)

// controls handles signals until end is called: SIGUSR1 raises the rate by a tenth,
// SIGUSR2 lowers it, and SIGQUIT prints the state of the scan.
func (s *Run) controls() (end func()) {
	return HandleSignals(func(sig os.Signal) {
		switch sig {
		case syscall.SIGUSR1:
			s.turnRate(true)
		case syscall.SIGUSR2:
			s.turnRate(false)
		case syscall.SIGQUIT:
			s.sayState()
		}
	}, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT)
}

// ownGroup makes a program start in a process group of its own, so that Ctrl-C on the
// terminal does not reach the program. Cancelling the context of cmd kills all processes
// of this group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
