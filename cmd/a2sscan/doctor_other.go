//go:build !linux

package main

import (
	"runtime"
	"time"
)

// thisMachine is the machine that the program runs on, as far as what matters
// can be looked at there.
func thisMachine() *machine {
	return &machine{
		system: systemName(), buffers: grantedBuffers, bind: tryBind,
		now: time.Now, cpus: runtime.NumCPU(),
	}
}
