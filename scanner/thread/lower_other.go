//go:build !linux

package thread

// Lower does nothing: priorities are of whole processes here, or need rights.
func Lower() {}
