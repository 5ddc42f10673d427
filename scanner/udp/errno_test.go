package udp

import (
	"runtime"
	"syscall"
)

// wouldBlock is the system's word for buffers that are full.
var wouldBlock = map[bool]syscall.Errno{false: syscall.EAGAIN, true: 10035}[runtime.GOOS == "windows"]
