//go:build !unix

package main

// controls does nothing where there are no such signals.
func (j *job) controls() (end func()) { return func() {} }
