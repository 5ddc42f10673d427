package census

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// DiffOptions choose what Diff reports.
type DiffOptions struct {
	Volatile bool     // also report players, and maps of games that rotate them
	Kinds    []Kind   // nil: all
	Games    []string // IDs or names, in any letter case; nil: all
	Networks []string // such as 203.0.113.0/24 or AS64496; nil: all

	// Asked is the target list of the new census. If it is nil, only the records of
	// silent servers prove that the scan queried a server.
	Asked *TargetList

	TempDir string // for details of many changes; "": the system's
}

// differ compares two tables.
type differ struct {
	c        [2]*Census
	old, new *table
	farms    [2]*farmFinding
	o        DiffOptions
	filter   *filter
	asked    func(key uint64) bool
	chance   float64 // probability that a silent server is alive
	out      *Comparison
	events   []event

	movedTo, movedFrom map[int]int // rows of old to rows of new, and back
	movedBy            map[int]uint8
	unreachable        uint64 // servers that are gone and reported unreachable
}

// event is a server with changes to report.
type event struct {
	old, new int32 // rows; -1: none
	kinds    kinds
	group    int32 // of details; -1: it needs none
}

// Diff calls do with every change from one census to another that o selects, in the
// order of addresses, then of Kinds. do may keep the Change; an error of do ends
// Diff, which returns it. Diff reads each census up to three times.
func Diff(before, after *Census, o DiffOptions, do func(*Change) error) (*Comparison, error) {
	d := &differ{c: [2]*Census{before, after}, o: o, out: &Comparison{Changes: map[Kind]uint64{}, Volatile: map[Kind]uint64{}, ByGame: map[string]map[Kind]uint64{}}}
	var err error
	if d.filter, err = newFilter(&o); err != nil {
		return nil, err
	}
	for _, c := range d.c {
		if slices.Contains(c.files, "-") || slices.Contains(c.files, "") {
			return nil, errors.New("a comparison reads its files more than once: standard input can't be one of them")
		}
	}
	if err := d.load(); err != nil {
		return nil, err
	}
	d.whoWasAsked()
	d.moves()
	err = join(d.old, d.new, func(i, j int) error { d.pair(i, j); return nil })
	if err != nil {
		return nil, err
	}
	d.estimateLost()
	return d.out, d.report(do)
}

// load reads both censuses, and finds their farms.
func (d *differ) load() (err error) {
	ids := newTexts()
	if d.old, err = d.c[0].load(ids); err != nil {
		return err
	}
	if d.new, err = d.c[1].load(ids); err != nil {
		return err
	}
	for _, r := range d.old.rows {
		r.old = true
	}
	for i, t := range []*table{d.old, d.new} {
		if d.farms[i], err = findFarms(d.c[i], t); err != nil {
			return err
		}
		for j, r := range t.rows {
			r.farm = d.farms[i].of(j) + 1
		}
	}
	d.out.Old, d.out.New = d.c[0].night(d.old, d.farms[0]), d.c[1].night(d.new, d.farms[1])
	return nil
}

// night returns the sums of one side of the comparison.
func (c *Census) night(t *table, f *farmFinding) Night {
	n := Night{Scans: t.scans(), Farms: uint64(len(f.farms))}
	for i, r := range t.rows {
		switch {
		case !r.status.answered():
			n.Silent++
			continue
		case f.of(i) < 0:
			n.WithoutFarms.add(r)
		}
		n.All.add(r)
	}
	if run := c.run(); run != nil {
		n.Summary, n.Complete, n.Missed = true, run.Ended == "complete", run.Missed
	}
	return n
}

// pair compares row i of the old table with row j of the new one, which have the
// same address; -1 means that there is no such row.
func (d *differ) pair(i, j int) {
	a, b := d.old.at(i), d.new.at(j)
	if a != nil && a.key == 0 || b != nil && b.key == 0 {
		return // a record without an address, from a capture
	}
	from, arrived := -1, false
	if j >= 0 {
		from, arrived = d.cameFrom(j)
	}
	_, left := d.movedTo[i]
	before, after := a.answered() && !left, b.answered() && !arrived
	if arrived {
		k := bitMoved | d.differences(d.old.rows[from], b)
		d.volatileFacts(d.old.rows[from], b, k)
		d.note(from, j, k)
	}
	switch {
	case before && after:
		d.same(i, j)
	case before:
		d.absent(i, j, b)
	case after && a != nil && !a.answered():
		d.note(i, j, bitBack)
	case after:
		d.note(-1, j, bitNew)
	}
}

func (d *differ) cameFrom(j int) (from int, ok bool) {
	from, ok = d.movedFrom[j]
	return from, ok
}

// same compares a server that answered on both nights.
func (d *differ) same(i, j int) {
	a, b := d.old.rows[i], d.new.rows[j]
	k := d.differences(a, b)
	d.volatileFacts(a, b, k)
	if k&^d.volatile(b, k) == 0 {
		d.out.Same++
	}
	if k != 0 {
		d.note(i, j, k)
	}
}

// volatileFacts counts a server that answered on both nights, and adds up its changes
// of people and rotated maps.
func (d *differ) volatileFacts(a, b *row, k kinds) {
	d.out.Compared++
	if k&bitMap != 0 && d.volatile(b, k)&bitMap != 0 {
		d.out.MoreMaps++
	}
	if k&bitPlayers == 0 {
		return
	}
	if b.people > a.people {
		d.out.PeopleMore += uint64(b.people - a.people)
	} else {
		d.out.PeopleFewer += uint64(a.people - b.people)
	}
}

// absent notes a server that answered in the old census only. now is its row in the
// new census, or nil.
func (d *differ) absent(i, j int, now *row) {
	a := d.old.rows[i]
	switch {
	case now != nil && !now.answered():
		if now.status == statusUnreachable {
			d.unreachable++
		}
		d.note(i, j, bitGone)
	case now == nil && d.asked != nil && d.asked(a.key):
		d.note(i, -1, bitGone)
	default:
		d.note(i, -1, bitNotAsked)
	}
}

// note counts the changes in k, and adds an event if at least one of them is to be
// reported.
func (d *differ) note(i, j int, k kinds) {
	r := d.new.at(j)
	if !r.answered() {
		r = d.old.at(i)
	}
	id := d.new.text(r.game)
	byGame := d.out.ByGame[id]
	if byGame == nil {
		byGame = map[Kind]uint64{}
		d.out.ByGame[id] = byGame
	}
	volatile := d.volatile(r, k)
	for n, kind := range Kinds {
		if k&(1<<n) != 0 {
			d.out.Changes[kind]++
			byGame[kind]++
		}
		if volatile&(1<<n) != 0 {
			d.out.Volatile[kind]++
		}
	}
	if !d.o.Volatile {
		k &^= volatile &^ d.filter.named
	}
	if k &= d.filter.kinds; k != 0 && d.filter.matches(d, r) {
		d.events = append(d.events, event{old: int32(i), new: int32(j), kinds: k})
	}
}

// at returns row i, or nil if i is negative.
func (t *table) at(i int) *row {
	if i < 0 {
		return nil
	}
	return t.rows[i]
}

// answered reports whether r is not nil and its server answered.
func (r *row) answered() bool { return r != nil && r.status.answered() }

// index returns the index of the row with the address key, and whether there is
// one.
func (t *table) index(key uint64) (int, bool) {
	if key == 0 {
		return 0, false
	}
	return slices.BinarySearchFunc(t.rows, key, func(r *row, key uint64) int { return cmp.Compare(r.key, key) })
}

// limitGames reduces ByGame to MaxGames games: it sums up those with the fewest
// changes under "".
func (c *Comparison) limitGames() {
	if len(c.ByGame) <= MaxGames {
		return
	}
	total := func(id string) (n uint64) {
		for _, v := range c.ByGame[id] {
			n += v
		}
		return n
	}
	var ids []string
	for id := range c.ByGame {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(total(b), total(a)), strings.Compare(a, b)) })
	rest := map[Kind]uint64{}
	for _, id := range ids[MaxGames-1:] {
		for kind, n := range c.ByGame[id] {
			rest[kind] += n
		}
		delete(c.ByGame, id)
	}
	for kind, n := range c.ByGame[""] {
		rest[kind] += n
	}
	c.ByGame[""] = rest
}
