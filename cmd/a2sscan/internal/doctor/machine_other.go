//go:build !linux

package doctor

// ofSystem does nothing: the fields that it sets on Linux stay nil.
func (m *machine) ofSystem() {}
