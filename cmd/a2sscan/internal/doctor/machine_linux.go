package doctor

import (
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	a2sudp "github.com/a2sscan/a2sscan/scanner/udp"
)

// thisMachine returns the machine that the program runs on.
func thisMachine() *machine {
	return &machine{
		root: os.DirFS("/"), system: systemName(),
		kernel: kernelRelease, buffers: grantedBuffers, bind: tryBind,
		files: fileLimit, disk: diskRoom, synced: clockSynced,
		measure: measureLoopback,
		now:     time.Now, cpus: runtime.NumCPU(),
	}
}

// kernelRelease opens a socket as a scan does, and returns the kernel version. It
// fails if the kernel lacks a feature that a scan needs.
func kernelRelease() (string, error) {
	c, err := a2sudp.Listen(a2sudp.Config{})
	if err != nil {
		return "", err
	}
	defer c.Close()
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", err
	}
	return "Linux " + unix.ByteSliceToString(u.Release[:]), nil
}

func fileLimit() (uint64, error) {
	var l unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
	return l.Cur, err
}

func diskRoom(dir string) (free, nodes uint64, writable bool, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, false, err
	}
	nodes = s.Ffree
	if s.Files == 0 { // a file system without a fixed number of inodes
		nodes = 1
	}
	return s.Bavail * uint64(s.Bsize), nodes, unix.Access(dir, unix.W_OK) == nil, nil
}

func clockSynced() (synced bool, maxError time.Duration, err error) {
	var t unix.Timex // its Modes is 0, so the call changes nothing
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return false, 0, err
	}
	synced = state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
	return synced, time.Duration(t.Maxerror) * time.Microsecond, nil
}
