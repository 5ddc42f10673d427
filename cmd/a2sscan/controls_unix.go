//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// controls lets signals turn the rate up (SIGUSR1) and down (SIGUSR2) by a
// tenth, and have the state said (SIGQUIT), until end is called.
func (s *scanRun) controls() (end func()) {
	signals, gone := make(chan os.Signal, 16), make(chan struct{})
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT)
	go func() {
		defer close(gone)
		for sig := range signals {
			switch sig {
			case syscall.SIGUSR1:
				turnRate(s.rate, s.app.term, true)
			case syscall.SIGUSR2:
				turnRate(s.rate, s.app.term, false)
			case syscall.SIGQUIT:
				s.sayState()
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-gone
	}
}
