//go:build unix && !linux

package udp

import "syscall"

func isOtherICMP(syscall.Errno) bool { return false }
