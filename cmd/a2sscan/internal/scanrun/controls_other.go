//go:build !unix

package scanrun

// controls does nothing where there are no such signals.
func (s *Run) controls() (end func()) { return func() {} }
