//go:build !linux

package doctor

// ofSystem sets the functions that only this system has: none.
func (m *machine) ofSystem() {}
