package master

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// sampled holds the properties of a server by which a list can be divided into
// parts.
type sampled struct {
	name, gameMap string
	empty, linux  bool
}

// part is a request whose answer was cut at the cap.
type part struct {
	filter Filter
	sample answer
	total  float64 // expected number of servers; 0: unknown
	depth  int
}

// The limits of the parts, and the parameters of the division.
const (
	maxParts      = 40   // maximum depth of nested divisions
	maxConditions = 48   // maximum number of conditions in a division; the last part excludes them all in one nor
	maxWebFilter  = 6000 // maximum length of an escaped filter in bytes, so that the URL stays below 8 KiB
	groupRoom     = 16   // escaped bytes of a filter that are reserved for the group around the conditions
	fill          = 0.85 // maximum expected size of a part, as a fraction of the cap
	underestimate = 1.33 // assumed size of a part that unexpectedly exceeded the cap, as a multiple of the cap
	probeShare    = 0.08 // size of the part from which the total is estimated, as a fraction of the sample
)

// fetch requests the list. If the answer is cut at the cap, fetch requests the list
// in parts.
func (w *webList) fetch(ctx context.Context) error {
	sample, err := w.ask(ctx, w.Filter)
	if err == nil && w.isCut(sample) {
		_, err = w.divide(ctx, &part{filter: w.Filter, sample: sample})
	}
	if err != nil {
		return err
	}
	w.stats.End = EndTerminator
	if len(w.stats.Capped) > 0 {
		w.stats.End = EndCapped
	}
	w.progress(0, WaitNothing)
	return nil
}

// isCut reports whether an answer reached the cap, so that there may be more
// servers.
func (w *webList) isCut(got answer) bool { return len(got) >= w.Cap }

// divide requests a part as several smaller parts. Each of these selects servers by
// some values from the sample, such as maps or beginnings of names, and the last
// one selects all other servers. So each server is in exactly one smaller part,
// whether it is in the sample or not. divide returns the number of servers.
//
// The number of smaller parts depends on the number of servers. If that is unknown,
// divide first requests a small part to estimate it.
func (w *webList) divide(ctx context.Context, p *part) (got int, err error) {
	d := w.newDivision(p)
	if d == nil {
		return w.outside(ctx, p)
	}
	if p.total == 0 {
		got, err = w.probe(ctx, d)
	} else if p.total < float64(w.Cap) {
		d.total = float64(w.Cap) * underestimate
	}
	for most := d.most(); err == nil && !d.unfiltered && d.rest > most; {
		bin := d.bin(most)
		if bin.weight == 0 {
			break
		}
		var n int
		n, err = w.askBin(ctx, d, bin)
		got += n
	}
	if err != nil || d.unfiltered {
		return got, err
	}
	n, err := w.askPart(ctx, d, Nor(d.named...), d.rest)
	return got + n, err
}

// probe requests a small part of d, estimates the total number of servers from it,
// and sets d.total. It returns the number of servers in the small part.
func (w *webList) probe(ctx context.Context, d *division) (got int, err error) {
	bin := d.bin(int(probeShare * float64(len(d.sample))))
	got, err = w.askBin(ctx, d, bin)
	share := float64(bin.weight) / float64(len(d.sample))
	d.total = max(float64(got)/share, float64(w.Cap)) // at least the cap, since the answer was cut
	return got, err
}

// division is the state of dividing a part along one dimension.
type division struct {
	*part
	cap        int         // number of servers at which an answer counts as cut
	atoms      []atom      // not yet requested, the heaviest first
	named      []Condition // conditions requested so far
	rest       int         // number of servers of the sample that meet none of named
	room       int         // escaped bytes left for more conditions
	one        bool        // a bin has only one condition, because the master does not know "or"
	unfiltered bool        // the master ignores the conditions
}

// atom is a condition that some servers of the sample meet. No server meets two
// atoms of the same dimension.
type atom struct {
	condition Condition
	weight    int // how many servers of the sample meet it
}

// bin holds the conditions of the atoms that are requested together as one part,
// and the sum of their weights.
type bin struct {
	conditions []Condition
	weight     int
}

// newDivision chooses the dimension along which a part is divided. It returns nil
// if no dimension distinguishes the servers of the sample, if the filter would be
// too long, or if the part is at the maximum depth.
func (w *webList) newDivision(p *part) *division {
	target := int(probeShare * float64(len(p.sample)))
	var atoms []atom
	best := len(p.sample)
	for _, dimension := range []func(answer) []atom{byPlayers, bySystem, byMap, byName} {
		as := dimension(p.sample)
		if most := heaviest(as, len(p.sample)); most < best && best > target {
			atoms, best = as, most
		}
	}
	room := maxWebFilter - escapedLen(p.filter) - groupRoom
	atoms = slices.DeleteFunc(atoms, func(a atom) bool {
		return escapedLen(Filter{a.condition}) > room
	})
	if p.depth == maxParts || len(atoms) == 0 {
		return nil
	}
	slices.SortStableFunc(atoms, func(a, b atom) int { return cmp.Compare(b.weight, a.weight) })
	return &division{
		part: p, cap: w.Cap, atoms: atoms, rest: len(p.sample), room: room, one: w.noOr,
	}
}

func escapedLen(f Filter) int { return len(url.QueryEscape(f.String())) }

// heaviest returns the weight of the heaviest atom, or the number of servers that
// meet no atom if that number is larger. all is the number of servers in the
// sample.
func heaviest(atoms []atom, all int) int {
	most := 0
	for _, a := range atoms {
		most = max(most, a.weight)
		all -= a.weight
	}
	return max(most, all)
}

// most returns the maximum number of servers of the sample for one part. If the
// sample is representative, the part stays under the cap even if it is three
// standard deviations larger than expected.
func (d *division) most() int {
	all := float64(d.cap) / d.total * float64(len(d.sample))
	root := math.Sqrt(all+9.0/4) - 3.0/2
	return int(min(root*root, all*fill))
}

// bin moves atoms with a total weight of at most most from d to a new bin. If all
// atoms are heavier, it moves only the lightest atom. The bin is empty if the
// filter has no room for another atom.
func (d *division) bin(most int) (b bin) {
	var left []atom
	for _, a := range d.atoms {
		alone := d.one && b.weight > 0
		if alone || b.weight+a.weight > most || !d.name(a, &b) {
			left = append(left, a)
		}
	}
	for n := len(left) - 1; n >= 0 && b.weight == 0; n-- {
		if d.name(left[n], &b) {
			left = slices.Delete(left, n, n+1)
		}
	}
	d.atoms = left
	d.rest -= b.weight
	return b
}

// name adds an atom to a bin if the filter has room for it, and reports whether it
// did.
func (d *division) name(a atom, b *bin) bool {
	size := escapedLen(Filter{a.condition})
	if len(d.named) == maxConditions || size > d.room {
		return false
	}
	d.room -= size
	d.named = append(d.named, a.condition)
	b.conditions = append(b.conditions, a.condition)
	b.weight += a.weight
	return true
}

// askBin requests a bin and returns the number of servers. If a bin of several
// conditions has no servers, askBin assumes that the master does not know "or", and
// requests one condition at a time.
func (w *webList) askBin(ctx context.Context, d *division, b bin) (int, error) {
	if len(b.conditions) == 1 {
		return w.askPart(ctx, d, b.conditions[0], b.weight)
	}
	n, err := w.askPart(ctx, d, Or(b.conditions...), b.weight)
	if err != nil || n > 0 {
		return n, err
	}
	w.noOr, d.one = true, true
	for _, c := range b.conditions {
		got, err := w.askPart(ctx, d, c, b.weight/len(b.conditions))
		if err != nil {
			return n, err
		}
		n += got
	}
	return n, nil
}

// askPart requests the servers of the division that meet c, and divides this part
// further if its answer is cut. weight is the number of servers of the sample that
// meet c. askPart returns the number of servers.
func (w *webList) askPart(ctx context.Context, d *division, c Condition, weight int) (int, error) {
	f := append(slices.Clone(d.filter), c)
	before := w.stats.Servers + w.stats.Elsewhere
	sample, err := w.ask(ctx, f)
	if err != nil || !w.isCut(sample) {
		return len(sample), err
	}
	if w.stats.Servers+w.stats.Elsewhere == before {
		// Some servers of the sample do not meet c, so if the master respected c, a
		// cut answer would contain new servers.
		d.unfiltered = true
		w.capped(d.filter, len(d.sample))
		return 0, nil
	}
	total := max(d.total*float64(weight)/float64(len(d.sample)), 1)
	return w.divide(ctx, &part{filter: f, sample: sample, total: total, depth: d.depth + 1})
}

func (w *webList) capped(f Filter, got int) {
	w.stats.Capped = append(w.stats.Capped, Capped{f.String(), got})
}

// outside records a part that can't be divided in Stats.Capped. It then requests
// the servers of the part that differ from its sample, in which all servers are
// alike. Other servers that are like the sample can't be reached. outside returns
// the number of servers.
func (w *webList) outside(ctx context.Context, p *part) (int, error) {
	w.capped(p.filter, len(p.sample))
	alike := likeness(p.sample)
	if p.depth == maxParts || len(alike) == 0 {
		return len(p.sample), nil
	}
	c := Nand(alike...)
	if len(alike) == 1 {
		c = Nor(alike...)
	}
	if escapedLen(p.filter)+escapedLen(Filter{c}) > maxWebFilter {
		return len(p.sample), nil
	}
	n, err := w.askPart(ctx, &division{part: p, cap: w.Cap}, c, 0)
	return len(p.sample) + n, err
}

// likeness returns the conditions that all servers of the sample meet.
func likeness(sample answer) (cs []Condition) {
	for _, dimension := range []func(answer) []atom{byPlayers, bySystem, byMap} {
		switch atoms := dimension(sample); {
		case len(atoms) == 1 && atoms[0].weight == len(sample):
			cs = append(cs, atoms[0].condition)
		case len(atoms) == 1 && atoms[0].weight == 0:
			cs = append(cs, Nor(atoms[0].condition))
		}
	}
	if c := Name(commonPrefix(sample) + "*"); len(c.Value) > 1 && expressible(c) {
		cs = append(cs, c)
	}
	return cs
}

// The dimensions of a division, in the order in which newDivision tries them. The
// first is known to work with masters; the last has the longest filters.

func byPlayers(sample answer) []atom {
	return []atom{{NotEmpty(), count(sample, func(s *sampled) bool { return !s.empty })}}
}

func bySystem(sample answer) []atom {
	return []atom{{Linux(), count(sample, func(s *sampled) bool { return s.linux })}}
}

func count(sample answer, has func(*sampled) bool) (n int) {
	for i := range sample {
		if has(&sample[i]) {
			n++
		}
	}
	return n
}

func byMap(sample answer) []atom {
	weights := make(map[string]int)
	for i := range sample {
		weights[sample[i].gameMap]++
	}
	return atomsOf(weights, Map)
}

// byName divides names by the first character after their common prefix.
func byName(sample answer) []atom {
	prefix := commonPrefix(sample)
	weights := make(map[string]int)
	for i := range sample {
		rest := sample[i].name[len(prefix):]
		_, size := utf8.DecodeRuneInString(rest)
		if size > 0 && rest[0] != '*' {
			weights[prefix+rest[:size]]++
		}
	}
	return atomsOf(weights, func(start string) Condition { return Name(start + "*") })
}

// commonPrefix returns the longest common prefix of the names in the sample that
// does not end inside a character.
func commonPrefix(sample answer) string {
	if len(sample) == 0 {
		return ""
	}
	prefix := sample[0].name
	for i := range sample {
		n := 0
		for n < min(len(prefix), len(sample[i].name)) && prefix[n] == sample[i].name[n] {
			n++
		}
		for n < len(prefix) && n > 0 && !utf8.RuneStart(prefix[n]) {
			n--
		}
		prefix = prefix[:n]
	}
	return prefix
}

// atomsOf returns an atom for each value whose condition is expressible, sorted by
// value. weights maps values to weights.
func atomsOf(weights map[string]int, condition func(string) Condition) (atoms []atom) {
	for value, weight := range weights {
		if c := condition(value); expressible(c) {
			atoms = append(atoms, atom{c, weight})
		}
	}
	slices.SortFunc(atoms, func(a, b atom) int {
		return cmp.Compare(a.condition.Value, b.condition.Value)
	})
	return atoms
}

// expressible reports whether the protocol can express a condition. Besides the
// values that check rejects, it can't express a value with a * other than at the
// end, or with U+FFFD, which stands for unknown bytes.
func expressible(c Condition) bool {
	stars := strings.Count(c.Value, "*")
	return c.check(0) == nil && !strings.ContainsRune(c.Value, utf8.RuneError) &&
		(stars == 0 || stars == 1 && strings.HasSuffix(c.Value, "*"))
}
