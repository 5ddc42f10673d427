package udp

import (
	"runtime"
	"syscall"
)

// wouldBlock is the system's word for buffers that are full.
var wouldBlock = syscall.EAGAIN

func init() {
	if runtime.GOOS == "windows" {
		wouldBlock = 10035 // WSAEWOULDBLOCK
	}
}
