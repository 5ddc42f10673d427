//go:build !unix

package main

// controls does nothing where there are no such signals.
func (s *scanRun) controls() (end func()) { return func() {} }
