package udp

import (
	"runtime"
	"syscall"
)

// wouldBlock is the system's error for full buffers.
var wouldBlock = syscall.EAGAIN

func init() {
	if runtime.GOOS == "windows" {
		wouldBlock = 10035 // WSAEWOULDBLOCK
	}
}
