package merge

import (
	"cmp"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/census"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/linesort"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
)

// originsOf returns a part for each vantage point. An argument is NAME=FILE or
// FILE. The default name is the file's name up to its first dot.
func originsOf(args []string) (parts []*part, err error) {
	names := map[string]string{} // names of vantage points by path
	var files []string
	for _, arg := range args {
		name, path, ok := strings.Cut(arg, "=")
		if !ok || strings.ContainsRune(name, filepath.Separator) {
			path = arg
			name, _, _ = strings.Cut(filepath.Base(arg), ".")
		}
		names[path] = name
		files = append(files, path)
	}
	if files, err = expand(files, names); err != nil {
		return nil, err
	}
	parts = group(files)
	used := map[string]bool{}
	for _, p := range parts {
		p.origin = names[p.files[0]]
		if used[p.origin] {
			return nil, console.Fail(console.ExitUsage, "two vantage points are called %s", console.Quoted(p.origin, 60)).
				WithHint("name them: a2sscan merge --origins fra=one.ndjson.zst nyc=two.ndjson.zst")
		}
		used[p.origin] = true
	}
	return parts, nil
}

// expand replaces each prefix with the files below it, and gives them the prefix's
// name in names.
func expand(paths []string, names map[string]string) (all []string, err error) {
	for _, path := range paths {
		files, err := census.Files([]string{path})
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			names[file] = names[path]
		}
		all = append(all, files...)
	}
	return all, nil
}

// sameTargets checks that all vantage points queried the same targets. It returns
// the ledger of the first of them, with the counts per status set to 0, and a
// description of each contradiction.
func sameTargets(parts []*part) (l ledger.Ledger, gaps []string) {
	l = parts[0].sum.Targets
	for _, p := range parts {
		if p.shard.Count > 1 {
			gaps = append(gaps, fmt.Sprintf("%s is shard %s: merge the shards of a vantage point first", p.name, p.shard))
		}
		if p.sum.Plan.MaxTargets > 0 || p.sum.Plan.MaxPerAddress > 0 {
			gaps = append(gaps, fmt.Sprintf("%s was limited by --max-targets or --max-per-address: it may have asked others", p.name))
		}
		if o := p.sum.Targets; o.Read != l.Read || o.LeftOut() != l.LeftOut() || o.Finished != l.Finished {
			gaps = append(gaps, fmt.Sprintf("%s asked %d of %d targets, and %s %d of %d",
				parts[0].name, l.Finished, l.Read, p.name, o.Finished, o.Read))
		}
	}
	l.By = map[string]uint64{}
	for s := scanner.StatusOK; s < scanner.NumStatuses; s++ {
		l.By[s.String()] = 0
	}
	return l, gaps
}

// views combines the censuses of several vantage points.
type views struct {
	names []string
	reach ledger.Reach
	by    map[string]uint64 // number of servers, by the best status that a vantage point has for them
	seen  []record.View     // what each vantage point recorded for the current server
	line  []byte
}

func newViews(parts []*part) *views {
	v := &views{
		by:    map[string]uint64{},
		reach: ledger.Reach{By: map[string]uint64{}, Only: map[string]uint64{}, Missed: map[string]uint64{}},
	}
	for _, p := range parts {
		v.names = append(v.names, p.origin)
		v.reach.By[p.origin], v.reach.Only[p.origin], v.reach.Missed[p.origin] = 0, 0, 0
	}
	return v
}

// join writes one record for each server.
func (m *merger) join() error {
	m.views = newViews(m.parts)
	s := linesort.New(1)
	defer s.Close()
	for i, p := range m.parts {
		if err := m.distribute(s, i, p); err != nil {
			return err
		}
	}
	return s.Groups(func(same []linesort.Entry) error { return m.add(m.views.joined(same)) })
}

// distribute adds the records of vantage point number origin to the sorter.
func (m *merger) distribute(s *linesort.Sorter, origin int, p *part) error {
	for _, file := range p.files {
		_, err := census.EachOf(file, func(_ int, line []byte) error {
			return s.Adder(0).Add(linesort.Key{Place: keyOf(record.KeyOf(line).Addr), Origin: origin}, line)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keyOf returns an IPv4 address and port as a number, or 0 for any other address.
func keyOf(a netip.AddrPort) uint64 {
	if !a.Addr().Unmap().Is4() {
		return 0
	}
	ip := a.Addr().Unmap().As4()
	return uint64(ip[0])<<40 | uint64(ip[1])<<32 | uint64(ip[2])<<24 | uint64(ip[3])<<16 | uint64(a.Port())
}

// joined returns one record for a server: the best record of any vantage point,
// with what each vantage point recorded. The record is valid until the next call.
func (v *views) joined(same []linesort.Entry) []byte {
	v.seen = v.seen[:0]
	for _, name := range v.names {
		v.seen = append(v.seen, record.View{Origin: name})
	}
	for _, e := range same {
		v.seen[e.Key.Origin].Line = e.Line
	}
	best := slices.MinFunc(same, func(a, b linesort.Entry) int { return cmp.Compare(rank(a.Line), rank(b.Line)) })
	v.count(same, best)
	v.line = record.AppendOrigins(v.line[:0], best.Line, v.seen)
	return v.line
}

// rank returns the status of a record. A lower status is more complete. An unknown
// status is NumStatuses.
func rank(line []byte) scanner.Status {
	word := record.KeyOf(line).Status
	for s := scanner.StatusOK; s < scanner.NumStatuses; s++ {
		if s.String() == word {
			return s
		}
	}
	return scanner.NumStatuses
}

// answered reports whether the server of a record sent a reply.
func answered(line []byte) bool { return rank(line) < scanner.StatusNoReply }

// count counts a server for the vantage points that it answered. best is its best
// record.
func (v *views) count(same []linesort.Entry, best linesort.Entry) {
	v.by[record.KeyOf(best.Line).Status]++
	reached := 0
	for _, seen := range v.seen {
		if len(seen.Line) > 0 && answered(seen.Line) {
			reached++
			v.reach.By[seen.Origin]++
		}
	}
	if reached == 0 {
		return
	}
	v.reach.Servers++
	if reached == len(v.names) {
		v.reach.All++
		return
	}
	v.reach.Some++
	for _, seen := range v.seen {
		switch is := len(seen.Line) > 0 && answered(seen.Line); {
		case !is:
			v.reach.Missed[seen.Origin]++
		case reached == 1:
			v.reach.Only[seen.Origin]++
		}
	}
}

// total sets the counts per status in the ledger. A target without a record
// answered no vantage point, and counts as no_reply.
func (v *views) total(sum *ledger.Summary) {
	silent := sum.Targets.Finished
	for status, n := range v.by {
		sum.Targets.By[status] = n
		silent -= min(silent, n)
	}
	sum.Targets.By[scanner.StatusNoReply.String()] += silent
	sum.Origins = &v.reach
}

// say prints how many servers each vantage point reached.
func (v *views) say(t *console.Terminal) {
	t.Say("reached by all: %s, by some: %s", console.Grouped(v.reach.All), console.Grouped(v.reach.Some))
	for _, name := range v.names {
		t.Say("%s: reached %s, missed %s that others reached, %s that no other reached", console.Plain(name, 60),
			console.Grouped(v.reach.By[name]), console.Grouped(v.reach.Missed[name]), console.Grouped(v.reach.Only[name]))
	}
}
