package scanner

import "time"

// slack is the part of its time that a scan may lose and be said to have kept
// its rate, and the time itself.
const (
	slackPart = 0.02
	slackTime = 500 * time.Millisecond
)

// busyPart is the part of the time that sending itself must have taken so that it
// is said to have kept a scan from its rate: below, the machine had other things
// to do now and then. Another reason that took otherPart is the better one.
const (
	busyPart  = 0.2
	otherPart = 0.05
)

// LimitedBy says what kept a scan from its rate, the reason that took the most
// time, and which part of the time in which there were targets to start: from 0
// to 1. It is WaitNothing where the rate was kept but for two in a hundred, or for
// half a second. WaitSending is only said where it is sure: a scan that is woken
// up late looks the same for a while. A scan without a rate is always limited by
// something, and be it WaitSending.
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
