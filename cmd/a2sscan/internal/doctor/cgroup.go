package doctor

import (
	"errors"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// This file reads the limits of a container from control groups, versions 1 and 2.

// group is a control group: the directory where its hierarchy is mounted, and its
// path there. The groups that contain it are the parent directories, up to mount.
type group struct {
	mount string
	path  string
}

// groupOf returns the control groups of this process: the version 1 group of the
// controller, and the version 2 group at both usual mount points.
func (m *machine) groupOf(controller string) []group {
	text, err := fs.ReadFile(m.root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var found []group
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for name := range strings.SplitSeq(f[1], ",") {
			if name == controller {
				found = append(found, group{"sys/fs/cgroup/" + controller, f[2]})
			}
		}
		if f[0] == "0" {
			found = append(found, group{"sys/fs/cgroup", f[2]}, group{"sys/fs/cgroup/unified", f[2]})
		}
	}
	return found
}

// up yields the directories of a group and of all groups that contain it.
func (g group) up(yield func(dir string) bool) {
	for at := path.Clean("/" + g.path); ; at = path.Dir(at) {
		if !yield(path.Join(g.mount, at)) || at == "/" {
			return
		}
	}
}

// cpuQuota returns how many processors the container may use: the lowest quota of
// all its groups. If no group has a quota, limited is false.
func (m *machine) cpuQuota() (least float64, limited bool) {
	least = math.Inf(1)
	if m.root == nil {
		return 0, false
	}
	for _, g := range m.groupOf("cpu") {
		for dir := range g.up {
			if q, ok := m.quotaIn(dir); ok {
				least = min(least, q)
			}
		}
	}
	return least, !math.IsInf(least, 1)
}

// quotaIn returns the processor quota in the directory of a group, as a number of
// processors. It returns false if there is none.
func (m *machine) quotaIn(dir string) (float64, bool) {
	text, err := fs.ReadFile(m.root, dir+"/cpu.max")
	f := strings.Fields(string(text))
	if err != nil || len(f) != 2 {
		quota, err1 := fs.ReadFile(m.root, dir+"/cpu.cfs_quota_us")
		period, err2 := fs.ReadFile(m.root, dir+"/cpu.cfs_period_us")
		if err1 != nil || err2 != nil {
			return 0, false
		}
		f = []string{strings.TrimSpace(string(quota)), strings.TrimSpace(string(period))}
	}
	quota, err1 := strconv.ParseFloat(f[0], 64) // "max" or -1: no limit
	period, err2 := strconv.ParseFloat(f[1], 64)
	if err1 != nil || err2 != nil || quota <= 0 || period <= 0 {
		return 0, false
	}
	return quota / period, true
}

// freeMemory returns how much memory is free on the machine, or in the container if
// that is less, in bytes. whose says which of the two it is, for messages.
func (m *machine) freeMemory() (free uint64, whose string, err error) {
	free, err = m.available()
	if err != nil {
		return 0, "", err
	}
	whose = "on this machine"
	for _, g := range m.groupOf("memory") {
		for dir := range g.up {
			if left, ok := m.roomIn(dir); ok && left < free {
				free, whose = left, "in this container"
			}
		}
	}
	return free, whose, nil
}

// available returns the available memory of the machine in bytes.
func (m *machine) available() (uint64, error) {
	text, err := fs.ReadFile(m.root, "proc/meminfo")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) >= 2 && f[0] == "MemAvailable:" {
			kib, err := strconv.ParseUint(f[1], 10, 53)
			return kib << 10, err
		}
	}
	return 0, errors.New("proc/meminfo: no MemAvailable")
}

// memoryFiles has the file names of the limit and the usage of a group, in version
// 2 and in version 1.
var memoryFiles = [][2]string{
	{"/memory.max", "/memory.current"},
	{"/memory.limit_in_bytes", "/memory.usage_in_bytes"},
}

// roomIn returns how many more bytes of memory a group may use, or false if it has
// no limit. The usage includes cached files, which the kernel can drop, so the
// group may be able to use more.
func (m *machine) roomIn(dir string) (uint64, bool) {
	for _, names := range memoryFiles {
		limit, err1 := m.number(dir + names[0]) // "max": no limit
		used, err2 := m.number(dir + names[1])
		if err1 == nil && err2 == nil {
			return limit - min(used, limit), true
		}
	}
	return 0, false
}
