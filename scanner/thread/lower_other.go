//go:build !linux

package thread

// Lower does nothing: here priorities belong to processes, or need privileges.
func Lower() {}
