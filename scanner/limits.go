package scanner

import "time"

// A scan that lost less than slackPart of its time, or less than slackTime, counts
// as having kept its rate.
const (
	slackPart = 0.02
	slackTime = 500 * time.Millisecond
)

// Sending itself is reported as the limit only if it took at least busyPart of the
// time: below that, the machine was just busy with other work now and then. Another
// reason that took at least otherPart takes precedence.
const (
	busyPart  = 0.2
	otherPart = 0.05
)

// LimitedBy returns the reason that kept the scan below its rate for the longest time,
// and its share, from 0 to 1, of the time in which there were targets to start. The
// reason is WaitNothing if the scan lost at most two percent of its time or at most
// half a second. It is WaitSending only if sending took a large share of the time,
// because a scan that now and then wakes up late looks the same. A scan without a rate
// always has a reason, if only WaitSending.
func (s *Stats) LimitedBy() (why Wait, part float64) {
	var lost uint64
	spent := s.Elapsed.Microseconds() - int64(s.Waited[WaitReplies]+s.Waited[WaitCooldown])
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
	kept := time.Duration(lost)*time.Microsecond <= max(slackTime, time.Duration(slackPart*float64(spent))*time.Microsecond)
	switch {
	case s.Rate == Off && sending:
		return WaitSending, partOf(WaitSending)
	case s.Rate == Off:
		return other, partOf(other)
	case kept:
		return WaitNothing, 0
	case !sending || partOf(other) >= otherPart:
		return other, partOf(other)
	case partOf(WaitSending) < busyPart:
		return WaitNothing, 0
	}
	return WaitSending, partOf(WaitSending)
}
