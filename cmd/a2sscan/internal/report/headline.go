package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// lossy is the share of servers that a scan may miss before its numbers are marked as
// doubtful.
const lossy = 0.01

type tile struct {
	Label, Value string
	Change       string // change since the previous census, or empty if unknown
	Aside        string // a remark, such as the number without farms
	Spark        string // SVG path
}

type statement struct {
	Class string // good, warn or bad
	Text  string
}

func title(in *Input) string {
	if in.Title != "" {
		return Shown(in.Title, maxName)
	}
	if t := night(in.Stats); !t.IsZero() {
		return "Game servers on " + t.Format("2 January 2006")
	}
	return "Game servers"
}

func when(s *census.Stats) string {
	from := night(s)
	if from.IsZero() {
		return "The time of the scan is not known"
	}
	text := "Scanned on " + from.Format("Monday, 2 January 2006, 15:04") + " UTC"
	if s.Run != nil {
		text += ", in " + console.RoughDuration(time.Duration(s.Run.Seconds*1e9))
	}
	return text
}

// lead describes a census in a few sentences: the number of people, compared with the
// previous census; the servers that came and went; the most popular games; the servers in
// farms, and other servers with flags. The numbers of people and games leave out farms.
func lead(in *Input) string {
	s := in.Stats
	all := &s.WithoutFarms
	if s.All.Servers == 0 {
		return ""
	}
	answered := console.Plural(all.Servers, "server") + " that answered"
	if s.Farms.Found > 0 {
		answered += " and are in no farm"
	}
	text := fmt.Sprintf("%s on %s of the %s", console.Plural(all.People, "person"), number(all.Occupied), answered)
	if in.Before != nil && in.Before.without.People > 0 {
		text += " (" + relative(all.People, in.Before.without.People) + " since last time)"
	}
	text += "." + favourites(s) + arrivals(in.Changes)
	if farms := &s.Farms.Sums; s.Farms.Found > 0 {
		text += fmt.Sprintf(" Not counted, because farms look made up: %s in %s, with %s.", console.Plural(farms.Servers, "server"),
			console.Plural(s.Farms.Found, "farm"), console.Plural(farms.People, "person"))
	}
	if doubtful := &s.Flagged.Doubtful; doubtful.Servers > 0 {
		text += fmt.Sprintf(" Counted, but doubtful: %s on %s with a flag that contradicts the number or the list of players.",
			console.Plural(doubtful.People, "person"), console.Plural(doubtful.Servers, "server"))
	}
	if n := s.Flagged.Unusual.Servers; n > 0 {
		text += fmt.Sprintf(" Counted, and only unusual: %s with other flags.", console.Plural(n, "server"))
	}
	return text
}

// arrivals lists how many servers are new, gone and back since the previous census.
func arrivals(c *census.Comparison) string {
	if c == nil {
		return ""
	}
	var parts []string
	for _, k := range []census.Kind{"new", "gone", "back"} {
		if n := c.Changes[k]; n > 0 {
			parts = append(parts, number(n)+" "+string(k))
		}
	}
	if len(parts) == 0 {
		return " Since last time, no server has come or gone."
	}
	return " Servers since last time: " + strings.Join(parts, ", ") + "."
}

func favourites(s *census.Stats) string {
	var sum uint64
	var top []string
	for _, g := range mostPeople(withoutFarms(s.Games.Top)) {
		if len(top) == 3 || g.People == 0 {
			break
		}
		sum += g.People
		top = append(top, named(g.Name))
	}
	if len(top) == 0 {
		return ""
	}
	return fmt.Sprintf(" %s of these people play %s.", percent(sum, s.WithoutFarms.People), strings.Join(top, ", "))
}

const lostShown = 5

// trust summarises how reliable the numbers are. The section about the scan has more
// details.
func trust(s *census.Stats) (all []statement) {
	for _, sentence := range s.Lost[:min(len(s.Lost), lostShown)] {
		all = append(all, statement{"bad", Shown(sentence, 300)})
	}
	if more := len(s.Lost) - len(all); more > 0 {
		all = append(all, statement{"bad", console.Plural(uint64(more), "more fault") + " in the files. To list all: a2sscan stats CENSUS | jq .lost"})
	}
	r := s.Run
	if r == nil {
		return append(all, statement{"warn", "The scan has no summary, so its losses are not known"})
	}
	if r.Ended == "complete" {
		all = append(all, statement{"good", "Complete: " + console.Plural(r.Asked, "target") + " asked"})
	} else {
		all = append(all, statement{"bad", "Not complete (" + Shown(r.Ended, 20) + "): " +
			console.Plural(r.Targets.Unfinished+r.Targets.Unread, "target") + " left"})
	}
	share, known := missedShare(s)
	missed := statement{"warn", "The number of missed servers can’t be estimated"}
	if known {
		missed = statement{"good", fmt.Sprintf("Servers that the scan probably missed: %s (%s)", rounded(*r.Missed), percentOf(share))}
	}
	if share > lossy {
		missed.Class = "bad"
	}
	all = append(all, missed)
	if !r.Consistent {
		all = append(all, statement{"bad", "The scan's sums do not add up"})
	}
	return all
}

// missedShare returns which share of the live servers the scan probably missed. Run.Missed is
// about all servers of the scan, but All only about the servers of the chosen games.
func missedShare(s *census.Stats) (share float64, known bool) {
	if s.Run == nil || s.Run.Missed == nil {
		return 0, false
	}
	if *s.Run.Missed <= 0 {
		return 0, true
	}
	return *s.Run.Missed / (*s.Run.Missed + float64(max(s.Run.Answered, s.All.Servers))), true
}

// doubtful reports whether the numbers of a night are doubtful, because the scan missed too
// many servers or is not complete, or because its sums do not add up.
func doubtful(s *census.Stats) bool {
	share, _ := missedShare(s)
	return share > lossy || s.Run != nil && (s.Run.Ended != "complete" || !s.Run.Consistent)
}

func tiles(in *Input) []tile {
	s := in.Stats
	all := []tile{
		in.tile("Servers", func(s *census.Sums) uint64 { return s.Servers }),
		in.tile("People", func(s *census.Sums) uint64 { return s.People }),
		in.tile("Places for people", func(s *census.Sums) uint64 { return s.Places }),
		in.tile("Servers with people", func(s *census.Sums) uint64 { return s.Occupied }),
		in.tile("Bots", func(s *census.Sums) uint64 { return s.Bots }),
	}
	games := tile{Label: "Games", Value: number(s.Games.Distinct)}
	if in.Before != nil && in.Before.distinct > 0 {
		games.Change = signed(s.Games.Distinct, in.Before.distinct)
	}
	return append(all, games)
}

func (in *Input) tile(label string, of func(*census.Sums) uint64) tile {
	s := in.Stats
	t := tile{Label: label, Value: number(of(&s.All))}
	if s.Farms.Found > 0 {
		t.Aside = number(of(&s.WithoutFarms)) + " without farms"
	}
	if b := in.Before; b != nil {
		t.Change = relative(of(&s.All), of(&b.all))
		if t.Aside != "" {
			t.Aside += ": " + relative(of(&s.WithoutFarms), of(&b.without))
		}
	}
	t.Spark = spark(in.History.last(sparkNights, of))
	return t
}

func relative(now, before uint64) string {
	if before == 0 {
		return signed(now, before)
	}
	// A smaller change becomes 0.0 with one decimal.
	switch change := 100 * (float64(now) - float64(before)) / float64(before); {
	case change >= 0.05:
		return fmt.Sprintf("+%.1f%%", change)
	case change <= -0.05:
		return fmt.Sprintf("−%.1f%%", -change)
	}
	return "±0%"
}
