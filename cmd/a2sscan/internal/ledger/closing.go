package ledger

import (
	"fmt"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/tally"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// The closing lines of a scan: what was asked, found, and lost and why, how fast
// that was, and where the files are. They fit on a screen of 24 lines of 80
// characters where nothing is odd. Sums leave out what is zero: the summary
// file has all.

// sayNobody says what may be the reason where nobody answered.
func (sum *Summary) sayNobody(t *console.Terminal) {
	switch l := &sum.Targets; {
	case l.Finished == 0:
	case l.By["unreachable"] == l.Finished:
		t.Hint("nothing listens there, as the network says: another port, or no servers? " +
			"a2sscan ask says more of one of them")
	case l.By["no_reply"]+l.By["unreachable"] == l.Finished:
		t.Hint("nobody answered: another port, or a firewall in between? a2sscan ask says more of one of them")
	}
}

// Say tells a person how the scan went.
func (sum *Summary) Say(t *console.Terminal) {
	l := &sum.Targets
	t.Say("targets: %s", l)
	sum.sayExclusions(t)
	t.Say("finished: %s%s", console.Grouped(l.Finished),
		console.SumOf(l.By, console.Words(scanner.StatusOK, scanner.NumStatuses)))
	t.Say("found: %s", sum.tally.Line(l.Finished))
	if sum.tally.Servers > 0 {
		sum.sayAnswers(t)
	} else {
		sum.sayNobody(t)
	}
	if len(sum.Faults) > 0 {
		t.Say("faults: %s", console.Listed(sum.Faults, console.Words(wire.Error(1), wire.NumErrors), ", "))
	}
	sum.sayDatagrams(t)
	sum.sayTrouble(t)
	t.Say("rate: %s; time: %s", sum.Rates.String(),
		time.Duration(sum.Seconds*float64(time.Second)).Round(10*time.Millisecond))
	sum.Rates.sayLimit(t)
}

// namesShown is how many games, maps, systems and versions are named at most.
const namesShown = 8

// sayAnswers says what answered.
func (sum *Summary) sayAnswers(t *console.Terminal) {
	t.Say("answered: %s", &sum.FirstAnswers)
	if sum.RoundTrips != nil {
		t.Say("round trips: %s", sum.RoundTrips)
	}
	for _, kind := range []struct {
		word  string
		names *tally.TopNames
	}{
		{"games", &sum.tally.Games}, {"maps", &sum.tally.Maps},
		{"systems", &sum.tally.Systems}, {"versions", &sum.tally.Versions},
		{"countries", &sum.tally.Countries},
	} {
		if kind.names.Size() == 0 {
			continue
		}
		head := fmt.Sprintf("%s (%s): ", kind.word, kind.names.Number())
		room := t.Width() - len("a2sscan: ") - len(head)
		t.Say("%s%s", head, kind.names.Shown(namesShown, room, sum.tally.Servers))
	}
}

// sayDatagrams says what was sent and received.
func (sum *Summary) sayDatagrams(t *console.Terminal) {
	d := &sum.Datagrams
	t.Say("sent: %s datagrams, %s%s; %s of them repeats", console.Grouped(d.Sent), console.Bytes(d.SentBytes),
		console.SumOf(d.SentBy, console.Words(wire.Question(0), wire.NumRequests)), console.Grouped(d.Repeats))
	t.Say("received: %s datagrams, %s%s", console.Grouped(d.Received), console.Bytes(d.ReceivedBytes),
		console.SumOf(d.ByClass, console.Words(scanner.Class(0), scanner.NumClasses)))
	if matched := d.ByClass["matched"]; matched > 0 && t.Width() >= console.LogWidth {
		t.Say("matched: %s%s", console.Grouped(matched),
			console.SumOf(d.ByKind, console.Words(scanner.ReplyKind(0), scanner.NumKinds)))
	}
}

// word is how targets are counted that the rule leaves out.
func (x *Exclusion) word() string {
	if x.Unscannable {
		return "unscannable"
	}
	return "excluded"
}

// exclusionsShown is how many rules the closing lines name; the file has all.
const exclusionsShown = 4

// sayExclusions says what left targets out.
func (sum *Summary) sayExclusions(t *console.Terminal) {
	if sum.Targets.NoPort > 0 {
		t.Say("unscannable: %s with port 0", console.Grouped(sum.Targets.NoPort))
	}
	for i, x := range sum.Exclusions {
		if i == exclusionsShown {
			t.Say("excluded: by %d more rules", len(sum.Exclusions)-i)
			break
		}
		t.Say("%s: %s in %s (%s)", x.word(), console.Grouped(x.Targets+x.Stopped), x.Network,
			strings.TrimPrefix(x.Reason+", "+x.Source, ", "))
	}
	if n := sum.Targets.Stopped; n > 0 {
		t.Say("excluded: %s of them when they had been asked already, and so they are finished", console.Grouped(n))
	}
}

// sayForged reports replies that may be forged.
func (sum *Summary) sayForged(t *console.Terminal) {
	d := &sum.Datagrams
	if d.Conflicts+d.LateConflicts > 0 {
		t.Say("conflicts: %s servers contradict themselves, %s more after their record was written",
			console.Grouped(d.Conflicts), console.Grouped(d.LateConflicts))
	}
	if d.Forged {
		t.Say("WARNING: somebody most likely forges replies: %s came from targets before they were asked, "+
			"%s from addresses that were not asked", console.Grouped(d.EarlyReplies), console.Grouped(d.ForeignReplies))
		t.Hint("a record says what was received, not who sent it; scan again from another port or address")
	}
}

// sayTrouble says what stood in the way, and what can be done about it.
func (sum *Summary) sayTrouble(t *console.Terminal) {
	d := &sum.Datagrams
	sum.sayForged(t)
	if d.SendErrors > 0 {
		t.Say("send errors: %s datagrams could not be sent%s", console.Grouped(d.SendErrors),
			console.SumOf(d.SendFaults, console.Words(scanner.SendFault(0), scanner.NumSendFaults)))
		t.Hint("%s", sendHint(d.SendFaults))
	}
	if d.PairsLost {
		t.Say("segmentation offload: requests that the kernel or the network card was to cut in two stayed unanswered, " +
			"and it was done no more")
		t.Hint("nothing is lost by it but time; --no-gso does without from the beginning")
	}
	refused := sum.RecvBuffer < sum.RecvBufferAsked
	if d.KernelDrops > 0 {
		t.Say("kernel drops: %s datagrams arrived and were thrown away, receive buffer %s",
			console.Grouped(d.KernelDrops), console.Bytes(uint64(sum.RecvBuffer)))
	}
	switch {
	case refused:
		t.Say("receive buffer: asked for %s, granted %s",
			console.Bytes(uint64(sum.RecvBufferAsked)), console.Bytes(uint64(sum.RecvBuffer)))
		t.Hint("as root: sysctl -w net.core.rmem_max=%d", sum.RecvBufferAsked)
	case d.KernelDrops > 0:
		t.Hint("a lower --rate, or a machine with more cores")
	}
}

// sendHints say what can be done about datagrams that could not be sent.
var sendHints = [scanner.NumSendFaults]string{
	scanner.SendOther:     "the summary file has the numbers; a2sscan doctor looks at this machine",
	scanner.SendPutOff:    "the network device takes no more: a lower --rate",
	scanner.SendNetwork:   "this machine has no route there: ip route, or another --source",
	scanner.SendHost:      "the next machine on the way does not answer: ip neigh",
	scanner.SendForbidden: "a firewall of this machine forbids it: nft list ruleset, or --exclude",
	scanner.SendAddress:   "--source can't send there: another one, or none",
	scanner.SendInterface: "the network interface is down or gone: ip link",
}

// sendHint is what can be done about the fault that occurred most.
func sendHint(faults map[string]uint64) string {
	most := scanner.SendOther
	for f := range scanner.SendFault(scanner.NumSendFaults) {
		if faults[f.String()] > faults[most.String()] {
			most = f
		}
	}
	return sendHints[most]
}

// SayWrong says which numbers do not add up.
func (sum *Summary) SayWrong(t *console.Terminal) {
	for _, w := range sum.Wrong {
		t.Say("numbers that do not add up: %s", w)
	}
}
