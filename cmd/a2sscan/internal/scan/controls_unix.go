//go:build unix

package scan

import (
	"os"
	"os/exec"
	"syscall"
)

// controls handles three signals until end is called: SIGUSR1 turns the rate up, SIGUSR2
// turns it down, and SIGQUIT prints the state of the scan.
func controls(turnRate func(up bool), sayState func()) (end func()) {
	return HandleSignals(func(sig os.Signal) {
		switch sig {
		case syscall.SIGUSR1:
			turnRate(true)
		case syscall.SIGUSR2:
			turnRate(false)
		case syscall.SIGQUIT:
			sayState()
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
