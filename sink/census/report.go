package census

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/record"
)

// report calls do with the changes of all events.
func (d *differ) report(do func(*Change) error) error {
	d.out.limitGames()
	slices.SortFunc(d.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(d.keyOf(a), d.keyOf(b)), cmp.Compare(a.kinds, b.kinds))
	})
	p := &reporter{d: d, do: do}
	if err := p.prepare(); err != nil {
		return err
	}
	defer p.close()
	for _, e := range d.events {
		if err := p.event(e); err != nil {
			return err
		}
	}
	return nil
}

// keyOf returns the address under which an event is reported.
func (d *differ) keyOf(e event) uint64 {
	if e.new >= 0 {
		return d.new.rows[e.new].key
	}
	return d.old.rows[e.old].key
}

// reporter turns events into changes.
type reporter struct {
	d       *differ
	do      func(*Change) error
	details [2]*details
	current int32 // the group in have
	have    [2]map[uint64]detail

	ruleBuffers [2]rules
}

// needsDetails are the kinds whose changes show more than a row holds.
var needsDetails = bitRules | bitMods

// prepare divides the events that need details into groups, and reads the details from
// both censuses.
func (p *reporter) prepare() (err error) {
	d := p.d
	p.current = -1
	n := 0
	for i := range d.events {
		e := &d.events[i]
		if e.group = -1; e.kinds&needsDetails != 0 {
			e.group = int32(n / detailsAtOnce)
			n++
		}
	}
	groups := (n + detailsAtOnce - 1) / detailsAtOnce
	for side, t := range []*table{d.old, d.new} {
		if err := p.collect(side, t, groups, n); err != nil {
			p.close()
			return err
		}
	}
	return nil
}

// collect reads the details of one census, for n servers.
func (p *reporter) collect(side int, t *table, groups, n int) (err error) {
	d := p.d
	one, err := newDetails(d.o.TempDir, groups, n)
	if err != nil {
		return err
	}
	p.details[side] = one
	for _, e := range d.events {
		if e.group >= 0 {
			one.add(t.rows[[2]int32{e.old, e.new}[side]].key, e.group)
		}
	}
	return one.collect(d.c[side], t)
}

func (p *reporter) close() {
	for _, one := range p.details {
		if one != nil {
			one.close()
		}
	}
}

// event reports the changes of one server.
func (p *reporter) event(e event) (err error) {
	if e.group >= 0 && e.group != p.current {
		p.current = e.group
		for side := range p.have {
			if p.have[side], err = p.details[side].read(int(e.group)); err != nil {
				return err
			}
		}
	}
	d := p.d
	a, b := d.old.at(int(e.old)), d.new.at(int(e.new))
	shown := d.new
	r := b
	if !r.answered() {
		shown, r = d.old, a
	}
	for i, kind := range Kinds {
		if e.kinds&(1<<i) == 0 {
			continue
		}
		c := &Change{Kind: kind, Addr: addrOf(d.keyOf(e)).String(), Game: d.new.text(r.game), Name: shown.shownName(r), People: r.people}
		if kind == KindMoved {
			c.By = movedWords[d.movedBy[int(e.new)]]
		}
		if kind == KindGone && (b == nil || b.status != statusUnreachable) {
			c.LossChance = round6(d.chance)
			c.LikelyLoss = d.chance >= 0.5
		}
		c.Before, c.After = p.facts(kind, a, b)
		if err := p.do(c); err != nil {
			return err
		}
	}
	return nil
}

// facts returns what a change of the kind shows about each night.
func (p *reporter) facts(kind Kind, a, b *row) (before, after *Facts) {
	d := p.d
	switch kind {
	case KindNew:
		return nil, d.new.allFacts(b)
	case KindBack:
		return &Facts{Status: statusWords[a.status]}, d.new.allFacts(b)
	case KindNotAsked:
		return d.old.allFacts(a), nil
	case KindGone:
		if b == nil {
			return d.old.allFacts(a), nil
		}
		return d.old.allFacts(a), &Facts{Status: statusWords[b.status]}
	}
	before, after = &Facts{}, &Facts{}
	switch kind {
	case KindMoved:
		before.Addr, after.Addr = addrOf(a.key).String(), addrOf(b.key).String()
	case KindMods:
		p.mods(a, b, before, after)
	case KindRules:
		p.rules(a, b, before, after)
	case KindChallenge:
		challenges(a, b, before, after)
	case KindFlags:
		before.Flags, after.Flags = flagWords(a.flags&^b.flags&lastingFlags), flagWords(b.flags&^a.flags&lastingFlags)
	case KindFarm:
		before.Farm, after.Farm = d.farmOf(0, a), d.farmOf(1, b)
	default:
		d.old.value(kind, a, b, before)
		d.new.value(kind, b, a, after)
	}
	return before, after
}

// value sets the fact that the kind is about. other is the server on the other night.
func (t *table) value(kind Kind, r, other *row, f *Facts) {
	switch kind {
	case KindRenamed:
		f.Name = ptr(t.shownName(r))
	case KindMap:
		f.Map = ptr(t.text(r.level))
	case KindVersion:
		f.Version = ptr(t.text(r.version))
	case KindCapacity:
		f.MaxPlayers = ptr(r.capacity)
	case KindPlayers:
		f.People = ptr(r.people)
	case KindMode:
		both := r.has & other.has
		if both&hasMode != 0 && r.mode != other.mode {
			f.Mode = ptr(t.text(r.mode))
		}
		if both&hasPVP != 0 && r.pvp != other.pvp {
			f.PVP = ptr(r.pvp)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// allFacts returns everything that a row holds and a change may show.
func (t *table) allFacts(r *row) *Facts {
	f := &Facts{Status: statusWords[r.status], Flags: flagWords(r.flags)}
	if r.has&hasName != 0 {
		f.Name = ptr(t.shownName(r))
	}
	if r.has&hasMap != 0 {
		f.Map = ptr(t.text(r.level))
	}
	if r.has&hasVersion != 0 {
		f.Version = ptr(t.text(r.version))
	}
	if r.has&hasMode != 0 {
		f.Mode = ptr(t.text(r.mode))
	}
	if r.has&hasCapacity != 0 {
		f.MaxPlayers = ptr(r.capacity)
	}
	if r.has&hasPeople != 0 {
		f.People, f.Bots = ptr(r.people), ptr(r.bots)
	}
	if r.country[0] != 0 {
		f.Country = string(r.country[:])
	}
	if r.asn != 0 {
		f.Network = networkName(r.asn)
	}
	return f
}

func flagWords(flags uint16) (words []string) {
	for i := range game.NumFlags {
		if flags&(1<<i) != 0 {
			words = append(words, game.FlagWord(i))
		}
	}
	return words
}

func (d *differ) farmOf(side int, r *row) string {
	if r.farm == 0 {
		return ""
	}
	return d.farms[side].farms[r.farm-1].id()
}

// challenges sets, in before and after, the questions for which a server began or
// stopped demanding a challenge.
func challenges(a, b *row, before, after *Facts) {
	changed := challengeKnown(a, b) & (a.open ^ b.open)
	for q, word := range questionWords {
		switch bit := questions(1 << q); {
		case changed&bit == 0:
		case a.open&bit != 0:
			before.Open, after.Challenged = append(before.Open, word), append(after.Challenged, word)
		default:
			before.Challenged, after.Open = append(before.Challenged, word), append(after.Open, word)
		}
	}
}

// maxShown is the maximum number of rules, or of mods, that a change shows of one
// night.
const maxShown = 200

// rules sets, in before and after, the rules that differ or that only one night
// has.
func (p *reporter) rules(a, b *row, before, after *Facts) {
	x := p.rulesOf(0, a.key)
	y := p.rulesOf(1, b.key)
	before.Rules, after.Rules = map[string]string{}, map[string]string{}
	for len(x) > 0 || len(y) > 0 {
		order := compareNames(x, y)
		same := order == 0 && bytes.Equal(x[0].value, y[0].value)
		if order <= 0 {
			before.show(x[0], same)
			x = x[1:]
		}
		if order >= 0 {
			after.show(y[0], same)
			y = y[1:]
		}
	}
}

// rule is a rule as in its record: two JSON strings, without their quotes.
type rule struct{ name, value []byte }

// rules are sorted by name, and have each name once.
type rules []rule

// show adds a rule to the facts, unless it is the same on both nights or the facts
// have maxShown rules.
func (f *Facts) show(one rule, same bool) {
	if !same && len(f.Rules) < maxShown {
		f.Rules[string(record.AppendUnescaped(nil, one.name))] = string(record.AppendUnescaped(nil, one.value))
	}
}

// compareNames compares the first names of two lists; an empty list comes last.
func compareNames(x, y rules) int {
	switch {
	case len(x) == 0:
		return 1
	case len(y) == 0:
		return -1
	}
	return bytes.Compare(x[0].name, y[0].name)
}

// rulesOf reads the rules of a server on one of the nights, except for volatile ones.
// They are valid until the next call for that night. If a name occurs more than once,
// its last value counts.
func (p *reporter) rulesOf(side int, key uint64) rules {
	all := p.ruleBuffers[side][:0]
	if object := p.have[side][key].rules; len(object) > 0 {
		var c record.Cursor
		for c.Reset(object); c.Next(); {
			if name := c.Key(); !isVolatile(name) {
				all = append(all, rule{name, c.Quoted()})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b rule) int { return bytes.Compare(a.name, b.name) })
	p.ruleBuffers[side] = all
	last := 0
	for i := range all {
		if i > 0 && !bytes.Equal(all[i].name, all[last].name) {
			last++
		}
		all[last] = all[i]
	}
	return all[:min(last+1, len(all))]
}

// mods sets before.Mods and after.Mods to the mods that only that night has.
func (p *reporter) mods(a, b *row, before, after *Facts) {
	x, y := modsOf(p.have[0][a.key].mods), modsOf(p.have[1][b.key].mods)
	only := func(list, other []string) (all []string) {
		for _, one := range list {
			if !slices.Contains(other, one) && len(all) < maxShown {
				all = append(all, one)
			}
		}
		return all
	}
	before.Mods, after.Mods = only(x, y), only(y, x)
}

// modsOf returns the mods in a JSON array, each in the form of modText.
func modsOf(list []byte) (all []string) {
	if len(list) == 0 {
		return nil
	}
	var c record.Cursor
	c.Reset(slices.Concat([]byte(`{"mods":`), list, []byte{'}'}))
	for c.Next() {
		for c.Enter(); c.Next(); {
			all = append(all, modText(&c))
		}
	}
	return all
}

// modText returns what is known of a mod: ID, name and hash, separated by spaces.
func modText(c *record.Cursor) string {
	var parts [3]string
	for c.Enter(); c.Next(); {
		switch string(c.Key()) {
		case "id":
			parts[0] = string(c.AppendText(nil))
		case "name":
			parts[1] = string(c.AppendText(nil))
		case "hash":
			parts[2] = string(c.AppendText(nil))
		}
	}
	return strings.Join(slices.DeleteFunc(parts[:], func(s string) bool { return s == "" }), " ")
}
