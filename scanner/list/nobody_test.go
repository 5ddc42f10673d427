//go:build !linux

package list

// asNobody runs f with the rights of the test.
func asNobody(f func()) { f() }
