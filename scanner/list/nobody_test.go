//go:build !linux

package list

// asNobody runs f with the rights of the test process.
func asNobody(f func()) { f() }
