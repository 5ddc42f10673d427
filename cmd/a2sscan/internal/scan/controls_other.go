//go:build !unix

package scan

import "os/exec"

// controls does nothing on systems without the signals SIGUSR1 and SIGUSR2.
func controls(func(up bool), func()) (end func()) { return func() {} }

// ownGroup does nothing on systems without process groups.
func ownGroup(*exec.Cmd) {}
