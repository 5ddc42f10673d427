package main

import (
	"fmt"
	"runtime"

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
		j.say("state: %s; nothing was sent yet", doing)
		j.sayMemory(0)
		return
	}
	s := m.Stats()
	s.Rate = j.dial.rate() // the scan may not know of it yet
	p := j.newProgress()
	v := p.look(s)
	j.say("state: scan %s, %s", plain(j.scanID, 100), v.state())

	listed := j.keep.total(j.list.Stats(), &s) // from here on of all parts
	l := newLedger(listed, &s)
	l.Unfinished = l.Read - min(l.Read, l.leftOut()+l.Finished)
	l.Unread, _ = j.unread(listed)
	j.say("targets: %s", &l)
	j.say("finished: %s%s", grouped(l.Finished), sumOf(l.By, words(scanner.StatusOK, scanner.NumStatuses)))
	j.say("open: %s%s", grouped(uint64(v.Open)), v.aside())
	j.say("sent: %s datagrams, %s; %s of them repeats", grouped(s.DatagramsSent()),
		size(s.SentBytes), grouped(s.Repeats))
	j.say("received: %s datagrams, %s", grouped(s.DatagramsReceived()), size(s.RecvBytes))
	r := newRates(&s)
	r.Changes = j.dial.turns()
	j.say("rate: %s; drops %s, send errors %s", r.String(),
		grouped(s.Socket.KernelDrops), grouped(s.SendErrors))
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
		s = fmt.Sprintf("; held back: %s on %s", grouped(uint64(v.Held)), plural(v.HeldAddrs, "address"))
	}
	if v.Silent > 0 {
		s += "; silent, for a second look: " + grouped(uint64(v.Silent))
	}
	return s
}

// sayMemory says what memory the process has, of which so many bytes are for
// replies.
func (j *job) sayMemory(replies int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	j.say("memory: %s in use, %s of it replies; %s from the system",
		size(m.HeapAlloc), size(uint64(max(replies, 0))), size(m.Sys))
}

// sayWritten says how far the files are.
func (j *job) sayWritten() {
	n, busy := j.out.soFar()
	records := plural(n+j.keep.records(), "record")
	if busy {
		records = "a write takes its time now"
	}
	j.say("output: %s, %s", plain(j.output, 200), records)
	if j.keep != nil {
		j.say("checkpoint: %s, %s", plain(j.checkpoint, 200), j.keep.age())
	}
}
