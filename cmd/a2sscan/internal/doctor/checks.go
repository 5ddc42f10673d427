package doctor

import (
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	a2sudp "github.com/a2sscan/a2sscan/scanner/udp"
)

// machine holds what the checks need from the system. A nil field means that this system
// does not provide the information.
type machine struct {
	root fs.FS // the root directory, for /proc

	buffers func(recv, send int) (gotRecv, gotSend int, err error)
	files   func() (limit uint64, err error)
	disk    func(dir string) (free, nodes uint64, writable bool, err error)
	synced  func() (synced bool, maxError time.Duration, err error)
	now     func() time.Time
	measure func(time.Duration) (rate float64, err error)
}

// Examine checks the machine that the program runs on.
func Examine(o *Options) *Report {
	m := &machine{measure: measureLoopback, now: time.Now}
	m.buffers = func(recv, send int) (gotRecv, gotSend int, err error) {
		c, err := a2sudp.Listen(a2sudp.Config{RecvBuffer: recv, SendBuffer: send})
		if err != nil {
			return 0, 0, err
		}
		defer c.Close()
		s := c.Stats()
		return s.RecvBuffer, s.SendBuffer, nil
	}
	m.ofSystem()
	return m.examine(o)
}

// examine runs all checks. To add a check, write a method of machine that returns a
// Finding, and add a row to the table. If has == false in a row, the finding is Unknown.
func (m *machine) examine(o *Options) *Report {
	r := &Report{Schema: 1, Ready: true}
	if o.Rate != 0 {
		r.Rate = &o.Rate
	}
	for _, check := range []struct {
		word string
		has  bool
		run  func(*Options) Finding
	}{
		{"receive_buffer", true, func(o *Options) Finding { return m.checkBuffer(o, false) }},
		{"send_buffer", true, func(o *Options) Finding { return m.checkBuffer(o, true) }},
		{"conntrack", m.root != nil, m.checkConntrack},
		{"files", m.files != nil, m.checkFiles},
		{"throughput", true, m.checkThroughput},
		{"disk", m.disk != nil, m.checkDisk},
		{"clock", true, m.checkClock},
		{"clock_sync", m.synced != nil, m.checkSync},
	} {
		found := unknown("doctor can't check this on %s", runtime.GOOS)
		if check.has {
			found = check.run(o)
		}
		found.Check = check.word
		found.Found = console.Plain(found.Found, console.MaxLine) // may contain file names and errors of the system
		r.Findings = append(r.Findings, found)
		r.Ready = r.Ready && found.Level != Bad
	}
	return r
}

func unknown(format string, args ...any) Finding {
	return Finding{Level: Unknown, Found: fmt.Sprintf(format, args...)}
}

// sysctl returns two commands. The first sets a kernel parameter now; the second makes the
// system set it at every boot.
func sysctl(name string, value uint64) []string {
	return []string{
		fmt.Sprintf("sudo sysctl -w %s=%d", name, value),
		fmt.Sprintf("echo '%s = %d' | sudo tee -a /etc/sysctl.d/a2sscan.conf", name, value),
	}
}

// leastSendBuffer is the minimum size of the send buffer in bytes. A batch of 128 requests
// fits, because the kernel counts a request as about 768 bytes.
const leastSendBuffer = 160 << 10

// checkBuffer compares the size of a socket buffer that the kernel grants with what a scan
// needs.
func (m *machine) checkBuffer(o *Options, send bool) Finding {
	ask, askSend, need := o.config().Buffers()
	got, gotSend, err := m.buffers(ask, askSend)
	limit, why := "net.core.rmem_max", "the replies that arrive in 100 ms at this rate; the kernel drops replies that do not fit"
	if send {
		got, ask, need = gotSend, askSend, leastSendBuffer
		limit, why = "net.core.wmem_max", "one batch of requests; with a smaller buffer, the scan waits for the network card while it sends a batch"
	}
	if err != nil {
		return unknown("the program could not open a socket: %v", err)
	}
	found := Finding{Level: OK, Found: fmt.Sprintf("%s granted, %s requested", console.Bytes(uint64(got)), console.Bytes(uint64(ask))),
		Need: console.Bytes(uint64(need)) + ", for " + why}
	if got < need {
		found.Level, found.Mend = Warning, sysctl(limit, uint64(ask))
	}
	if got < need/10 && !send {
		found.Level = Bad
	}
	return found
}

// checkConntrack checks whether the connection tracking table of the kernel has enough
// free entries for a scan. The kernel keeps an entry for each target until some time after
// the target's last datagram. When the table is full, the kernel drops datagrams to new
// targets.
func (m *machine) checkConntrack(o *Options) Finding {
	number := func(name string) (uint64, error) {
		text, err := fs.ReadFile(m.root, "proc/sys/net/netfilter/"+name)
		if err != nil {
			return 0, err
		}
		return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	}
	most, err := number("nf_conntrack_max")
	if err != nil {
		return Finding{Level: OK, Found: "the kernel module nf_conntrack is not loaded, so the kernel tracks no connections"}
	}
	used, err := number("nf_conntrack_count")
	if err != nil {
		return unknown("the kernel module nf_conntrack is loaded, but the number of connections that it tracks can't be read: %v", err)
	}
	keeps := 30 * time.Second
	if s, err := number("nf_conntrack_udp_timeout"); err == nil && s < 1e6 {
		keeps = time.Duration(s) * time.Second
	}
	// A silent target costs 1 + Retries datagrams. A target that answers costs at least three.
	started := o.rate() / math.Min(float64(1+o.Retries), 3) // targets per second
	open := o.config().Schedule().Silence()
	entries := started * (open + keeps).Seconds()
	if o.Targets > 0 {
		entries = math.Min(entries, float64(o.Targets))
	}
	need := uint64(entries)
	found := Finding{
		Level: OK,
		Found: fmt.Sprintf("%s of %s entries in use", console.Grouped(used), console.Grouped(most)),
		Need: fmt.Sprintf("entries for %s at once: the kernel keeps the entry of a target until %v after the last datagram, "+
			"and drops packets when the table is full. "+
			"doctor can't see whether a firewall rule tracks connections; a NOTRACK rule for UDP avoids the table", console.Plural(need, "target"), keeps),
	}
	switch {
	case used == 0:
		found.Found += "; probably no firewall rule tracks connections"
		return found
	case used+need > most:
		found.Level = Bad
	case used+need > most/10*9:
		found.Level = Warning
	}
	if found.Level != OK {
		size := uint64(1) << min(bits.Len64((used+need)*5/4-1), 62)
		found.Mend = sysctl("net.netfilter.nf_conntrack_max", size)
	}
	return found
}

// If the system allows fewer than fewFiles open files, the finding is Bad; if it allows
// fewer than someFiles, the finding is a Warning. A scan opens the socket, the poller, the
// lists, the output, the summary, the checkpoint, and the connections of metrics clients.
const (
	fewFiles  = 24
	someFiles = 128
)

func (m *machine) checkFiles(*Options) Finding {
	limit, err := m.files()
	if err != nil {
		return unknown("the program can't read the limit on open files: %v", err)
	}
	found := Finding{
		Level: OK, Found: console.Grouped(limit) + " open files allowed",
		Need: fmt.Sprintf("%d open files, for one socket, the lists, the output and the metrics", someFiles),
	}
	if limit == math.MaxUint64 {
		found.Found = "no limit on open files"
	}
	if limit < someFiles {
		found.Level = Warning
		found.Mend = []string{ // these set the hard limit; Go raises the soft limit to the hard limit
			"ulimit -n 1024",
			"echo '* hard nofile 1024' | sudo tee -a /etc/security/limits.d/a2sscan.conf",
		}
	}
	if limit < fewFiles {
		found.Level = Bad
	}
	return found
}

// recordSize and packedRecordSize are high estimates of the length of a record in bytes,
// uncompressed and compressed.
const (
	recordSize       = 6000
	packedRecordSize = 1000
)

func (m *machine) checkDisk(o *Options) Finding {
	dir := "."
	if o.Output != "" && o.Output != "-" {
		dir = path.Dir(o.Output)
	}
	free, nodes, writable, err := m.disk(dir)
	const directory = "a directory to which the program can write records"
	switch {
	case err != nil:
		return Finding{Level: Bad, Found: fmt.Sprintf("%s: %v", dir, err), Need: directory}
	case !writable:
		return Finding{Level: Bad, Found: dir + " can't be written to", Need: directory}
	case nodes == 0:
		return Finding{Level: Bad, Found: "the disk of " + dir + " has no free inode for a new file"}
	}
	need := o.Targets * recordSize
	if path.Ext(o.Output) == ".zst" {
		need = o.Targets * packedRecordSize
	}
	found := Finding{
		Level: OK, Found: fmt.Sprintf("%s free in %s", console.Bytes(free), dir),
		Need: fmt.Sprintf("up to %s for the records of %s", console.Bytes(need), console.Plural(o.Targets, "target")),
	}
	if o.Targets == 0 {
		found.Need = "about 6 kB per server that answers, 1 kB with .zst; with -n N, doctor calculates the total for N targets"
		need = 1e9 / 2
	}
	switch {
	case o.Targets > 0 && free < need, free < 50e6:
		found.Level = Bad
	case free < need+need/4: // other programs write to the disk, too
		found.Level = Warning
	}
	return found
}

var setClock = []string{"sudo timedatectl set-ntp true"}

func (m *machine) checkClock(*Options) Finding {
	now := m.now().UTC()
	found := Finding{
		Level: OK, Found: now.Format("2006-01-02 15:04:05 UTC"),
		Need: "the correct time, because a scan writes the time into every record",
	}
	if now.Year() < 2025 || now.Year() > 2100 {
		found.Level, found.Mend = Bad, setClock
	}
	return found
}

func (m *machine) checkSync(*Options) Finding {
	synced, maxError, err := m.synced()
	switch {
	case err != nil:
		return unknown("the kernel does not report the state of the clock: %v", err)
	case synced:
		return Finding{Level: OK, Found: fmt.Sprintf("synchronised by NTP, with an error of at most %v", maxError.Round(time.Millisecond))}
	}
	return Finding{
		Level: Warning,
		Found: "the clock is not synchronised, or the program that synchronises it does not tell the kernel (usual in containers)",
		Need:  "a clock synchronised by NTP, to compare times with other machines",
		Mend:  setClock,
	}
}
