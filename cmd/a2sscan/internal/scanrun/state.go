package scanrun

import (
	"runtime"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ratecontrol"
	"github.com/a2sscan/a2sscan/scanner"
)

// sayState prints the state of a scan in a few lines. It does not interrupt the
// scan, may be called at any time and never waits for the scan.
func (s *Run) sayState() {
	m := s.monitor.Load()
	if m == nil {
		doing := "preparing"
		if list := s.reading.Load(); list != nil {
			doing = progress.TargetsLine(progress.Reading, list.Progress)
		}
		s.term.Say("state: %s; nothing was sent yet", doing)
		sayMemory(s.term, 0)
		return
	}
	now := m.Stats()
	if !s.opts.Pace.Find {
		now.Rate = s.rate.Rate() // the scan may not have applied the last change yet
	}
	v := s.newTracker().Sample(now)
	s.term.Say("state: scan %s, %s", console.Plain(s.id, 100), v.State())

	listed := s.checkpoint.ListTotal(s.list.Stats())
	now.Add(&s.checkpoint.Past.Stats) // now has the counts of all runs from here on
	l := ledger.Read(&ledger.Source{Scan: &now, List: listed}, ledger.Targets)
	l["unfinished"] = l.N("read") - min(l.N("read"), l.LeftOut()+l.N("finished"))
	l["unread"], _ = s.unread(listed)
	s.term.Say("targets: %s", l.Ledger())
	s.term.Say("finished: %s%s", console.Grouped(l.N("finished")), console.SumOf(l.By("by_status"), console.Words(scanner.StatusOK, scanner.NumStatuses)))
	s.term.Say("open: %s%s", console.Grouped(uint64(v.Open)), v.Waiting())
	s.term.Say("sent: %s datagrams, %s; %s of them repeats", console.Grouped(now.DatagramsSent()),
		console.Bytes(now.SentBytes), console.Grouped(now.Repeats))
	s.term.Say("received: %s datagrams, %s", console.Grouped(now.DatagramsReceived()), console.Bytes(now.RecvBytes))
	r := ledger.NewRates(&now)
	r.Changes = s.rate.Changes()
	s.term.Say("rate: %s; drops %s, send errors %s", r.String(),
		console.Grouped(now.Socket.KernelDrops), console.Grouped(now.SendErrors))
	sayMemory(s.term, now.Bytes)
	records := console.Plural(s.out.Count()+s.checkpoint.Past.Records, "record")
	s.term.Say("output: %s, %s", console.Plain(s.opts.outputName(), 200), records)
	if now := s.uploads.status(); now != nil {
		s.term.Say("store: %s arrived, %s with %s wait", console.Plural(now.Arrived, "part"), console.Plural(now.Waiting, "part"),
			console.Bytes(uint64(now.WaitingBytes)))
	}
	if s.checkpoint.Enabled {
		s.term.Say("checkpoint: %s, %s", console.Plain(s.opts.Saved.Path, 200), s.checkpoint.Age())
	}
}

// sayMemory prints how much memory the process uses. replies is the number of bytes
// that hold replies.
func sayMemory(t *console.Terminal, replies int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Say("memory: %s in use, %s of it replies; %s from the system",
		console.Bytes(m.HeapAlloc), console.Bytes(uint64(max(replies, 0))), console.Bytes(m.Sys))
}

// turnRate changes the rate by one step and prints the change.
func turnRate(rate *ratecontrol.Control, t *console.Terminal, up bool) {
	from, to, ok := rate.Step(up)
	signal, way := "SIGUSR1", "up"
	if !up {
		signal, way = "SIGUSR2", "down"
	}
	switch {
	case !ok:
		t.Say("%s: without a fixed rate the scan governs itself", signal)
		t.Hint("--rate N sets one that can be turned up and down")
	case from == to:
		t.Say("%s: the rate is %s/s, and goes no further %s", signal, console.Short(to), way)
	default:
		t.Say("%s: rate turned %s from %s/s to %s/s, begun with %s/s", signal, way,
			console.Short(from), console.Short(to), console.Short(rate.Initial()))
	}
}
