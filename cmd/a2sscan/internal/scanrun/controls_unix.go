//go:build unix

package scanrun

import (
	"os"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
)

// controls lets SIGUSR1 raise the rate by a tenth, SIGUSR2 lower it, and SIGQUIT
// report the state, until end is called.
func (s *Run) controls() (end func()) {
	return shutdown.Handle(func(sig os.Signal) {
		switch sig {
		case syscall.SIGUSR1:
			turnRate(s.rate, s.term, true)
		case syscall.SIGUSR2:
			turnRate(s.rate, s.term, false)
		case syscall.SIGQUIT:
			s.sayState()
		}
	}, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT)
}
