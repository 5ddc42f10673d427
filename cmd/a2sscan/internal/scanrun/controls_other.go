//go:build !unix

package scanrun

// controls does nothing on systems without these signals.
func (s *Run) controls() (end func()) { return func() {} }
