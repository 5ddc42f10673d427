package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// health is the section from which a reader can judge the numbers.
type health struct {
	Facts     []fact
	Ledger    []entry
	Datagrams []entry
	Questions []questionRow
	Open      []openGame
}

// fact is a number with its name.
type fact struct{ Name, Value, Aside string }

// entry is a line of the ledger.
type entry struct {
	Name, Count, Share, Width string
	Sum                       bool
}

// questionRow says how many servers answered a question.
type questionRow struct {
	Name                   string
	Answered, Unchallenged string
	NotAsked, Errors       string
}

// openGame counts the servers of a game that answer without a challenge.
type openGame struct{ Name, Servers, Share, Width string }

func newHealth(s *census.Stats) *health {
	h := &health{
		Questions: []questionRow{
			newQuestion("Info", &s.Questions.Info),
			newQuestion("Players", &s.Questions.Players),
			newQuestion("Rules", &s.Questions.Rules),
		},
		Open: openGames(s),
	}
	if s.Run != nil {
		h.Facts = runFacts(s.Run)
		h.Ledger = ledgerEntries(s.Run)
		h.Datagrams = datagramEntries(s.Run)
	}
	records := fact{"Records", number(s.Records), "one per address"}
	if s.Duplicates > 0 {
		records.Aside = console.Plural(s.Duplicates, "further record") + " of the same address left out"
	}
	h.Facts = append(h.Facts, records)
	return h
}

// runFacts returns the most important numbers of a scan.
func runFacts(r *census.Run) []fact {
	answered := r.Targets.ByStatus["ok"] + r.Targets.ByStatus["partial"] + r.Targets.ByStatus["error"]
	facts := []fact{{"Hit rate", percentOf(r.HitRate), number(answered) + " of " + number(r.Asked) + " targets answered"}}
	if r.Missed != nil {
		facts = append(facts, fact{"Probably missed", rounded(*r.Missed), "live servers, silent by loss alone"})
	}
	if r.Chance != nil {
		facts = append(facts, fact{"Requests answered", percentOf(*r.Chance), "of those to live servers"})
	}
	rate := fact{"Rate", console.Short(r.RateReached) + "/s", "datagrams sent"}
	if r.RateAsked != nil {
		rate.Aside += "; set to " + console.PerSecond(*r.RateAsked)
	}
	time := fact{"Time", duration(r.Seconds), "in one run"}
	if r.Resumed > 0 {
		time.Aside = "resumed " + console.Plural(uint64(r.Resumed), "time")
	}
	facts = append(facts, rate, time)
	sums := fact{"Ledger", "adds up", "every target and datagram is accounted for"}
	if !r.Consistent {
		sums.Value, sums.Aside = "does not add up", "do not trust these numbers"
	}
	return append(facts, sums)
}

// ledgerEntries returns the numbers of targets by outcome.
func ledgerEntries(r *census.Run) []entry {
	t := &r.Targets
	all := []entry{newEntry("Read from the lists", t.Read, t.Read, true)}
	for _, e := range []struct {
		name string
		n    uint64
	}{
		{"Invalid lines", t.Invalid}, {"Addresses that no server can have", t.Unscannable}, {"Excluded", t.Excluded},
		{"Duplicates", t.Duplicate}, {"Of other shards", t.OtherShard}, {"Over the limit per address", t.OverLimit},
		{"Excluded during the scan", t.Stopped}, {"Not finished", t.Unfinished}, {"Not read", t.Unread},
	} {
		if e.n > 0 {
			all = append(all, newEntry(e.name, e.n, t.Read, false))
		}
	}
	all = append(all, newEntry("Asked", t.Finished, t.Read, true))
	for _, status := range []struct{ word, name string }{
		{"ok", "Answered completely"}, {"partial", "Answered in part"}, {"error", "Answered, nothing usable"},
		{"no_reply", "Silent"}, {"unreachable", "Unreachable"},
	} {
		all = append(all, newEntry(status.name, t.ByStatus[status.word], t.Read, false))
	}
	return all
}

// datagramEntries returns the counts of datagrams sent and received. Shares are of the
// datagrams sent, then of those received; the bars of both have one scale.
func datagramEntries(r *census.Run) (all []entry) {
	d := &r.Datagrams
	most := max(d.Sent, d.Received)
	add := func(name string, n, of uint64) {
		all = append(all, entry{Name: name, Count: number(n), Share: percent(n, of), Width: width(n, most)})
	}
	add("Sent", d.Sent, d.Sent)
	all[0].Sum = true
	add("Repeats of a question", d.Repeats, d.Sent)
	if d.SendErrors > 0 {
		add("Could not be sent", d.SendErrors, d.Sent)
	}
	add("Received", d.Received, d.Received)
	all[len(all)-1].Sum = true
	for _, word := range slices.Sorted(maps.Keys(d.ByClass)) {
		if n := d.ByClass[word]; n > 0 {
			add(cmp.Or(classNames[word], Shown(word, 40)), n, d.Received)
		}
	}
	if d.KernelDrops > 0 {
		add("Dropped by the kernel", d.KernelDrops, d.Received)
	}
	return all
}

// classNames maps the classes of received datagrams to names.
var classNames = map[string]string{
	"matched": "Answers to our questions", "duplicate": "Duplicates", "malformed": "Malformed",
	"late": "Late", "foreign": "From elsewhere",
}

func newEntry(name string, n, all uint64, sum bool) entry {
	return entry{Name: name, Count: number(n), Share: percent(n, all), Width: width(n, all), Sum: sum}
}

func newQuestion(name string, q *census.Question) questionRow {
	row := questionRow{Name: name, NotAsked: number(q.NotAsked)}
	all := q.Answered
	for _, n := range q.Errors {
		all += n
	}
	row.Answered = number(q.Answered) + " (" + percent(q.Answered, all) + ")"
	row.Unchallenged = number(q.Unchallenged) + " (" + percent(q.Unchallenged, all) + ")"
	words := slices.SortedFunc(maps.Keys(q.Errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(q.Errors[b], q.Errors[a]), cmp.Compare(a, b))
	})
	for i, word := range words[:min(4, len(words))] {
		if i > 0 {
			row.Errors += ", "
		}
		row.Errors += fmt.Sprintf("%s %s", number(q.Errors[word]), Shown(word, 40))
	}
	if row.Errors == "" {
		row.Errors = "none"
	}
	return row
}

// openGames returns the games with the most servers that answer without a
// challenge.
func openGames(s *census.Stats) (rows []openGame) {
	games := slices.Clone(s.Games.Top)
	slices.SortStableFunc(games, func(a, b census.Group) int { return cmp.Compare(b.Unchallenged, a.Unchallenged) })
	for _, g := range games[:min(8, len(games))] {
		if g.Unchallenged > 0 {
			rows = append(rows, openGame{named(cmp.Or(g.Name, g.ID)), number(g.Unchallenged),
				percent(g.Unchallenged, g.Servers), width(g.Unchallenged, g.Servers)})
		}
	}
	return rows
}
