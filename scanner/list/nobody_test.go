//go:build !linux

package list

// asNobody runs f with the rights that the tests have.
func asNobody(f func()) { f() }
