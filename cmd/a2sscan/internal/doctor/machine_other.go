//go:build !linux

package doctor

import (
	"runtime"
	"time"
)

// thisMachine returns the machine that the program runs on. It has only the
// functions that work on this system.
func thisMachine() *machine {
	return &machine{
		system: systemName(), buffers: grantedBuffers, bind: tryBind,
		measure: measureLoopback,
		now:     time.Now, cpus: runtime.NumCPU(),
	}
}
