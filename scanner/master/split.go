package master

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// These limits apply when a part of the server list is divided into two smaller parts.
const (
	maxDepthOfParts = 40 // maximum of part.depth
	// The maximum number of conditions that the servers of one smaller part meet. The other
	// one has the servers that meet none of these conditions.
	maxConditions = 24
	// The maximum length of an escaped filter in bytes. It keeps the URL below 8 KiB.
	maxWebFilter = 6000
	// If the answers to two parts have the same number of servers, and this number is at
	// least minTwin, both answers were cut (EC-159).
	minTwin = 1000
)

// part is a part of the list: the servers that meet its filter.
type part struct {
	filter Filter
	from   *part // the larger part that was divided to get this part; nil for the entire list
	depth  int   // how many divisions led to this part
	// either is true if the last condition of filter is an "or". Some servers in the sample
	// of the larger part meet this condition, and others do not.
	either bool
	sample []sampled // the servers of the answer
	capped bool      // the part is listed in Stats.Capped
}

// fetchParts requests the list. If the answer to a part was cut, it requests two smaller
// parts instead: the servers that meet some conditions, and all other servers. So each
// server is in exactly one part, even if no answer has contained it.
func (w *webList) fetchParts(ctx context.Context) error {
	open := []*part{{filter: w.Filter}}
	for len(open) > 0 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		before := len(w.seen)
		var err error
		if p.sample, err = w.ask(ctx, p.filter); err != nil {
			return err
		}
		// An answer counts as cut if its number of servers is the cap, a multiple of the
		// cap, or the number of servers of an earlier part, which is then divided, too.
		n := len(p.sample)
		isCut := n > 0 && n%w.Cap == 0
		if twin, known := w.counts[n]; !isCut && n >= minTwin {
			switch isCut = known; {
			case !known:
				w.counts[n] = p
			case twin != nil:
				open = append(open, w.divide(twin)...)
				w.counts[n] = nil
			}
		}
		switch {
		case p.either && n == 0 && !w.noOr:
			// The master does not know "or". Divide again, by single conditions.
			w.noOr = true
			open = append(open[:len(open)-1], w.divide(p.from)...)
		case !isCut:
		case p.from != nil && n >= len(p.from.sample) && len(w.seen) == before:
			// This answer has at least as many servers as the answer to the larger part, but no
			// new server. So the master ignores the filter.
			w.capped(p.from)
		default:
			open = append(open, w.divide(p)...)
		}
	}
	w.stats.Complete, w.stats.End = true, "the list is complete"
	if len(w.stats.Capped) > 0 {
		w.stats.Complete, w.stats.End = false, "the master limits the size of its answers; the list may be incomplete"
	}
	return nil
}

func (w *webList) capped(p *part) {
	if !p.capped {
		p.capped = true
		w.stats.Capped = append(w.stats.Capped, fmt.Sprintf("the filter %s selects more than the %d servers that the master sent, and no condition can divide this selection further",
			show(p.filter.String()), len(p.sample)))
	}
}

// atom is a condition that some servers of a sample meet. No server meets two atoms
// with the same key.
type atom struct {
	condition Condition
	weight    int // number of servers of the sample that meet the condition
}

// divide returns the two halves of a part, so that about half of the sample is in
// each. If it can't divide the sample, it records the part as capped and returns at most
// one part: the servers that differ from the sample.
func (w *webList) divide(p *part) []*part {
	var best []Condition
	score := 0 // how many servers of the sample are in the smaller half
	dimensions := [][]atom{
		values(p.sample, "empty", func(s *sampled) string { return s.players }),
		values(p.sample, "linux", func(s *sampled) string { return s.linux }),
		values(p.sample, "map", func(s *sampled) string { return s.gameMap }),
		names(p.sample),
	}
	for _, atoms := range dimensions {
		half, weight := w.half(p, atoms)
		if smaller := min(weight, len(p.sample)-weight); smaller > score {
			best, score = half, smaller
		}
	}
	if score > 0 && p.depth < maxDepthOfParts {
		either := best[0]
		if len(best) > 1 {
			either = Condition{Key: "or", Group: best}
		}
		return []*part{ // the last part is requested first
			{filter: slices.Concat(p.filter, Filter{{Key: "nor", Group: best}}), from: p, depth: p.depth + 1},
			{filter: slices.Concat(p.filter, Filter{either}), from: p, depth: p.depth + 1, either: len(best) > 1},
		}
	}
	w.capped(p)
	var alike []Condition
	for _, a := range slices.Concat(dimensions...) {
		if a.weight == len(p.sample) {
			alike = append(alike, a.condition)
		}
	}
	others := slices.Concat(p.filter, Filter{{Key: "nand", Group: alike}})
	if len(alike) == 0 || p.depth == maxDepthOfParts || escapedLen(others) > maxWebFilter {
		return nil
	}
	return []*part{{filter: others, from: p, depth: p.depth + 1}}
}

// half chooses atoms that about half of the sample meets: the heaviest first, as many
// as the filter has room for. It returns their conditions and total weight.
func (w *webList) half(p *part, atoms []atom) (half []Condition, weight int) {
	slices.SortFunc(atoms, func(a, b atom) int {
		return cmp.Or(b.weight-a.weight, cmp.Compare(a.condition.Value, b.condition.Value))
	})
	most := maxConditions
	if w.noOr {
		most = 1
	}
	room := maxWebFilter - escapedLen(p.filter) - len("%5Cnor%5C24")
	for _, a := range atoms {
		size := escapedLen(Filter{a.condition})
		fits := weight == 0 || weight+a.weight <= len(p.sample)/2
		if len(half) < most && fits && a.weight < len(p.sample) && size <= room {
			half, weight, room = append(half, a.condition), weight+a.weight, room-size
		}
	}
	return half, weight
}

func escapedLen(f Filter) int { return len(url.QueryEscape(f.String())) }

// values returns an atom for each value that a property has in the sample, if a filter can
// express the value. Its last argument returns the property of a server.
func values(sample []sampled, key string, value func(*sampled) string) (atoms []atom) {
	weights := make(map[string]int)
	for i := range sample {
		weights[value(&sample[i])]++
	}
	for v, n := range weights {
		// A master can't match U+FFFD, which stands for unknown bytes, and * is a pattern
		// only at the end.
		c := Condition{Key: key, Value: v}
		if c.check() == nil && !strings.ContainsRune(v, utf8.RuneError) &&
			!strings.Contains(strings.TrimSuffix(v, "*"), "*") {
			atoms = append(atoms, atom{c, n})
		}
	}
	return atoms
}

// names returns an atom for each character that follows the common prefix of all servers'
// names. The prefix does not end inside a character. The sample must not be empty.
func names(sample []sampled) []atom {
	prefix, same := sample[0].name, true
	for _, s := range sample {
		for !strings.HasPrefix(s.name, prefix) {
			_, size := utf8.DecodeLastRuneInString(prefix)
			prefix = prefix[:len(prefix)-size]
		}
		same = same && s.name == sample[0].name
	}
	return values(sample, "name_match", func(s *sampled) string {
		rest := s.name[len(prefix):]
		_, size := utf8.DecodeRuneInString(rest)
		if size == 0 && !same || prefix+rest[:size] == "" || strings.HasPrefix(rest, "*") {
			return ""
		}
		return prefix + rest[:size] + "*"
	})
}
