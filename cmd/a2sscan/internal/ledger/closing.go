package ledger

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// Closing has the arguments of Summary.Say: where the results of a scan are, and how
// detailed the closing lines should be.
type Closing struct {
	Place   string // where the records are
	Summary string // path or URL of the summary file; empty: none was written
	Kept    string // path of the old census that was not replaced; empty: none
	Enough  uint64 // value of --max-results, if this limit ended the scan; else 0
	Verbose bool
}

// Say prints the closing lines: what the scan found, where it wrote the records, how long
// it took, how fast it was, what went wrong and what to do about that. Without trouble
// they are one block of at most six lines. With Verbose, other counts follow. Say omits
// zero counts; the summary file has them. console.Block aligns and wraps the lines.
func (sum *Summary) Say(term *console.Terminal, c Closing) {
	t, l := term.NewBlock(), &sum.Targets
	t.Say("found: %s", sum.Answers.Line(l.Finished))
	enough := ""
	if c.Enough > 0 && l.Left() > 0 {
		enough = fmt.Sprintf(", because --max-results is %s", console.Grouped(c.Enough))
	}
	t.Say("targets: %s%s", l.Outcome(), enough)
	t.Say("written: %s to %s", console.Plural(sum.Records, "record"), c.Place)
	if c.Kept != "" {
		t.Hint("because the scan is not complete, %s was not replaced", console.Plain(c.Kept, 200))
	}
	if c.Summary != "" {
		t.Say("summary: %s", console.Plain(c.Summary, 200))
	}
	t.Say("took: %s; %s", sum.duration(), sum.pace())
	if c.Verbose {
		sum.SayCounts(t)
	}
	unreachable := l.ByStatus[scanner.StatusUnreachable]
	switch silent := l.ByStatus[scanner.StatusNoReply] + unreachable; {
	case sum.Answers.Servers > 0 || l.Finished == 0 || silent < l.Finished:
	case unreachable == l.Finished:
		t.Hint("ICMP reports that nothing listens at the queried ports: is the port wrong? " +
			"test one target with a2sscan ask")
	case sum.repliesElsewhere() > 0:
		t.Hint("replies came from addresses or ports that were not queried: does a server have several addresses, " +
			"or does something on the path rewrite addresses? a2sscan ask shows the address that answers")
	default:
		t.Hint("no server answered: is the port wrong, or is there a firewall in between? " +
			"test one target with a2sscan ask, and this machine with a2sscan doctor")
	}
	sum.sayTrouble(t, c.Verbose)
	if c.Verbose || sum.Rates.limit != scanner.WaitTargets {
		sum.Rates.sayLimit(t)
	}
	t.Print()
}

func (sum *Summary) duration() string {
	short := func(seconds float64) string { // formats seconds with few digits
		switch {
		case seconds < 1:
			return fmt.Sprintf("%.0f ms", 1000*seconds)
		case seconds < 60:
			return fmt.Sprintf("%.1f s", seconds)
		}
		return (time.Duration(math.Round(seconds)) * time.Second).String()
	}
	sent := sum.Datagrams.Sent
	switch waited := sum.Seconds - float64(sent)/max(sum.RateReached, 1e-9); {
	case waited < 1 || waited < sum.Seconds/10 || sent == 0:
		return short(sum.Seconds)
	case waited > sum.Seconds*0.95:
		return short(sum.Seconds) + ", nearly all of it waiting for the last replies"
	default:
		return fmt.Sprintf("%s, %s of it waiting for the last replies", short(sum.Seconds), short(waited))
	}
}

// pace describes how many datagrams were sent, how fast, and how many were received. If
// the scan stayed below 95 % of its rate limit, pace also gives the limit.
func (sum *Summary) pace() string {
	count := func(n uint64) string { // a large number must fit into the line
		if n < 1e6 {
			return console.Grouped(n)
		}
		return console.Short(float64(n))
	}
	d, r := &sum.Datagrams, &sum.Rates
	sent, rate := d.Sent, fmt.Sprintf(" at %s/s", console.Short(math.Round(r.RateReached)))
	switch {
	case r.brief && sum.Seconds > 0:
		rate = fmt.Sprintf(", %s/s on average", console.Short(math.Round(float64(sent)/sum.Seconds)))
	case r.RateAsked != nil && r.RateReached <= 0.95**r.RateAsked:
		rate += " (limit " + console.Short(*r.RateAsked) + "/s)"
	}
	return fmt.Sprintf("sent %s %s%s, received %s", count(sent), console.Things(sent, "datagram"), rate, count(d.Received))
}

// exclusionsShown is the maximum number of sources of exclusions that SayCounts lists.
const exclusionsShown = 4

// SayCounts adds the counts that most users do not need.
func (sum *Summary) SayCounts(t *console.Block) {
	l, d := &sum.Targets, &sum.Datagrams
	t.Say("ledger: %s", l.Ledger())
	if n := l.NoPort; n > 0 {
		t.Say("unscannable: %s with port 0", console.Grouped(n))
	}
	for i, x := range sum.Exclusions {
		if i == exclusionsShown {
			t.Say("excluded: more targets, by %s", console.Plural(len(sum.Exclusions)-i, "other source"))
			break
		}
		word, by := "excluded", "by "+x.Source
		if x.Unscannable {
			word = "unscannable"
		}
		if x.Network != "" {
			by = fmt.Sprintf("in %s (%s)", x.Network, strings.TrimPrefix(x.Reason+", "+x.Source, ", "))
		}
		t.Say("%s: %s %s", word, console.Grouped(x.Targets+x.Stopped), by)
	}
	if n := l.Stopped; n > 0 {
		t.Say("excluded: %s after the first request; these count as finished", console.Grouped(n))
	}
	if sum.Answers.Servers > 0 {
		if n := sum.Answers.Corrected; n > 0 {
			t.Say("players: on %s, the game's own count replaces the count in INFO", console.Plural(n, "server"))
		}
		t.Say("answered: %s", &sum.FirstAnswers)
		if sum.RoundTrips != nil {
			t.Say("round trips: %s", sum.RoundTrips)
		}
	}
	repeats := ""
	if n := d.Repeats; n > 0 {
		repeats = "; " + console.Grouped(n) + " of them repeated"
	}
	t.Say("sent: %s, %s%s%s", console.Plural(d.Sent, "datagram"), console.Bytes(d.SentBytes),
		console.SumOf(By(questions, d.SentByQuestion[:]), questions), repeats)
	t.Say("received: %s, %s%s", console.Plural(d.Received, "datagram"), console.Bytes(d.ReceivedBytes),
		console.SumOf(By(scanner.Classes[:], d.ReceivedByClass[:]), scanner.Classes[:]))
	from := &Source{Counts: sum.Counts}
	for i := range Table {
		row, by, all := &Table[i], map[string]uint64{}, uint64(0)
		switch {
		case row.Text == "":
		case row.Section == NoSection:
			by = sum.Faults // the summary has a separate object for faults
		default:
			for word, n := range row.Counts(from) {
				by[word] = *n
			}
		}
		for _, n := range by {
			all += n
		}
		if all > 0 {
			t.Say("%s: %s%s", row.Text, console.Grouped(all), console.SumOf(by, row.Words))
		}
	}
	t.Say("rate: %s", sum.Rates.String())
	if sum.Path != nil {
		t.Say("path: %s", sum.Path)
	}
	if sum.Timeouts != nil {
		t.Say("timeouts: %s", sum.Timeouts)
	}
}

// repliesElsewhere returns the number of replies, and of fragments of replies, that came
// from addresses or ports that were not queried.
func (sum *Summary) repliesElsewhere() uint64 {
	by := By(scanner.ForeignCauses[:], sum.Datagrams.ForeignByCause[:])
	return by["other_port"] + by["other_address"] + by["fragment"]
}

var sendHints = map[string]string{
	"other":               "see the counts in the summary file, and check this machine with a2sscan doctor",
	"put_off":             "the network device is saturated: use a lower --rate",
	"network_unreachable": "this machine has no route to these addresses: check ip route, or use another --source",
	"host_unreachable":    "the next hop does not answer: check ip neigh",
	"forbidden":           "this machine's firewall forbids these datagrams: check nft list ruleset, or use --exclude",
	"bad_address":         "the address in --source can't reach the targets: use another address, or omit --source",
	"interface_down":      "the network interface is down or gone: check ip link",
}

// sayTrouble adds the problems of the scan, with hints. For send errors, the hint is about
// the most frequent kind of error.
func (sum *Summary) sayTrouble(t *console.Block, verbose bool) {
	d := &sum.Datagrams
	if verbose && sum.Answers.Servers > 0 && sum.repliesElsewhere() > 0 {
		t.Hint("a server that answers from an address that was not queried counts as no_reply; " +
			"a2sscan ask shows the address that answers")
	}
	if n := sum.Targets.Overdue; n > 0 {
		t.Say("WARNING: because of a bug, a2sscan forgot %s, and gave up on them much too late; "+
			"their records have the error %s", console.Plural(n, "target"), wire.ErrInternal)
		t.Hint("please report this bug, with the summary file; to query a target again, use a2sscan ask")
	}
	if n := d.Conflicts; n > 0 {
		t.Say("conflicts: %s gave two different answers to one request; the records have the flag \"conflict\"",
			console.Plural(n, "server"))
	}
	if n := d.Outages; n > 0 {
		t.Say("network: this machine's network was away %s, for %v in all; the scan waited", console.Plural(n, "time"),
			(time.Duration(d.OutageMS) * time.Millisecond).Round(time.Millisecond*100))
	}
	if n := d.SendErrors; n > 0 {
		kinds, most := By(scanner.SendFaults[:], d.SendErrorsByKind[:]), "other"
		for _, kind := range scanner.SendFaults {
			if kinds[kind] > kinds[most] {
				most = kind
			}
		}
		t.Say("send errors: %s could not be sent%s", console.Plural(n, "datagram"),
			console.SumOf(kinds, scanner.SendFaults[:]))
		if most == "put_off" && sum.away {
			t.Hint("%s", awayHint)
		} else {
			t.Hint("%s", sendHints[most])
		}
	}
	if verbose && d.PairsLost > 0 {
		t.Say("offload: requests sent with segmentation offload stayed unanswered, so the scan switched the offload off")
		t.Hint("the scan lost only time; use --no-gso to disable segmentation offload from the start")
	}
	drops, asked, granted := d.KernelDrops, uint64(sum.RecvBufferAsked), uint64(sum.RecvBuffer)
	if drops > 0 {
		t.Say("kernel drops: %s arrived, but did not fit into a receive buffer of %s", console.Plural(drops, "datagram"), console.Bytes(granted))
	}
	switch {
	case granted < asked && (drops > 0 || verbose):
		t.Say("receive buffer: the scan asked for %s, the kernel granted %s", console.Bytes(asked), console.Bytes(granted))
		t.Hint("run as root: sysctl -w net.core.rmem_max=%d", asked)
	case drops > 0:
		t.Hint("use a lower --rate, or a machine with more cores")
	}
}

// SayWrong prints which numbers of the summary contradict each other.
func (sum *Summary) SayWrong(t *console.Terminal) {
	for _, w := range sum.Wrong {
		t.Say("numbers that do not add up: %s", w)
	}
}
