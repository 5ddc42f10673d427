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

// This file prints the closing lines of a scan; begin at Summary.Say. After a scan
// without trouble they are one block of at most six lines. They omit counts that are
// zero; the summary file has all counts. console.Block aligns and wraps the lines.

// closing prints the closing lines of one summary.
type closing struct {
	sum     *Summary
	to      *console.Block
	verbose bool
}

// sayNobody suggests reasons why no target answered.
func (c *closing) sayNobody() {
	switch l := &c.sum.Targets; {
	case l.Finished == 0:
	case l.By["unreachable"] == l.Finished:
		c.to.Hint("ICMP reports that nothing listens there: wrong port, or no servers? " +
			"test one of them with a2sscan ask")
	case l.By["no_reply"]+l.By["unreachable"] == l.Finished && c.sum.repliesElsewhere() > 0:
		c.to.Hint("replies came from addresses or ports that were not asked: servers with several addresses, " +
			"or something on the way rewrites them? a2sscan ask shows the address that one of them answers from")
	case l.By["no_reply"]+l.By["unreachable"] == l.Finished:
		c.to.Hint("no server answered: wrong port, or a firewall in between? test one of them with a2sscan ask, " +
			"and this machine with a2sscan doctor")
	}
}

// repliesElsewhere returns how many datagrams from addresses or ports that were not
// queried were replies or fragments of replies.
func (sum *Summary) repliesElsewhere() uint64 {
	d := sum.Datagrams.Foreign
	return d["other_port"] + d["other_address"] + d["fragment"]
}

// foreignTexts describe the causes of foreign datagrams.
var foreignTexts = map[string]string{
	"other_port":    "replies from another port of a target's address",
	"other_address": "replies from another address",
	"fragment":      "fragments",
	"other":         "other",
}

// sayForeign prints how many datagrams came from addresses or ports that were not
// queried.
func (c *closing) sayForeign() {
	var parts []string
	for _, cause := range scanner.ForeignCauses {
		if n := c.sum.Datagrams.Foreign[cause]; n > 0 {
			parts = append(parts, foreignTexts[cause]+" "+console.Grouped(n))
		}
	}
	if len(parts) > 0 {
		c.to.Say("foreign datagrams: %s", strings.Join(parts, ", "))
	}
	if c.sum.tally.Servers > 0 && c.sum.repliesElsewhere() > 0 {
		c.to.Hint("a server with several addresses may answer from one that was not asked, and is no_reply then; " +
			"a2sscan ask shows from which")
	}
}

// Closing says where a scan's results are, and how detailed its closing lines
// should be.
type Closing struct {
	Place   string // where the records are
	Summary string // path or URL of the summary file; empty: none was written
	Kept    string // path of the old census that was not replaced; empty: none
	Enough  uint64 // --max-results, if it ended the scan; 0: it did not
	Verbose bool
}

// Say prints the closing lines: what was found, where it was written, how long it
// took and how fast it was, what went wrong and what to do about it. With Verbose
// it also prints all other counts.
func (sum *Summary) Say(term *console.Terminal, c Closing) {
	t := term.NewBlock()
	lines := closing{sum, t, c.Verbose}
	t.Say("found: %s", sum.tally.Line(sum.Targets.Finished))
	t.Say("targets: %s%s", sum.Targets.Outcome(), c.enough(&sum.Targets))
	t.Say("written: %s to %s", console.Plural(sum.Records, "record"), c.Place)
	if c.Kept != "" {
		t.Hint("the scan is not complete: %s was not replaced", console.Plain(c.Kept, 200))
	}
	if c.Summary != "" {
		t.Say("summary: %s", console.Plain(c.Summary, 200))
	}
	t.Say("took: %s; %s", sum.duration(), sum.pace())
	if c.Verbose {
		lines.sayDetails()
	}
	if sum.tally.Servers == 0 {
		lines.sayNobody()
	}
	lines.sayTrouble()
	if c.Verbose || sum.Rates.limit != scanner.WaitTargets {
		sum.Rates.sayLimit(t)
	}
	t.Print()
}

// enough explains why a complete scan has unfinished targets: --max-results ended
// it. It returns "" if that is not so.
func (c *Closing) enough(l *Ledger) string {
	if c.Enough == 0 || l.Unfinished+l.Unread == 0 {
		return ""
	}
	return fmt.Sprintf(", since --max-results is %s", console.Grouped(c.Enough))
}

// duration describes how long the scan took, and how much of that time it only
// waited.
func (sum *Summary) duration() string {
	busy := float64(sum.Datagrams.Sent) / max(sum.RateReached, 1e-9)
	switch waited := sum.Seconds - busy; {
	case waited < 1 || waited < sum.Seconds/10 || sum.Datagrams.Sent == 0:
		return shortTime(sum.Seconds)
	case waited > sum.Seconds*0.95:
		return shortTime(sum.Seconds) + ", nearly all of it waiting for the last replies"
	default:
		return fmt.Sprintf("%s, %s of it waiting for the last replies", shortTime(sum.Seconds), shortTime(waited))
	}
}

// pace describes how many datagrams were sent, how fast, and how many were received.
func (sum *Summary) pace() string {
	d := &sum.Datagrams
	rate := fmt.Sprintf(" at %s/s%s", console.Short(math.Round(sum.RateReached)), sum.Rates.unreached())
	if sum.Rates.brief && sum.Seconds > 0 {
		rate = fmt.Sprintf(", %s/s on average", console.Short(math.Round(float64(d.Sent)/sum.Seconds)))
	}
	return fmt.Sprintf("sent %s%s, received %s", datagrams(d.Sent), rate, count(d.Received))
}

// datagrams formats a number of datagrams.
func datagrams(n uint64) string {
	if n < 1e6 {
		return console.Plural(n, "datagram")
	}
	return count(n) + " datagrams"
}

// count formats a number. It shortens a large one so that its line fits.
func count(n uint64) string {
	if n < 1e6 {
		return console.Grouped(n)
	}
	return console.Short(float64(n))
}

// shortTime formats a time with no more digits than a reader needs.
func shortTime(seconds float64) string {
	switch {
	case seconds < 1:
		return fmt.Sprintf("%.0f ms", 1000*seconds)
	case seconds < 60:
		return fmt.Sprintf("%.1f s", seconds)
	}
	return (time.Duration(math.Round(seconds)) * time.Second).String()
}

// sayDetails prints the counts that most users do not need.
func (c *closing) sayDetails() {
	l := &c.sum.Targets
	c.to.Say("ledger: %s", l)
	c.sayExclusions()
	c.to.Say("finished: %s%s", console.Grouped(l.Finished),
		console.SumOf(l.By, console.Words(scanner.StatusOK, scanner.NumStatuses)))
	if c.sum.tally.Servers > 0 {
		c.sayAnswers()
	}
	if len(c.sum.Faults) > 0 {
		c.to.Say("faults: %s", console.Listed(c.sum.Faults, console.Words(wire.Error(1), wire.NumErrors), ", "))
	}
	c.sayDatagrams()
	c.to.Say("rate: %s", c.sum.Rates.String())
	if c.sum.Path != nil {
		c.to.Say("path: %s", c.sum.Path)
	}
	if c.sum.Timeouts != nil {
		c.to.Say("timeouts: %s", c.sum.Timeouts)
	}
}

// namesShown is the maximum number of games, maps, systems, versions or countries
// in a line.
const namesShown = 8

// sayAnswers prints round-trip times and what kinds of servers answered.
func (c *closing) sayAnswers() {
	if n := c.sum.tally.Corrected; n > 0 {
		c.to.Say("players: on %s as the game counts them, not as INFO says", console.Plural(n, "server"))
	}
	c.to.Say("answered: %s", &c.sum.FirstAnswers)
	if c.sum.RoundTrips != nil {
		c.to.Say("round trips: %s", c.sum.RoundTrips)
	}
	for _, kind := range []struct {
		word  string
		names *tally.TopNames
	}{
		{"games", &c.sum.tally.Games}, {"maps", &c.sum.tally.Maps},
		{"systems", &c.sum.tally.Systems}, {"versions", &c.sum.tally.Versions},
		{"countries", &c.sum.tally.Countries},
	} {
		if kind.names.Size() == 0 {
			continue
		}
		head := fmt.Sprintf("%s (%s): ", kind.word, kind.names.Number())
		room := c.to.TextWidth() - len(head)
		c.to.Say("%s%s", head, kind.names.Shown(namesShown, room, c.sum.tally.Servers))
	}
}

// sayDatagrams prints how many datagrams were sent and received.
func (c *closing) sayDatagrams() {
	d := &c.sum.Datagrams
	repeats := ""
	if d.Repeats > 0 {
		repeats = "; " + console.Grouped(d.Repeats) + " of them repeated"
	}
	c.to.Say("sent: %s, %s%s%s", console.Plural(d.Sent, "datagram"), console.Bytes(d.SentBytes),
		console.SumOf(d.SentBy, console.Words(wire.Question(0), wire.NumRequests)), repeats)
	c.to.Say("received: %s, %s%s", console.Plural(d.Received, "datagram"), console.Bytes(d.ReceivedBytes),
		console.SumOf(d.ByClass, scanner.Classes[:]))
	if matched := d.ByClass["matched"]; matched > 0 && c.to.TextWidth() >= 100 {
		c.to.Say("matched: %s%s", console.Grouped(matched),
			console.SumOf(d.ByKind, scanner.ReplyKinds[:]))
	}
}

// exclusionsShown is the maximum number of sources of exclusions that the closing
// lines list. The summary file has all.
const exclusionsShown = 4

// sayExclusions prints what excluded targets.
func (c *closing) sayExclusions() {
	if c.sum.Targets.NoPort > 0 {
		c.to.Say("unscannable: %s with port 0", console.Grouped(c.sum.Targets.NoPort))
	}
	for i, x := range c.sum.Exclusions {
		if i == exclusionsShown {
			c.to.Say("excluded: by %d more sources", len(c.sum.Exclusions)-i)
			break
		}
		word, n := "excluded", console.Grouped(x.Targets+x.Stopped)
		if x.Unscannable {
			word = "unscannable"
		}
		if x.Network == "" {
			c.to.Say("%s: %s by %s", word, n, x.Source)
			continue
		}
		c.to.Say("%s: %s in %s (%s)", word, n, x.Network, strings.TrimPrefix(x.Reason+", "+x.Source, ", "))
	}
	if n := c.sum.Targets.Stopped; n > 0 {
		c.to.Say("excluded: %s of them after they had been asked; they count as finished", console.Grouped(n))
	}
}

// sayForged prints a warning if replies are probably being forged. If verbose, it
// also prints how many servers contradicted themselves.
func (c *closing) sayForged() {
	d := &c.sum.Datagrams
	conflicts := fmt.Sprintf("%s with replies that contradict each other, %s after their record was written",
		console.Plural(d.Conflicts, "server"), console.Grouped(d.LateConflicts))
	switch {
	case d.Forged:
		c.to.Say("WARNING: replies are probably being forged: %s; %s came from targets not asked yet, "+
			"%s from addresses that were not asked", conflicts, console.Grouped(d.EarlyReplies), console.Grouped(d.ForeignReplies))
		c.to.Hint("a record shows what was received, not who sent it; scan again from another port or address")
	case c.verbose && d.Conflicts+d.LateConflicts > 0:
		c.to.Say("conflicts: %s", conflicts)
	}
}

// sayTrouble prints problems and hints.
func (c *closing) sayTrouble() {
	d := &c.sum.Datagrams
	if c.verbose {
		c.sayForeign()
	}
	c.sayForged()
	if d.SendErrors > 0 {
		c.to.Say("send errors: %s could not be sent%s", console.Plural(d.SendErrors, "datagram"),
			console.SumOf(d.SendFaults, scanner.SendFaults[:]))
		c.to.Hint("%s", sendHint(d.SendFaults))
	}
	if c.verbose && d.PairsLost {
		c.to.Say("offload: requests sent with segmentation offload stayed unanswered, so the scan switched it off")
		c.to.Hint("it cost only time; --no-gso disables it from the start")
	}
	c.sayDrops()
}

// sayDrops prints how many datagrams the kernel dropped, and whether the receive
// buffer is smaller than requested.
func (c *closing) sayDrops() {
	drops, refused := c.sum.Datagrams.KernelDrops, c.sum.RecvBuffer < c.sum.RecvBufferAsked
	if drops > 0 {
		c.to.Say("kernel drops: %s arrived and %s dropped, with a receive buffer of %s", console.Plural(drops, "datagram"),
			console.WasWere(drops), console.Bytes(uint64(c.sum.RecvBuffer)))
	}
	switch {
	case refused && (drops > 0 || c.verbose):
		c.to.Say("receive buffer: asked for %s, granted %s",
			console.Bytes(uint64(c.sum.RecvBufferAsked)), console.Bytes(uint64(c.sum.RecvBuffer)))
		c.to.Hint("as root: sysctl -w net.core.rmem_max=%d", c.sum.RecvBufferAsked)
	case drops > 0:
		c.to.Hint("use a lower --rate, or a machine with more cores")
	}
}

// sendHints has a hint for each reason why a datagram could not be sent.
var sendHints = map[string]string{
	"other":               "see the counts in the summary file; a2sscan doctor checks this machine",
	"put_off":             "the network device is saturated: use a lower --rate",
	"network_unreachable": "this machine has no route there: check ip route, or use another --source",
	"host_unreachable":    "the next hop does not answer: check ip neigh",
	"forbidden":           "this machine's firewall forbids it: check nft list ruleset, or use --exclude",
	"bad_address":         "--source can't send there: use another address, or omit it",
	"interface_down":      "the network interface is down or gone: check ip link",
}

// sendHint returns the hint for the most frequent of the faults.
func sendHint(faults map[string]uint64) string {
	most := "other"
	for _, fault := range scanner.SendFaults {
		if faults[fault] > faults[most] {
			most = fault
		}
	}
	return sendHints[most]
}

// SayWrong prints the sums that do not add up.
func (sum *Summary) SayWrong(t *console.Terminal) {
	for _, w := range sum.Wrong {
		t.Say("numbers that do not add up: %s", w)
	}
}
