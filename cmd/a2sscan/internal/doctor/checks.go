package doctor

import (
	"fmt"
	"io/fs"
	"math"
	"net/netip"
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// machine holds the functions that the checks use. A nil field means that the
// system does not provide this information.
type machine struct {
	root   fs.FS // the root directory, for /proc and /sys
	system string

	kernel  func() (release string, err error)
	buffers func(recv, send int) (gotRecv, gotSend int, err error)
	bind    func(from netip.AddrPort) error
	files   func() (limit uint64, err error)
	disk    func(dir string) (free, nodes uint64, writable bool, err error)
	synced  func() (synced bool, maxError time.Duration, err error)
	now     func() time.Time
	measure func(time.Duration) (Loop, error)
	cpus    int
}

// Examine checks the machine that the program runs on.
func Examine(o *Options) *Report { return thisMachine().examine(o) }

// examine runs all checks. To add a check, write a method of machine that returns a
// Finding, and add a row here. If the check needs the system, add a function to
// machine and set it in machine_linux.go.
func (m *machine) examine(o *Options) *Report {
	r := &Report{Schema: 1, Ready: true}
	if o.Rate != 0 {
		r.Rate = &o.Rate
	}
	for _, check := range []struct {
		word string
		run  func(*Options) Finding
	}{
		{"kernel", m.checkKernel},
		{"receive_buffer", m.checkRecvBuffer},
		{"send_buffer", m.checkSendBuffer},
		{"conntrack", m.checkConntrack},
		{"fragments", m.checkFragments},
		{"source", m.checkSource},
		{"files", m.checkFiles},
		{"processors", m.checkProcessors},
		{"throughput", m.checkThroughput},
		{"memory", m.checkMemory},
		{"disk", m.checkDisk},
		{"clock", m.checkClock},
		{"clock_sync", m.checkSync},
	} {
		found := check.run(o)
		found.Check = check.word
		found.Found = console.Plain(found.Found, console.MaxLine) // errors and paths in it may be hostile
		r.Findings = append(r.Findings, found)
		r.Ready = r.Ready && found.Level != Bad
	}
	return r
}

// absent returns the finding of a check that this system does not support.
func (m *machine) absent() Finding {
	return Finding{Level: Unknown, Found: "not checked on " + m.system}
}

func unknown(format string, args ...any) Finding {
	return Finding{Level: Unknown, Found: fmt.Sprintf(format, args...)}
}

// sysctl returns two commands: one sets a kernel parameter now, the other at every
// boot.
func sysctl(name string, value uint64) []string {
	return []string{
		fmt.Sprintf("sudo sysctl -w %s=%d", name, value),
		fmt.Sprintf("echo '%s = %d' | sudo tee -a /etc/sysctl.d/a2sscan.conf", name, value),
	}
}

// number reads a file that contains one number.
func (m *machine) number(name string) (uint64, error) {
	text, err := fs.ReadFile(m.root, name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

func (m *machine) checkKernel(*Options) Finding {
	if m.kernel == nil {
		return Finding{Level: Unknown, Found: "on " + m.system + ": one datagram per system call, " +
			"and no count of what the system drops"}
	}
	release, err := m.kernel()
	if err != nil {
		return Finding{Level: Bad, Found: fmt.Sprintf("the socket that a scan needs can't be opened: %v", err),
			Need: "batches, counts of dropped datagrams (SO_RXQ_OVFL) and ICMP errors (IP_RECVERR)"}
	}
	return Finding{Level: OK, Found: release + ": batches, drop counts and ICMP errors work"}
}

func (m *machine) checkRecvBuffer(o *Options) Finding {
	if m.buffers == nil {
		return m.absent()
	}
	ask, send, need := o.config().Buffers()
	got, _, err := m.buffers(ask, send)
	if err != nil {
		return unknown("no socket could be opened: %v", err)
	}
	found := Finding{
		Level: OK,
		Found: fmt.Sprintf("%s granted of %s asked for", console.Bytes(uint64(got)), console.Bytes(uint64(ask))),
		Need:  console.Bytes(uint64(need)) + ", for the replies of 100 ms at this rate; the kernel drops what finds no room",
	}
	if got < need {
		found.Level = Warning
		found.Mend = sysctl("net.core.rmem_max", uint64(ask))
	}
	if got < need/10 {
		found.Level = Bad
	}
	return found
}

// leastSendBuffer is the minimum size of the send buffer in bytes. It has room for
// a batch of 128 requests, each of which the kernel counts as at least about 768
// bytes.
const leastSendBuffer = 160 << 10

func (m *machine) checkSendBuffer(o *Options) Finding {
	if m.buffers == nil {
		return m.absent()
	}
	recv, ask, _ := o.config().Buffers()
	_, got, err := m.buffers(recv, ask)
	if err != nil {
		return unknown("no socket could be opened: %v", err)
	}
	found := Finding{
		Level: OK,
		Found: fmt.Sprintf("%s granted of %s asked for", console.Bytes(uint64(got)), console.Bytes(uint64(ask))),
		Need:  console.Bytes(leastSendBuffer) + ", for one batch of requests: with less, sending waits for the network card",
	}
	if got < leastSendBuffer {
		found.Level = Warning
		found.Mend = sysctl("net.core.wmem_max", uint64(ask))
	}
	return found
}

// newTargets returns the maximum number of targets that a scan starts per second. A
// silent target costs 1 + Retries datagrams, a target that answers at least three.
func (o *Options) newTargets() float64 {
	return o.rate() / math.Min(float64(1+o.Retries), 3)
}

const conntrackDir = "proc/sys/net/netfilter/"

// checkConntrack compares the free entries of the connection tracking table with
// what a scan needs. Netfilter keeps an entry for each target for a while after its
// last datagram, and a full table drops new connections.
func (m *machine) checkConntrack(o *Options) Finding {
	if m.root == nil {
		return m.absent()
	}
	most, err := m.number(conntrackDir + "nf_conntrack_max")
	if err != nil {
		return Finding{Level: OK, Found: "not loaded: this machine tracks no connections"}
	}
	used, err := m.number(conntrackDir + "nf_conntrack_count")
	if err != nil {
		return unknown("loaded, and its table can't be read: %v", err)
	}
	need := o.tracked(m.udpTimeout())
	found := Finding{
		Level: OK,
		Found: fmt.Sprintf("%s of %s entries in use", console.Grouped(used), console.Grouped(most)),
		Need: fmt.Sprintf("%s more: each target has one until %v after its last datagram, "+
			"and a full table drops packets. doctor cannot see whether a rule tracks "+
			"connections; a NOTRACK rule for UDP avoids the table", console.Grouped(need), m.udpTimeout()),
	}
	if used == 0 {
		found.Found += ": it seems that no rule tracks connections"
		return found
	}
	if used+need > most/10*9 {
		found.Level = Warning
		found.Mend = sysctl("net.netfilter.nf_conntrack_max", roundUp((used+need)*5/4))
	}
	if used+need > most {
		found.Level = Bad
	}
	return found
}

// tracked returns the maximum number of table entries that a scan uses. keeps is
// how long netfilter keeps an idle entry.
func (o *Options) tracked(keeps time.Duration) uint64 {
	open := scanner.Schedule{Timeout: o.Timeout, Retries: o.Retries}.Silence()
	n := o.newTargets() * (open + keeps).Seconds()
	if o.Targets > 0 {
		n = math.Min(n, float64(o.Targets))
	}
	return uint64(n)
}

// udpTimeout returns how long netfilter keeps the entry of an idle UDP connection.
func (m *machine) udpTimeout() time.Duration {
	if s, err := m.number(conntrackDir + "nf_conntrack_udp_timeout"); err == nil && s < 1e6 {
		return time.Duration(s) * time.Second
	}
	return 30 * time.Second
}

// roundUp returns n rounded up to a power of two.
func roundUp(n uint64) uint64 {
	limit := uint64(1)
	for limit < n && limit < 1<<62 {
		limit *= 2
	}
	return limit
}

// These estimate the memory for IP fragments. One answer in twenty is longer than a
// packet (EC-52), and one in fifty of these answers loses a fragment. Its other
// fragments take longCost bytes until they expire.
const (
	longShare    = 1.0 / 20
	lostShare    = 1.0 / 50
	longCost     = 4 << 10
	ipv4Dir      = "proc/sys/net/ipv4/"
	leastFragMem = 256 << 10
)

func (m *machine) checkFragments(o *Options) Finding {
	if m.root == nil {
		return m.absent()
	}
	most, err1 := m.number(ipv4Dir + "ipfrag_high_thresh")
	keeps, err2 := m.number(ipv4Dir + "ipfrag_time")
	if err1 != nil || err2 != nil {
		return unknown("ipfrag_high_thresh and ipfrag_time can't be read")
	}
	need := uint64(o.rate()*longShare*lostShare*float64(min(keeps, 600))*longCost) + leastFragMem
	found := Finding{
		Level: OK,
		Found: fmt.Sprintf("%s for waiting IP fragments, %d s at most", console.Bytes(most), keeps),
		Need: fmt.Sprintf("%s: replies longer than a packet come in IP fragments, and "+
			"without room the kernel drops them and the servers look silent", console.Bytes(need)),
	}
	if most < need {
		found.Level = Warning
		found.Mend = sysctl("net.ipv4.ipfrag_high_thresh", roundUp(need))
	}
	if most < leastFragMem {
		found.Level = Bad
	}
	return found
}

// checkSource checks the address that the scan would send from.
func (m *machine) checkSource(o *Options) Finding {
	if m.bind == nil {
		return m.absent()
	}
	if err := m.bind(o.Source); err != nil {
		return Finding{Level: Bad, Found: o.sourceError(err),
			Need: "an address of this machine and, if one is named, a port that no other program uses"}
	}
	found := Finding{Level: OK, Found: "the system chooses address and port"}
	if o.Source.IsValid() {
		found.Found = o.sourceText() + " is free"
	}
	if m.root == nil {
		return found
	}
	if o.Source.Port() == 0 {
		found.Found += m.portRange()
	}
	routed, known := m.routed()
	switch {
	case o.Source.Addr().IsLoopback():
		found.Level = Warning
		found.Found += "; from there only this machine can be reached"
		found.Need = "an address that servers elsewhere can answer to"
	case known && !routed:
		found.Level = Warning
		found.Found += "; there is no default route"
		found.Need = "a route to the servers: without one only directly connected networks can be reached"
	}
	return found
}

// sourceText formats the source as it is given to --source.
func (o *Options) sourceText() string {
	if o.Source.Port() == 0 {
		return o.Source.Addr().String()
	}
	return o.Source.String()
}

func (o *Options) sourceError(err error) string {
	if o.SourceError != nil {
		err = o.SourceError(err)
	}
	return err.Error()
}

// portRange describes the range of ports from which the system chooses. It returns
// "" if the range is unknown.
func (m *machine) portRange() string {
	text, err := fs.ReadFile(m.root, ipv4Dir+"ip_local_port_range")
	f := strings.Fields(string(text))
	if err != nil || len(f) != 2 {
		return ""
	}
	return fmt.Sprintf("; the port is one of %s to %s", f[0], f[1])
}

// routed reports whether there is a default route. known is false if the routes
// can't be read.
func (m *machine) routed() (routed, known bool) {
	text, err := fs.ReadFile(m.root, "proc/net/route")
	if err != nil {
		return false, false
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) > 7 && f[1] == "00000000" && f[7] == "00000000" {
			return true, true
		}
	}
	return false, true
}

// These are limits for the number of open files: below fewFiles the finding is Bad,
// below someFiles it is a Warning. A scan opens the socket, the poller, lists, output,
// summary, checkpoint, and metrics with their clients.
const (
	fewFiles  = 24
	someFiles = 128
)

// moreFiles has the commands that raise the limit. They set the hard limit, because
// Go programs raise their soft limit to it.
var moreFiles = []string{
	"ulimit -n 1024",
	"echo '* hard nofile 1024' | sudo tee -a /etc/security/limits.d/a2sscan.conf",
}

func (m *machine) checkFiles(*Options) Finding {
	if m.files == nil {
		return m.absent()
	}
	limit, err := m.files()
	if err != nil {
		return unknown("the limit of open files can't be read: %v", err)
	}
	found := Finding{
		Level: OK, Found: console.Grouped(limit) + " may be open",
		Need: fmt.Sprintf("%d: one socket for all servers, lists, output, metrics", someFiles),
	}
	if limit == math.MaxUint64 {
		found.Found = "any number may be open"
	}
	if limit < someFiles {
		found.Level, found.Mend = Warning, moreFiles
	}
	if limit < fewFiles {
		found.Level = Bad
	}
	return found
}

// busyRate is the rate in datagrams per second above which the scan's loop takes up
// one processor, so that records, compression and the garbage collector need a
// second one.
const busyRate = 50e3

func (m *machine) checkProcessors(o *Options) Finding {
	found := Finding{
		Level: OK, Found: fmt.Sprintf("%d", m.cpus),
		Need: "one to send and receive, and from 50k datagrams per second " +
			"a second one for the records",
	}
	have := float64(m.cpus)
	if quota, ok := m.cpuQuota(); ok && quota < have {
		have = quota
		found.Found += fmt.Sprintf(", of which the container may use %.2g", quota)
	}
	if have < 1 || have < 2 && o.rate() >= busyRate {
		found.Level = Warning
	}
	if have < 0.2 {
		found.Level = Bad
	}
	return found
}

// These are the amounts of memory that a scan needs besides Options.Memory.
const (
	otherMemory  = 32 << 20 // bytes for open targets
	targetMemory = 10       // bytes per target of a list
)

func (m *machine) checkMemory(o *Options) Finding {
	if m.root == nil {
		return m.absent()
	}
	need := o.Memory + otherMemory + o.Targets*targetMemory
	free, whose, err := m.freeMemory()
	if err != nil {
		return unknown("free memory can't be read")
	}
	found := Finding{
		Level: OK, Found: fmt.Sprintf("%s free %s", console.Bytes(free), whose),
		Need: fmt.Sprintf("up to %s, with many replies waiting and a long list", console.Bytes(need)),
	}
	if free < need {
		found.Level = Warning
	}
	if free < need/4 {
		found.Level = Bad
	}
	return found
}

// These are high estimates of the bytes per record, uncompressed and compressed.
const (
	recordSize       = 6000
	packedRecordSize = 1000
)

func (m *machine) checkDisk(o *Options) Finding {
	if m.disk == nil {
		return m.absent()
	}
	dir := o.dir()
	free, nodes, writable, err := m.disk(dir)
	switch {
	case err != nil:
		return Finding{Level: Bad, Found: fmt.Sprintf("%s: %v", dir, err),
			Need: "a directory that records can be written to"}
	case !writable:
		return Finding{Level: Bad, Found: dir + " can't be written to",
			Need: "a directory that records can be written to"}
	case nodes == 0:
		return Finding{Level: Bad, Found: "the disk of " + dir + " has no place for a new file (inodes)"}
	}
	found := Finding{Level: OK, Found: fmt.Sprintf("%s free in %s", console.Bytes(free), dir)}
	need := o.recordBytes()
	if o.Targets == 0 {
		found.Need = "about 6 kB per server that answers, 1 kB with .zst; -n N calculates the total"
		need = 1e9 / 2
	} else {
		found.Need = fmt.Sprintf("up to %s if all %s answer", console.Bytes(need), console.Grouped(o.Targets))
	}
	switch {
	case o.Targets > 0 && free < need, free < 50e6:
		found.Level = Bad
	case free < need+need/4: // other programs write to the disk, too
		found.Level = Warning
	}
	return found
}

// recordBytes returns the maximum size of the records if all targets answer.
func (o *Options) recordBytes() uint64 {
	if path.Ext(o.Output) == ".zst" {
		return o.Targets * packedRecordSize
	}
	return o.Targets * recordSize
}

// A clock that shows a year outside this range is wrong.
const (
	firstYear = 2025
	lastYear  = 2100
)

func (m *machine) checkClock(*Options) Finding {
	now := m.now().UTC()
	found := Finding{
		Level: OK, Found: now.Format("2006-01-02 15:04:05 UTC"),
		Need: "the right time: every record has it. Timeouts use a monotonic clock",
	}
	if y := now.Year(); y < firstYear || y > lastYear {
		found.Level = Bad
		found.Mend = []string{"sudo timedatectl set-ntp true"}
	}
	return found
}

func (m *machine) checkSync(*Options) Finding {
	if m.synced == nil {
		return m.absent()
	}
	synced, maxError, err := m.synced()
	switch {
	case err != nil:
		return unknown("the kernel does not say: %v", err)
	case synced:
		return Finding{Level: OK, Found: fmt.Sprintf("by NTP, right to %v", maxError.Round(time.Millisecond))}
	}
	return Finding{
		Level: Warning,
		Found: "nothing synchronises the clock, or nothing tells the kernel (as in many containers)",
		Need:  "a clock synchronised by NTP, to compare times with other machines",
		Mend:  []string{"sudo timedatectl set-ntp true"},
	}
}

// systemName returns the name of the system for messages.
func systemName() string { return runtime.GOOS }
