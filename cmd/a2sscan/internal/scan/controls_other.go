//go:build !unix

package scan

import "os/exec"

// controls does nothing on systems without these signals.
func (s *Run) controls() (end func()) { return func() {} }

// ownGroup does nothing on systems without process groups.
func ownGroup(*exec.Cmd) {}
