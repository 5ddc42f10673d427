package main

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
)

// machine is what doctor looks at. A field that is nil is not there on this
// system.
type machine struct {
	root   fs.FS // the root directory, for /proc and /sys
	system string

	kernel  func() (release string, err error)
	buffers func(recv, send int) (gotRecv, gotSend int, err error)
	bind    func(from flagvalue.Source) error
	files   func() (limit uint64, err error)
	disk    func(dir string) (free, nodes uint64, writable bool, err error)
	synced  func() (synced bool, maxError time.Duration, err error)
	now     func() time.Time
	cpus    int
}

// examine looks at everything.
func (m *machine) examine(f *doctorFlags) *report {
	r := &report{Schema: 1, Ready: true}
	if f.rate != 0 {
		rate := float64(f.rate)
		r.Rate = &rate
	}
	for _, check := range []struct {
		word string
		look func(*doctorFlags) finding
	}{
		{"kernel", m.checkKernel},
		{"receive_buffer", m.checkRecvBuffer},
		{"send_buffer", m.checkSendBuffer},
		{"conntrack", m.checkConntrack},
		{"fragments", m.checkFragments},
		{"source", m.checkSource},
		{"files", m.checkFiles},
		{"processors", m.checkProcessors},
		{"memory", m.checkMemory},
		{"disk", m.checkDisk},
		{"clock", m.checkClock},
		{"clock_sync", m.checkSync},
	} {
		found := check.look(f)
		found.Check = check.word
		found.Found = console.Plain(found.Found, console.MaxLine) // errors and paths are in it
		r.Findings = append(r.Findings, found)
		r.Ready = r.Ready && found.Level != levelBad
	}
	return r
}

// absent is the finding of a check that this system does not have.
func (m *machine) absent() finding {
	return finding{Level: levelUnknown, Found: "not checked on " + m.system}
}

func unknown(format string, args ...any) finding {
	return finding{Level: levelUnknown, Found: fmt.Sprintf(format, args...)}
}

// sysctl is how to set a kernel value, now and at every start.
func sysctl(name string, value uint64) []string {
	return []string{
		fmt.Sprintf("sudo sysctl -w %s=%d", name, value),
		fmt.Sprintf("echo '%s = %d' | sudo tee -a /etc/sysctl.d/a2sscan.conf", name, value),
	}
}

// number reads a file with one number in it.
func (m *machine) number(name string) (uint64, error) {
	text, err := fs.ReadFile(m.root, name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

func (m *machine) checkKernel(*doctorFlags) finding {
	if m.kernel == nil {
		return finding{Level: levelUnknown, Found: "on " + m.system + " datagrams go one a system call, " +
			"and what the system drops is not counted"}
	}
	release, err := m.kernel()
	if err != nil {
		return finding{Level: levelBad, Found: fmt.Sprintf("the socket that a scan needs can't be opened: %v", err),
			Need: "batches, counts of what the kernel drops (SO_RXQ_OVFL) and news of ICMP (IP_RECVERR)"}
	}
	return finding{Level: levelOK, Found: release + ": batches, counts of drops and news of ICMP work"}
}

func (m *machine) checkRecvBuffer(f *doctorFlags) finding {
	if m.buffers == nil {
		return m.absent()
	}
	ask, send, need := f.config().Buffers()
	got, _, err := m.buffers(ask, send)
	if err != nil {
		return unknown("no socket to look at: %v", err)
	}
	found := finding{
		Level: levelOK,
		Found: fmt.Sprintf("%s granted of %s asked for", console.Bytes(uint64(got)), console.Bytes(uint64(ask))),
		Need:  console.Bytes(uint64(need)) + ", for the replies of 100 ms at this rate: what finds no room is lost",
	}
	if got < need {
		found.Level = levelWarning
		found.Mend = sysctl("net.core.rmem_max", uint64(ask))
	}
	if got < need/10 {
		found.Level = levelBad
	}
	return found
}

// leastSendBuffer has room for a batch of 128 requests, for each of which the
// kernel counts 768 bytes or some more.
const leastSendBuffer = 160 << 10

func (m *machine) checkSendBuffer(f *doctorFlags) finding {
	if m.buffers == nil {
		return m.absent()
	}
	recv, ask, _ := f.config().Buffers()
	_, got, err := m.buffers(recv, ask)
	if err != nil {
		return unknown("no socket to look at: %v", err)
	}
	found := finding{
		Level: levelOK,
		Found: fmt.Sprintf("%s granted of %s asked for", console.Bytes(uint64(got)), console.Bytes(uint64(ask))),
		Need:  console.Bytes(leastSendBuffer) + ", for one batch of requests: with less, sending waits for the network card",
	}
	if got < leastSendBuffer {
		found.Level = levelWarning
		found.Mend = sysctl("net.core.wmem_max", uint64(ask))
	}
	return found
}

func (f *doctorFlags) config() scanner.Config {
	return scanner.Config{Rate: f.rate.Limit(), Timeout: f.timeout, Retries: flagvalue.OrOff(f.retries)}
}

// newTargets is how many targets a second are started at most: those that are
// silent are sent 1 + retries datagrams, those that answer three or four.
func (f *doctorFlags) newTargets() float64 {
	return f.perSecond() / math.Min(float64(1+f.retries), 3)
}

const conntrackDir = "proc/sys/net/netfilter/"

// checkConntrack: each target is a connection to netfilter, which remembers it
// for a while after its last datagram. A table that is full drops new ones.
func (m *machine) checkConntrack(f *doctorFlags) finding {
	if m.root == nil {
		return m.absent()
	}
	most, err := m.number(conntrackDir + "nf_conntrack_max")
	if err != nil {
		return finding{Level: levelOK, Found: "not loaded: this machine tracks no connections"}
	}
	used, err := m.number(conntrackDir + "nf_conntrack_count")
	if err != nil {
		return unknown("loaded, and its table can't be read: %v", err)
	}
	need := f.tracked(m.udpTimeout())
	found := finding{
		Level: levelOK,
		Found: fmt.Sprintf("%s of %s entries in use", console.Grouped(used), console.Grouped(most)),
		Need: fmt.Sprintf("%s more, as each target is one until %v after its last datagram: "+
			"a full table drops packets. Whether a rule has connections tracked can't be "+
			"seen from here; one with NOTRACK for UDP spares the table", console.Grouped(need), m.udpTimeout()),
	}
	if used == 0 {
		found.Found += ": it seems that no rule has connections tracked"
		return found
	}
	if used+need > most/10*9 {
		found.Level = levelWarning
		found.Mend = sysctl("net.netfilter.nf_conntrack_max", roundUp((used+need)*5/4))
	}
	if used+need > most {
		found.Level = levelBad
	}
	return found
}

// tracked is how many entries the connections of a scan take at most.
func (f *doctorFlags) tracked(keeps time.Duration) uint64 {
	open := scanner.Schedule{Timeout: f.timeout, Retries: f.retries}.Silence()
	n := f.newTargets() * (open + keeps).Seconds()
	if f.targets > 0 {
		n = math.Min(n, float64(f.targets))
	}
	return uint64(n)
}

// udpTimeout is how long netfilter remembers a UDP connection.
func (m *machine) udpTimeout() time.Duration {
	if s, err := m.number(conntrackDir + "nf_conntrack_udp_timeout"); err == nil && s < 1e6 {
		return time.Duration(s) * time.Second
	}
	return 30 * time.Second
}

// roundUp makes a limit of a number: the next power of two.
func roundUp(n uint64) uint64 {
	limit := uint64(1)
	for limit < n && limit < 1<<62 {
		limit *= 2
	}
	return limit
}

// What fragments of IP are reckoned with: one answer in twenty is longer than a
// packet (EC-52), one in fifty of those loses a fragment, and what is left of it
// takes this much until it is given up.
const (
	longShare    = 1.0 / 20
	lostShare    = 1.0 / 50
	longCost     = 4 << 10
	ipv4Dir      = "proc/sys/net/ipv4/"
	leastFragMem = 256 << 10
)

func (m *machine) checkFragments(f *doctorFlags) finding {
	if m.root == nil {
		return m.absent()
	}
	most, err1 := m.number(ipv4Dir + "ipfrag_high_thresh")
	keeps, err2 := m.number(ipv4Dir + "ipfrag_time")
	if err1 != nil || err2 != nil {
		return unknown("ipfrag_high_thresh and ipfrag_time can't be read")
	}
	need := uint64(f.perSecond()*longShare*lostShare*float64(min(keeps, 600))*longCost) + leastFragMem
	found := finding{
		Level: levelOK,
		Found: fmt.Sprintf("%s for IP fragments that wait, %d s at most", console.Bytes(most), keeps),
		Need: fmt.Sprintf("%s: replies longer than a packet come in IP fragments, and "+
			"without room the kernel drops them, so that those servers look silent", console.Bytes(need)),
	}
	if most < need {
		found.Level = levelWarning
		found.Mend = sysctl("net.ipv4.ipfrag_high_thresh", roundUp(need))
	}
	if most < leastFragMem {
		found.Level = levelBad
	}
	return found
}

// checkSource looks at where datagrams would come from.
func (m *machine) checkSource(f *doctorFlags) finding {
	if m.bind == nil {
		return m.absent()
	}
	if err := m.bind(f.source); err != nil {
		return finding{Level: levelBad, Found: f.source.Failure(err).Error(),
			Need: "an address of this machine and, if one is named, a port that nobody else has"}
	}
	found := finding{Level: levelOK, Found: "the system chooses address and port"}
	if from := f.source.AddrPort(); from.IsValid() {
		found.Found = f.source.String() + " is free"
	}
	if m.root == nil {
		return found
	}
	if f.source.AddrPort().Port() == 0 {
		found.Found += m.portRange()
	}
	routed, known := m.routed()
	switch {
	case f.source.AddrPort().Addr().IsLoopback():
		found.Level = levelWarning
		found.Found += "; from there only this machine can be asked"
		found.Need = "an address that servers elsewhere can answer to"
	case known && !routed:
		found.Level = levelWarning
		found.Found += "; there is no default route"
		found.Need = "a route to the servers: without one only those of the networks at hand can be asked"
	}
	return found
}

func (m *machine) portRange() string {
	text, err := fs.ReadFile(m.root, ipv4Dir+"ip_local_port_range")
	f := strings.Fields(string(text))
	if err != nil || len(f) != 2 {
		return ""
	}
	return fmt.Sprintf("; the port is one of %s to %s", f[0], f[1])
}

// routed reports whether there is a default route.
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

// What a scan opens: the socket, the poller, lists, output, summary,
// checkpoint, metrics and their clients.
const (
	fewFiles  = 24
	someFiles = 128
)

// moreFiles is how to raise the limit. Go programs go up to the hard one by
// themselves.
var moreFiles = []string{
	"ulimit -n 1024",
	"echo '* hard nofile 1024' | sudo tee -a /etc/security/limits.d/a2sscan.conf",
}

func (m *machine) checkFiles(*doctorFlags) finding {
	if m.files == nil {
		return m.absent()
	}
	limit, err := m.files()
	if err != nil {
		return unknown("the limit of open files can't be read: %v", err)
	}
	found := finding{
		Level: levelOK, Found: console.Grouped(limit) + " may be open",
		Need: fmt.Sprintf("%d: one socket for all servers, lists, output, metrics", someFiles),
	}
	if limit == math.MaxUint64 {
		found.Found = "any number may be open"
	}
	if limit < someFiles {
		found.Level, found.Mend = levelWarning, moreFiles
	}
	if limit < fewFiles {
		found.Level = levelBad
	}
	return found
}

// busyRate is the rate from which on a second processor is wanted beside the
// loop's: for records, compression and the garbage collector.
const busyRate = 50e3

func (m *machine) checkProcessors(f *doctorFlags) finding {
	found := finding{
		Level: levelOK, Found: fmt.Sprintf("%d", m.cpus),
		Need: "one for the loop that sends and receives, and from 50k datagrams a second " +
			"a second one for the records",
	}
	have := float64(m.cpus)
	if quota, ok := m.cpuQuota(); ok && quota < have {
		have = quota
		found.Found += fmt.Sprintf(", of which the container may use %.2g", quota)
	}
	if have < 1 || have < 2 && f.perSecond() >= busyRate {
		found.Level = levelWarning
	}
	if have < 0.2 {
		found.Level = levelBad
	}
	return found
}

// What a scan takes beside its list: the memory limit that it sets itself, and
// the open targets.
const (
	scanMemory   = memoryLimit + 32<<20
	targetMemory = 10 // bytes a target of a list
)

func (m *machine) checkMemory(f *doctorFlags) finding {
	if m.root == nil {
		return m.absent()
	}
	need := uint64(scanMemory) + f.targets*targetMemory
	free, whose, err := m.freeMemory()
	if err != nil {
		return unknown("how much is free can't be read")
	}
	found := finding{
		Level: levelOK, Found: fmt.Sprintf("%s free %s", console.Bytes(free), whose),
		Need: fmt.Sprintf("up to %s, when many replies wait and the list is long", console.Bytes(need)),
	}
	if free < need {
		found.Level = levelWarning
	}
	if free < need/4 {
		found.Level = levelBad
	}
	return found
}

// What a record takes, rather more than less: 6 kB, or 1 kB compressed.
const (
	recordSize       = 6000
	packedRecordSize = 1000
)

func (m *machine) checkDisk(f *doctorFlags) finding {
	if m.disk == nil {
		return m.absent()
	}
	dir := f.dir()
	free, nodes, writable, err := m.disk(dir)
	switch {
	case err != nil:
		return finding{Level: levelBad, Found: fmt.Sprintf("%s: %v", dir, err),
			Need: "a directory that records can be written to"}
	case !writable:
		return finding{Level: levelBad, Found: dir + " can't be written to",
			Need: "a directory that records can be written to"}
	case nodes == 0:
		return finding{Level: levelBad, Found: "the disk of " + dir + " has no place for a new file (inodes)"}
	}
	found := finding{Level: levelOK, Found: fmt.Sprintf("%s free in %s", console.Bytes(free), dir)}
	need := f.recordBytes()
	if f.targets == 0 {
		found.Need = "some 6 kB a server that answers, 1 kB with .zst: with -n N there is a sum"
		need = 1e9 / 2
	} else {
		found.Need = fmt.Sprintf("up to %s if all %s answer", console.Bytes(need), console.Grouped(f.targets))
	}
	switch {
	case f.targets > 0 && free < need, free < 50e6:
		found.Level = levelBad
	case free < need+need/4: // others write too
		found.Level = levelWarning
	}
	return found
}

// recordBytes is how much the records of all targets take at most.
func (f *doctorFlags) recordBytes() uint64 {
	if path.Ext(f.output) == ".zst" {
		return f.targets * packedRecordSize
	}
	return f.targets * recordSize
}

// The years in which a clock is believed.
const (
	firstYear = 2025
	lastYear  = 2100
)

func (m *machine) checkClock(*doctorFlags) finding {
	now := m.now().UTC()
	found := finding{
		Level: levelOK, Found: now.Format("2006-01-02 15:04:05 UTC"),
		Need: "the right time: every record bears it. Timeouts are by another clock, which is never set",
	}
	if y := now.Year(); y < firstYear || y > lastYear {
		found.Level = levelBad
		found.Mend = []string{"sudo timedatectl set-ntp true"}
	}
	return found
}

func (m *machine) checkSync(*doctorFlags) finding {
	if m.synced == nil {
		return m.absent()
	}
	synced, maxError, err := m.synced()
	switch {
	case err != nil:
		return unknown("the kernel does not tell: %v", err)
	case synced:
		return finding{Level: levelOK, Found: fmt.Sprintf("by NTP, right to %v", maxError.Round(time.Millisecond))}
	}
	return finding{
		Level: levelWarning,
		Found: "nothing keeps the clock right, or nothing tells the kernel (as in many containers)",
		Need:  "a clock kept right by NTP, if times are to be compared with those of other machines",
		Mend:  []string{"sudo timedatectl set-ntp true"},
	}
}

// systemName is the system's name for a person.
func systemName() string { return runtime.GOOS }
