package scanner

import (
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner/congestion"
	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// Classes are the words for the classes of received datagrams in the scan's summary, in
// the order of Stats.Received.
var Classes = [session.NumClasses]string{"foreign", "late", "malformed", "duplicate", "matched"}

// Wait is the reason why a scan sends nothing now.
type Wait uint8

// The reasons to wait.
const (
	WaitNothing  Wait = iota // the scan sends as fast as the rate allows
	WaitTargets              // the list has no target ready
	waitInFlight             // as many targets are open as Tuning.InFlight allows
	WaitAddress              // the remaining targets wait for the rate limits of their addresses
	waitBudget               // the byte budget is full
	waitOutput               // the caller takes results more slowly than servers answer
	waitBacklog              // received datagrams are not read yet
	WaitReplies              // every target was started; replies or timeouts are still to come
	WaitCooldown             // every target is finished; late replies may still come
	waitKernel               // the kernel takes no more datagrams for now
	WaitSending              // in Stats.Waited only: sending itself takes all the time
	waitLosses               // in Stats.Waited only: a scan without a rate slows itself down so that nothing is lost

	NumWaits = iota
)

// waits has, for each Wait, what the scan waits for, the word in the summary, and what kept
// the scan below its rate.
var waits = [NumWaits]struct{ text, word, limit string }{
	WaitTargets:  {"the target list", "list", "the target list"},
	waitInFlight: {"answers (too many targets are open)", "in_flight", "the number of targets open at once"},
	WaitAddress:  {"addresses at their limit", "per_address", "the rate limit of an address"},
	waitBudget:   {"memory for replies", "byte_budget", "the memory for replies"},
	waitOutput:   {"the output", "output", "the output"},
	waitBacklog:  {"replies that are not read yet", "backlog", "replies that are not read yet"},
	WaitReplies:  {"the last replies", "replies", "the last replies"},
	WaitCooldown: {"late replies", "cooldown", "the cooldown"},
	waitKernel:   {"room in the kernel's buffer", "kernel", "the kernel's send buffer"},
	WaitSending:  {"the processor", "cpu", "the processor"},
	waitLosses:   {"the receiving side to catch up", "losses", "the receiving side"},
}

// Limit says in words what kept the scan below its rate.
func (w Wait) Limit() string { return waits[w].limit }

// Word returns the word in the scan's summary for what kept the scan below its rate.
func (w Wait) Word() string { return waits[w].word }

// String says in words what the scan waits for.
func (w Wait) String() string { return waits[w].text }

// Stats are the numbers of a scan that is running or has ended. Numbers of type uint64
// are counters, which only grow.
type Stats struct {
	Elapsed time.Duration // since the scan began, outages included
	Wait    Wait          // the current reason to wait
	// Waited is, for each reason, the time in microseconds in which the rate allowed
	// datagrams and none was sent. A scan without a rate counts all its time.
	Waited [NumWaits]uint64

	// Targets. Taken = Unscannable + Excluded + Duplicate + OverLimit + Unfinished
	// + the sum of Finished.
	Taken       uint64              // read from the list
	Unscannable uint64              // no IPv4 address, or port 0
	Excluded    uint64              // by Config.Excluded, before anything was sent
	Duplicate   uint64              // already being queried, or finished within the cooldown
	OverLimit   uint64              // beyond MaxPerAddress
	Finished    [NumStatuses]uint64 // finished targets by Status
	Stopped     uint64              // finished targets that were excluded after their first datagram
	Overdue     uint64              // targets that were ended because they waited far too long, which is a fault of the scanner
	Unheard     uint64              // targets with StatusError and no reply: a fault of this machine prevented the query
	Unfinished  uint64              // set at the end: all targets that were read and not finished
	Open        int                 // started and not finished, Timeouts.Listening included
	Held        int                 // read and held back by the limit of their address
	HeldAddrs   int                 // number of addresses of the targets in Held
	// HeldFor is the estimated time until the last target in Held starts; 0 unless Wait is
	// WaitAddress.
	HeldFor  time.Duration
	Silent   int // silent targets that wait for the second pass
	PeakOpen int // maximum number of targets that waited for an answer at the same time

	// Datagrams.
	Sent       [wire.NumRequests]uint64   // datagrams sent, by question
	Repeats    uint64                     // datagrams sent again after silence
	SentBytes  uint64                     // UDP payload
	Received   [session.NumClasses]uint64 // by class; their sum is all received datagrams
	Foreign    [numForeignCauses]uint64   // Received[session.Foreign] by probable cause
	RecvBytes  uint64                     // UDP payload
	Kinds      [session.NumKinds]uint64   // matched datagrams by kind
	Errors     [wire.NumErrors]uint64     // questions without a complete answer, of finished targets, by error
	SendErrors uint64                     // datagrams that could not be sent
	SendFaults [numSendFaults]uint64      // SendErrors by reason
	SendAgain  uint64                     // sends that the kernel refused with ErrAgain
	Outages    uint64                     // number of network outages of this machine
	OutageTime uint64                     // total length of past outages in microseconds
	// GSOStopped is 1 if the scan stopped using GSO, because requests sent with it got no
	// answers.
	GSOStopped uint64

	Away    int64         // start of the current outage, in seconds since 1970; 0: there is no outage
	AwayFor time.Duration // length of the current outage so far

	Conflicts uint64 // finished targets with two different answers to a question that was asked once

	Timeouts Timeouts // learned timeouts; zero if the timeouts are fixed

	// Memory.
	Bytes     int64 // bytes of replies and fragments that the scan holds now
	PeakBytes int64 // maximum size of the replies held at once, without fragments

	Path congestion.Path // what a scan with Config.FindRate found

	Rate float64 // current value of Config.Rate
	// Allowed counts the datagrams that the rate allowed in the time in which only the rate
	// held the scan back.
	Allowed uint64
	// Settled is set only for a scan without a rate. It is the mean number of datagrams per
	// second, over the last seconds in which only the processor or losses held the scan
	// back.
	Settled float64
	Slowed  uint64      // for a scan without a rate: number of samples in which this machine was overloaded
	Socket  udp.Stats   // what the socket counted
	Reasm   reasm.Stats // what happened to fragments
}

// Active returns how long the scan has lasted, not counting outages.
func (s *Stats) Active() time.Duration {
	return max(0, s.Elapsed-time.Duration(s.OutageTime)*time.Microsecond-s.AwayFor)
}

// DatagramsSent returns the number of datagrams sent.
func (s *Stats) DatagramsSent() uint64 { return sum(s.Sent[:]) }

// DatagramsReceived returns the number of datagrams received.
func (s *Stats) DatagramsReceived() uint64 { return sum(s.Received[:]) }

// TargetsFinished returns the number of finished targets.
func (s *Stats) TargetsFinished() uint64 { return sum(s.Finished[:]) }

// Answered returns the number of finished targets that sent a reply.
func (s *Stats) Answered() uint64 {
	return s.Finished[StatusOK] + s.Finished[StatusPartial] + s.Finished[StatusError] - s.Unheard
}

func sum(v []uint64) (n uint64) {
	for _, x := range v {
		n += x
	}
	return n
}

// ReplyKinds are the words for the kinds of replies in the scan's summary, in the order of
// Stats.Kinds.
var ReplyKinds = [session.NumKinds]string{
	"info", "goldsource", "players", "rules", "challenge", "fragment", "text", "other", "ping",
}

// Monitor shows the numbers of a running scan. The zero value is ready to use. A Monitor
// serves one scan.
type Monitor struct {
	mu    sync.Mutex
	stats Stats
}

// Stats returns the latest numbers. A running scan updates them about ten times a second.
func (m *Monitor) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats
}

func (m *Monitor) set(s Stats) {
	m.mu.Lock()
	m.stats = s
	m.mu.Unlock()
}

// Add adds the statistics of the earlier parts of a scan to s, the statistics of its last
// part. It adds the counters and Elapsed, and keeps the higher PeakOpen and PeakBytes. It
// does not change the current values in s, such as Open, Bytes and Rate.
//
// If the last part resumed from a Snapshot, the targets that were open in the
// Snapshot are counted twice in Taken.
func (s *Stats) Add(past *Stats) {
	s.Elapsed += past.Elapsed
	s.PeakOpen = max(s.PeakOpen, past.PeakOpen)
	s.PeakBytes = max(s.PeakBytes, past.PeakBytes)
	more := past.counters()
	for i, n := range s.counters() {
		*n += *more[i]
	}
}

func (s *Stats) counters() []*uint64 {
	k, r, p := &s.Socket, &s.Reasm, &s.Path
	all := []*uint64{
		&s.Taken, &s.Unscannable, &s.Excluded, &s.Duplicate, &s.OverLimit, &s.Stopped, &s.Overdue, &s.Unheard,
		&s.Unfinished, &s.Repeats, &s.SentBytes, &s.RecvBytes, &s.SendErrors, &s.SendAgain, &s.Outages,
		&s.OutageTime, &s.GSOStopped, &s.Conflicts, &s.Timeouts.Reopened, &s.Allowed, &s.Slowed,
		&k.Sent, &k.SentBytes, &k.GSO, &k.Received, &k.ReceivedBytes, &k.Reads, &k.Writes, &k.KernelDrops,
		&r.Whole, &r.Packed, &r.Duplicate, &r.Conflict, &r.Malformed, &r.TooLarge, &r.Evicted, &r.Expired, &r.Forgotten,
		&p.Raised, &p.Slowed, &p.Unrelated,
	}
	for _, counts := range [][]uint64{
		s.Waited[:], s.Finished[:], s.Sent[:], s.Received[:], s.Foreign[:], s.Kinds[:], s.Errors[:],
		s.SendFaults[:], p.Asked[:], p.Answered[:],
	} {
		for i := range counts {
			all = append(all, &counts[i])
		}
	}
	return all
}

// A scan that lost at most slackPart of its time, or at most slackTime, counts as a scan
// that reached its rate.
const (
	slackPart = 0.02
	slackTime = 500 * time.Millisecond
)

// Sending itself counts as the limit only if it took at least busyPart of the time. A
// smaller part only shows that the machine was busy with other work now and then. Any
// other reason that took at least otherPart of the time takes precedence over sending.
const (
	busyPart  = 0.2
	otherPart = 0.05
)

// LimitedBy returns the main reason that kept the scan below its rate, and the share of
// the time, from 0 to 1, that this reason took. The time after all targets were started
// does not count. A scan with a rate has two special cases. The reason is WaitNothing if
// the scan lost at most two percent of its time or at most half a second. It is
// WaitSending only if sending took at least a fifth of the time.
func (s *Stats) LimitedBy() (why Wait, part float64) {
	var lost uint64
	spent := s.Active().Microseconds() - int64(s.Waited[WaitReplies]+s.Waited[WaitCooldown])
	partOf := func(w Wait) float64 { return min(1, float64(s.Waited[w])/float64(max(spent, 1))) }
	other := WaitNothing
	for w := range Wait(NumWaits) {
		if w == WaitReplies || w == WaitCooldown {
			continue
		}
		lost += s.Waited[w]
		if w != WaitSending && s.Waited[w] > s.Waited[other] {
			other = w
		}
	}
	sending := s.Waited[WaitSending] > s.Waited[other]
	if s.Rate != Off {
		atRate := time.Duration(lost)*time.Microsecond <= max(slackTime, time.Duration(slackPart*float64(spent))*time.Microsecond)
		sending = sending && partOf(other) < otherPart
		if atRate || sending && partOf(WaitSending) < busyPart {
			return WaitNothing, 0
		}
	}
	if sending {
		other = WaitSending
	}
	return other, partOf(other)
}
