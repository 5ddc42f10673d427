//go:build !linux

package target

// asNobody runs f with the rights that the tests have.
func asNobody(f func()) { f() }
