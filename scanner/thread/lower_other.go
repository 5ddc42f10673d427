//go:build !linux

package thread

// Lower does nothing: on this system, priorities belong to processes or need
// privileges.
func Lower() {}
