package ledger

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/tally"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// The closing lines are one block of at most six lines after a scan without trouble.
// They omit zero counts; the summary file has all of them.

// sayNobody suggests reasons when no target answered.
func (sum *Summary) sayNobody(t *console.Block) {
	switch l := &sum.Targets; {
	case l.Finished == 0:
	case l.By["unreachable"] == l.Finished:
		t.Hint("ICMP reports that nothing listens there: wrong port, or no servers? " +
			"test one of them with a2sscan ask")
	case l.By["no_reply"]+l.By["unreachable"] == l.Finished && sum.repliesElsewhere() > 0:
		t.Hint("replies came from addresses or ports that were not asked: servers with several addresses, " +
			"or something on the way rewrites them? a2sscan ask shows the address that one of them answers from")
	case l.By["no_reply"]+l.By["unreachable"] == l.Finished:
		t.Hint("no server answered: wrong port, or a firewall in between? test one of them with a2sscan ask, " +
			"and this machine with a2sscan doctor")
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
func (sum *Summary) sayForeign(t *console.Block) {
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

// Closing holds the places of a scan's results, and how much to print.
type Closing struct {
	Place   string // of the records
	Summary string // path of the summary file; empty: there is none
	Kept    string // path of the census that was not replaced; empty: none
	Verbose bool
}

// Say prints the closing lines: what was found, what was written and where, how long
// it took and how fast it was, what went wrong and what to do about it. With Verbose
// they have all other counts.
func (sum *Summary) Say(term *console.Terminal, c Closing) {
	t := term.NewBlock()
	t.Say("found: %s", sum.tally.Line(sum.Targets.Finished))
	t.Say("targets: %s", sum.Targets.Outcome())
	t.Say("written: %s to %s", console.Plural(sum.Records, "record"), c.Place)
	if c.Kept != "" {
		t.Hint("the scan is not complete: %s was not replaced", console.Plain(c.Kept, 200))
	}
	if c.Summary != "" {
		t.Say("summary: %s", console.Plain(c.Summary, 200))
	}
	t.Say("took: %s", sum.pace())
	if c.Verbose {
		sum.sayDetails(t)
	}
	if sum.tally.Servers == 0 {
		sum.sayNobody(t)
	}
	sum.sayTrouble(t, c.Verbose)
	if c.Verbose || sum.Rates.limit != scanner.WaitTargets {
		sum.Rates.sayLimit(t)
	}
	t.Print()
}

// pace is how long the scan took, and how fast it was.
func (sum *Summary) pace() string {
	d := &sum.Datagrams
	took := time.Duration(sum.Seconds * float64(time.Second))
	reached := sum.RateReached
	if sum.Rates.brief && sum.Seconds > 0 {
		reached = float64(d.Sent) / sum.Seconds
	}
	return fmt.Sprintf("%s at %s%s/s: sent %s, received %s", shortTime(took), console.Short(math.Round(reached)),
		sum.Rates.setting(), console.Grouped(d.Sent), console.Grouped(d.Received))
}

// shortTime is a duration without needless digits.
func shortTime(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// sayDetails reports what most people need not know.
func (sum *Summary) sayDetails(t *console.Block) {
	l := &sum.Targets
	t.Say("ledger: %s", l)
	sum.sayExclusions(t)
	t.Say("finished: %s%s", console.Grouped(l.Finished),
		console.SumOf(l.By, console.Words(scanner.StatusOK, scanner.NumStatuses)))
	if sum.tally.Servers > 0 {
		sum.sayAnswers(t)
	}
	if len(sum.Faults) > 0 {
		t.Say("faults: %s", console.Listed(sum.Faults, console.Words(wire.Error(1), wire.NumErrors), ", "))
	}
	sum.sayDatagrams(t)
	t.Say("rate: %s", sum.Rates.String())
}

// namesShown is the most games, maps, systems and versions that a line names.
const namesShown = 8

// sayAnswers reports round trips and what kinds of servers answered.
func (sum *Summary) sayAnswers(t *console.Block) {
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
		room := t.TextWidth() - len(head)
		t.Say("%s%s", head, kind.names.Shown(namesShown, room, sum.tally.Servers))
	}
}

// sayDatagrams reports the datagrams sent and received.
func (sum *Summary) sayDatagrams(t *console.Block) {
	d := &sum.Datagrams
	repeats := ""
	if d.Repeats > 0 {
		repeats = "; " + console.Grouped(d.Repeats) + " of them repeated"
	}
	t.Say("sent: %s, %s%s%s", console.Plural(d.Sent, "datagram"), console.Bytes(d.SentBytes),
		console.SumOf(d.SentBy, console.Words(wire.Question(0), wire.NumRequests)), repeats)
	t.Say("received: %s, %s%s", console.Plural(d.Received, "datagram"), console.Bytes(d.ReceivedBytes),
		console.SumOf(d.ByClass, console.Words(scanner.Class(0), scanner.NumClasses)))
	if matched := d.ByClass["matched"]; matched > 0 && t.TextWidth() >= 100 {
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
func (sum *Summary) sayExclusions(t *console.Block) {
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
func (sum *Summary) sayForged(t *console.Block, verbose bool) {
	d := &sum.Datagrams
	if verbose && d.Conflicts+d.LateConflicts > 0 {
		t.Say("conflicts: %s contradict themselves, %s more after their record was written",
			console.Plural(d.Conflicts, "server"), console.Grouped(d.LateConflicts))
	}
	if d.Forged {
		t.Say("WARNING: replies are probably being forged: %s came from targets not asked yet, "+
			"%s from addresses that were not asked", console.Grouped(d.EarlyReplies), console.Grouped(d.ForeignReplies))
		t.Hint("a record shows what was received, not who sent it; scan again from another port or address")
	}
}

// sayTrouble reports problems and hints at remedies.
func (sum *Summary) sayTrouble(t *console.Block, verbose bool) {
	d := &sum.Datagrams
	if verbose {
		sum.sayForeign(t)
	}
	sum.sayForged(t, verbose)
	if d.SendErrors > 0 {
		t.Say("send errors: %s could not be sent%s", console.Plural(d.SendErrors, "datagram"),
			console.SumOf(d.SendFaults, console.Words(scanner.SendFault(0), scanner.NumSendFaults)))
		t.Hint("%s", sendHint(d.SendFaults))
	}
	if verbose && d.PairsLost {
		t.Say("offload: requests sent with segmentation offload stayed unanswered, so the scan switched it off")
		t.Hint("it cost only time; --no-gso disables it from the start")
	}
	sum.sayDrops(t, verbose)
}

// sayDrops reports what the kernel dropped, and a receive buffer that is too small.
func (sum *Summary) sayDrops(t *console.Block, verbose bool) {
	drops, refused := sum.Datagrams.KernelDrops, sum.RecvBuffer < sum.RecvBufferAsked
	if drops > 0 {
		t.Say("kernel drops: %s arrived and %s dropped, with a receive buffer of %s", console.Plural(drops, "datagram"),
			console.WasWere(drops), console.Bytes(uint64(sum.RecvBuffer)))
	}
	switch {
	case refused && (drops > 0 || verbose):
		t.Say("receive buffer: asked for %s, granted %s",
			console.Bytes(uint64(sum.RecvBufferAsked)), console.Bytes(uint64(sum.RecvBuffer)))
		t.Hint("as root: sysctl -w net.core.rmem_max=%d", sum.RecvBufferAsked)
	case drops > 0:
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
