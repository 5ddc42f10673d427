//go:build !linux

package udp

// LowerThread does nothing: on this system, priorities belong to processes or need
// privileges.
func LowerThread() {}
