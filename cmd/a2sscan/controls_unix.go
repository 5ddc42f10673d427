//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// controls lets signals turn the rate up (SIGUSR1) and down (SIGUSR2) by a
// tenth, and have the state said (SIGQUIT), until end is called.
func (j *job) controls() (end func()) {
	signals, gone := make(chan os.Signal, 16), make(chan struct{})
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT)
	go func() {
		defer close(gone)
		for s := range signals {
			switch s {
			case syscall.SIGUSR1:
				j.turnRate(true)
			case syscall.SIGUSR2:
				j.turnRate(false)
			case syscall.SIGQUIT:
				j.sayState()
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-gone
	}
}
