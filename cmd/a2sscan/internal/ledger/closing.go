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

// The closing lines report the targets asked, the servers found, losses and their
// causes, the speed, and the files. After a scan without trouble they fit on a
// screen of 24 lines by 80 characters. They omit zero counts; the summary file has
// all of them.

// sayNobody suggests reasons when no target answered.
func (sum *Summary) sayNobody(t *console.Terminal) {
	switch l := &sum.Targets; {
	case l.Finished == 0:
	case l.By["unreachable"] == l.Finished:
		t.Hint("ICMP reports that nothing listens there: wrong port, or no servers? " +
			"test one of them with a2sscan ask")
	case l.By["no_reply"]+l.By["unreachable"] == l.Finished && sum.repliesElsewhere() > 0:
		t.Hint("replies came from addresses or ports that were not asked: servers with several addresses, " +
			"or something on the way rewrites them? a2sscan ask shows the address that one of them answers from")
	case l.By["no_reply"]+l.By["unreachable"] == l.Finished:
		t.Hint("no server answered: wrong port, or a firewall in between? test one of them with a2sscan ask")
	}
}

// repliesElsewhere is how many foreign datagrams were replies, or parts of them.
func (sum *Summary) repliesElsewhere() uint64 {
	d := sum.Datagrams.Foreign
	return d["other_port"] + d["other_address"] + d["fragment"]
}

// foreignTexts describe the causes of foreign datagrams.
var foreignTexts = [scanner.NumForeignCauses]string{
	scanner.ForeignPort:     "replies from another port of a target's address",
	scanner.ForeignAddress:  "replies from another address",
	scanner.ForeignFragment: "fragments",
	scanner.ForeignOther:    "other",
}

// sayForeign reports what came from addresses that were not asked.
func (sum *Summary) sayForeign(t *console.Terminal) {
	var parts []string
	for c, text := range foreignTexts {
		if n := sum.Datagrams.Foreign[scanner.ForeignCause(c).String()]; n > 0 {
			parts = append(parts, text+" "+console.Grouped(n))
		}
	}
	if len(parts) > 0 {
		t.Say("foreign datagrams: %s", strings.Join(parts, ", "))
	}
	if sum.tally.Servers > 0 && sum.repliesElsewhere() > 0 {
		t.Hint("a server with several addresses may answer from one that was not asked, and is no_reply then; " +
			"a2sscan ask shows from which")
	}
}

// Say prints the closing lines.
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

// namesShown is the most games, maps, systems and versions that a line names.
const namesShown = 8

// sayAnswers reports round trips and what kinds of servers answered.
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

// sayDatagrams reports the datagrams sent and received.
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

// word is the label for targets that the rule excludes.
func (x *Exclusion) word() string {
	if x.Unscannable {
		return "unscannable"
	}
	return "excluded"
}

// exclusionsShown is the most rules that the closing lines name; the summary file
// has all.
const exclusionsShown = 4

// sayExclusions reports which rules excluded targets.
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
		t.Say("excluded: %s of them after they had been asked; they count as finished", console.Grouped(n))
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
		t.Say("WARNING: replies are probably being forged: %s came from targets not asked yet, "+
			"%s from addresses that were not asked", console.Grouped(d.EarlyReplies), console.Grouped(d.ForeignReplies))
		t.Hint("a record shows what was received, not who sent it; scan again from another port or address")
	}
}

// sayTrouble reports problems and hints at remedies.
func (sum *Summary) sayTrouble(t *console.Terminal) {
	d := &sum.Datagrams
	sum.sayForeign(t)
	sum.sayForged(t)
	if d.SendErrors > 0 {
		t.Say("send errors: %s datagrams could not be sent%s", console.Grouped(d.SendErrors),
			console.SumOf(d.SendFaults, console.Words(scanner.SendFault(0), scanner.NumSendFaults)))
		t.Hint("%s", sendHint(d.SendFaults))
	}
	if d.PairsLost {
		t.Say("segmentation offload: requests sent with it stayed unanswered, so the scan switched it off")
		t.Hint("it cost only time; --no-gso disables it from the start")
	}
	refused := sum.RecvBuffer < sum.RecvBufferAsked
	if d.KernelDrops > 0 {
		t.Say("kernel drops: %s datagrams arrived but were dropped, receive buffer %s",
			console.Grouped(d.KernelDrops), console.Bytes(uint64(sum.RecvBuffer)))
	}
	switch {
	case refused:
		t.Say("receive buffer: asked for %s, granted %s",
			console.Bytes(uint64(sum.RecvBufferAsked)), console.Bytes(uint64(sum.RecvBuffer)))
		t.Hint("as root: sysctl -w net.core.rmem_max=%d", sum.RecvBufferAsked)
	case d.KernelDrops > 0:
		t.Hint("use a lower --rate, or a machine with more cores")
	}
}

// sendHints suggest remedies for datagrams that could not be sent.
var sendHints = [scanner.NumSendFaults]string{
	scanner.SendOther:     "see the counts in the summary file; a2sscan doctor checks this machine",
	scanner.SendPutOff:    "the network device is saturated: use a lower --rate",
	scanner.SendNetwork:   "this machine has no route there: check ip route, or use another --source",
	scanner.SendHost:      "the next hop does not answer: check ip neigh",
	scanner.SendForbidden: "this machine's firewall forbids it: check nft list ruleset, or use --exclude",
	scanner.SendAddress:   "--source can't send there: use another address, or omit it",
	scanner.SendInterface: "the network interface is down or gone: check ip link",
}

// sendHint is the remedy for the most frequent fault.
func sendHint(faults map[string]uint64) string {
	most := scanner.SendOther
	for f := range scanner.SendFault(scanner.NumSendFaults) {
		if faults[f.String()] > faults[most.String()] {
			most = f
		}
	}
	return sendHints[most]
}

// SayWrong reports the numbers that do not add up.
func (sum *Summary) SayWrong(t *console.Terminal) {
	for _, w := range sum.Wrong {
		t.Say("numbers that do not add up: %s", w)
	}
}
