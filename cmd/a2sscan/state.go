package main

import (
	"fmt"
	"runtime"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
)

// sayState says where a scan stands, in a few lines, and lets it go on. It may
// be called while the scan runs, and waits for nothing that the scan holds.
func (j *job) sayState() {
	m := j.monitor.Load()
	if m == nil {
		doing := "preparing"
		if list := j.reading.Load(); list != nil {
			doing = loading(list)
		}
		j.Say("state: %s; nothing was sent yet", doing)
		j.sayMemory(0)
		return
	}
	s := m.Stats()
	s.Rate = j.dial.rate() // the scan may not know of it yet
	p := j.newProgress()
	v := p.look(s)
	j.Say("state: scan %s, %s", console.Plain(j.scanID, 100), v.state())

	listed := j.keep.total(j.list.Stats(), &s) // from here on of all parts
	l := newLedger(listed, &s)
	l.Unfinished = l.Read - min(l.Read, l.leftOut()+l.Finished)
	l.Unread, _ = j.unread(listed)
	j.Say("targets: %s", &l)
	j.Say("finished: %s%s", console.Grouped(l.Finished), console.SumOf(l.By, console.Words(scanner.StatusOK, scanner.NumStatuses)))
	j.Say("open: %s%s", console.Grouped(uint64(v.Open)), v.aside())
	j.Say("sent: %s datagrams, %s; %s of them repeats", console.Grouped(s.DatagramsSent()),
		console.Bytes(s.SentBytes), console.Grouped(s.Repeats))
	j.Say("received: %s datagrams, %s", console.Grouped(s.DatagramsReceived()), console.Bytes(s.RecvBytes))
	r := newRates(&s)
	r.Changes = j.dial.turns()
	j.Say("rate: %s; drops %s, send errors %s", r.String(),
		console.Grouped(s.Socket.KernelDrops), console.Grouped(s.SendErrors))
	j.sayMemory(s.Bytes)
	j.sayWritten()
}

// state is what a scan is doing.
func (v *view) state() string {
	s := v.far()
	if why := v.waiting(); why != "" {
		s += ", waiting: " + why
	}
	return s
}

// aside are the targets that wait, where there are any.
func (v *view) aside() (s string) {
	if v.Held > 0 {
		s = fmt.Sprintf("; held back: %s on %s", console.Grouped(uint64(v.Held)), console.Plural(v.HeldAddrs, "address"))
	}
	if v.Silent > 0 {
		s += "; silent, for a second look: " + console.Grouped(uint64(v.Silent))
	}
	return s
}

// sayMemory says what memory the process has, of which so many bytes are for
// replies.
func (j *job) sayMemory(replies int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	j.Say("memory: %s in use, %s of it replies; %s from the system",
		console.Bytes(m.HeapAlloc), console.Bytes(uint64(max(replies, 0))), console.Bytes(m.Sys))
}

// sayWritten says how far the files are.
func (j *job) sayWritten() {
	n, busy := j.out.soFar()
	records := console.Plural(n+j.keep.records(), "record")
	if busy {
		records = "a write takes its time now"
	}
	j.Say("output: %s, %s", console.Plain(j.output, 200), records)
	if j.keep != nil {
		j.Say("checkpoint: %s, %s", console.Plain(j.checkpoint, 200), j.keep.age())
	}
}
