package report

import (
	"cmp"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/census"
)

type fact struct{ Name, Value, Aside string }

// row is a row of a table with bars. The row shows N as a share of Of. Most is the
// largest N of the table.
type row struct {
	Name, Text  string
	N, Of, Most uint64
	Sum         bool
}

func facts(s *census.Stats) (facts []fact) {
	if r := s.Run; r != nil {
		facts = []fact{{"Hit rate", percentOf(r.HitRate), number(r.Answered) + " of " + number(r.Asked) + " targets answered"}}
		if r.Chance != nil {
			facts = append(facts, fact{"Requests answered", percentOf(*r.Chance), "of the requests to live servers"})
		}
		rate := fact{"Rate", console.Short(r.RateReached) + "/s", "datagrams sent"}
		if r.RateAsked != nil {
			rate.Aside += "; set to " + console.PerSecond(*r.RateAsked)
		}
		facts = append(facts, rate)
	}
	records := fact{"Records", number(s.Records), "one per address"}
	if s.Duplicates > 0 {
		records.Aside = "one per address; the report ignores " + console.Plural(s.Duplicates, "further record")
	}
	return append(facts, records)
}

func ledger(r *census.Run) []row {
	if r == nil {
		return nil
	}
	t := &r.Targets
	useless := r.Answered - min(r.Answered, t.ByStatus["ok"]+t.ByStatus["partial"])
	all := []row{
		{Name: "Read from the lists", N: t.Read, Sum: true},
		{Name: "Invalid lines", N: t.Invalid},
		{Name: "Addresses that no server can have", N: t.Unscannable},
		{Name: "Excluded", N: t.Excluded},
		{Name: "Duplicates", N: t.Duplicate},
		{Name: "In other shards", N: t.OtherShard},
		{Name: "Over the limit per address", N: t.OverLimit},
		{Name: "Excluded during the scan", N: t.Stopped},
		{Name: "Not finished", N: t.Unfinished},
		{Name: "Not read", N: t.Unread},
	}
	all = slices.DeleteFunc(all, func(r row) bool { return r.N == 0 && !r.Sum })
	all = append(all,
		row{Name: "Asked", N: t.Finished, Sum: true},
		row{Name: "Answered completely", N: t.ByStatus["ok"]},
		row{Name: "Answered in part", N: t.ByStatus["partial"]},
		row{Name: "Answered, nothing usable", N: useless},
		row{Name: "Could not be queried", N: t.ByStatus["error"] - min(t.ByStatus["error"], useless)},
		row{Name: "Silent", N: t.ByStatus["no_reply"]},
		row{Name: "Unreachable", N: t.ByStatus["unreachable"]},
	)
	for i := range all {
		all[i].Of, all[i].Most = t.Read, t.Read
	}
	return all
}

type question struct {
	census.Question
	Name  string
	Asked uint64
}

func questions(s *census.Stats) []question {
	all := []question{{s.Questions.Info, "Info", 0}, {s.Questions.Players, "Players", 0}, {s.Questions.Rules, "Rules", 0}}
	for i := range all {
		all[i].Asked = all[i].Answered
		for _, n := range all[i].Errors {
			all[i].Asked += n
		}
	}
	return all
}

func byCount(counts map[string]uint64) (rows []row) {
	for word, n := range counts {
		if n > 0 {
			rows = append(rows, row{Name: word, N: n})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
	return rows
}

// openGames returns the games with servers that answer without a challenge. The games with the
// most such servers come first.
func openGames(s *census.Stats) []census.Group {
	games := slices.Clone(s.Games.Top)
	slices.SortStableFunc(games, func(a, b census.Group) int { return cmp.Compare(b.Unchallenged, a.Unchallenged) })
	return slices.DeleteFunc(games, func(g census.Group) bool { return g.Unchallenged == 0 })
}

func flagRule(word string) *game.FlagRule {
	if i := slices.IndexFunc(game.FlagRules[:], func(r game.FlagRule) bool { return r.Word == word }); i >= 0 {
		return &game.FlagRules[i]
	}
	return nil
}
