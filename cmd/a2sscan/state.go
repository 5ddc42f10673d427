package main

import (
	"runtime"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/scanner"
)

// sayState says where a scan stands, in a few lines, and lets it go on. It may
// be called while the scan runs, and waits for nothing that the scan holds.
func (j *job) sayState() {
	m := j.monitor.Load()
	if m == nil {
		doing := "preparing"
		if list := j.reading.Load(); list != nil {
			doing = progress.Loading(list.Loading())
		}
		j.Say("state: %s; nothing was sent yet", doing)
		j.sayMemory(0)
		return
	}
	s := m.Stats()
	s.Rate = j.dial.Rate() // the scan may not know of it yet
	v := j.newTracker().Sample(s)
	j.Say("state: scan %s, %s", console.Plain(j.scanID, 100), v.State())

	listed := j.keep.Total(j.list.Stats(), &s) // from here on of all parts
	l := ledger.New(listed, &s)
	l.Unfinished = l.Read - min(l.Read, l.LeftOut()+l.Finished)
	l.Unread, _ = j.unread(listed)
	j.Say("targets: %s", &l)
	j.Say("finished: %s%s", console.Grouped(l.Finished), console.SumOf(l.By, console.Words(scanner.StatusOK, scanner.NumStatuses)))
	j.Say("open: %s%s", console.Grouped(uint64(v.Open)), v.Waiting())
	j.Say("sent: %s datagrams, %s; %s of them repeats", console.Grouped(s.DatagramsSent()),
		console.Bytes(s.SentBytes), console.Grouped(s.Repeats))
	j.Say("received: %s datagrams, %s", console.Grouped(s.DatagramsReceived()), console.Bytes(s.RecvBytes))
	r := ledger.NewRates(&s)
	r.Changes = j.dial.Changes()
	j.Say("rate: %s; drops %s, send errors %s", r.String(),
		console.Grouped(s.Socket.KernelDrops), console.Grouped(s.SendErrors))
	j.sayMemory(s.Bytes)
	j.sayWritten()
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
	n, busy := j.out.CountNow()
	records := console.Plural(n+j.keep.Records(), "record")
	if busy {
		records = "a write takes its time now"
	}
	j.Say("output: %s, %s", console.Plain(j.output, 200), records)
	if j.keep.Enabled {
		j.Say("checkpoint: %s, %s", console.Plain(j.checkpoint, 200), j.keep.Age())
	}
}
