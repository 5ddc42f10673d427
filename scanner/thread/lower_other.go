//go:build !linux

package thread

import "time"

// Lower does nothing: on this system, priorities belong to processes or need
// privileges.
func Lower() {}

var began = time.Now()

// Used returns the time since the program began: this system has no clock for threads.
func Used() time.Duration { return time.Since(began) }
