package doctor

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ofSystem sets the fields that stay nil on other systems.
func (m *machine) ofSystem() {
	m.root = os.DirFS("/")
	m.files = func() (uint64, error) {
		var l unix.Rlimit
		err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
		return l.Cur, err
	}
	m.disk = func(dir string) (free, nodes uint64, writable bool, err error) {
		var s unix.Statfs_t
		if err := unix.Statfs(dir, &s); err != nil {
			return 0, 0, false, err
		}
		if nodes = s.Ffree; s.Files == 0 { // the file system has no fixed number of inodes
			nodes = 1
		}
		return s.Bavail * uint64(s.Bsize), nodes, unix.Access(dir, unix.W_OK) == nil, nil
	}
	m.synced = func() (synced bool, maxError time.Duration, err error) {
		var t unix.Timex // Modes is 0, so Adjtimex changes nothing
		state, err := unix.Adjtimex(&t)
		synced = err == nil && state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
		return synced, time.Duration(t.Maxerror) * time.Microsecond, err
	}
}
