package game

import (
	"slices"

	"github.com/a2sscan/a2sscan/wire"
)

// table describes where a game hides values and how to read them. Each game has one,
// in a file of its own.
type table struct {
	id   string // stable: records carry it
	name string

	apps    []uint32 // application IDs
	folders []string // for GoldSource: see find
	// what the table rests on: documents, or recorded replies
	evidence string

	tags   tags     // in the keywords of INFO
	rules  []field  // by name
	series []series // texts in several rules
	info   func(d *decoder)
	finish func(d *decoder)

	vectors []vector // its tests
	byName  matcher  // of rules
	parts   someOf   // first bytes of series
}

// field is a tag or a rule that has a meaning.
type field struct {
	name   string
	read   action
	source string // "keywords." or "rules." and the name
	tag    string // "keywords." and the name: for a rule that is also a tag
}

// action takes the value of a field; source is where it came from.
type action func(d *decoder, v []byte, source string)

// tags describes how to read the keywords of INFO.
type tags struct {
	split    byte    // between two tags; 0: they are not read this way
	words    []field // whole tags
	prefixes []field // a tag's beginning; its value is the rest. The first that fits counts
	byName   matcher // of words
	begins   someOf  // first bytes of prefixes
}

// series is a text that a game sends in several rules: a prefix, a number, a
// suffix.
type series struct {
	prefix string
	suffix string
	digits int  // exactly so many; 0: any number
	after  byte // ends the number, where the total follows: n/m or n-m
	first  int  // number of the first part
	join   action
	source string
}

// The tables: by application, by folder, and all of them.
var (
	byApp    appTables
	byFolder = map[string]*table{}
	tables   []*table
)

// register adds a game's table. It panics if another table has the same ID,
// application or folder.
func register(t *table) *table {
	for _, other := range tables {
		if other.id == t.id {
			panic("game: two tables for " + t.id)
		}
	}
	tables = append(tables, t)
	for _, app := range t.apps {
		if !byApp.add(app, t) {
			panic("game: two tables for an application of " + t.id)
		}
	}
	for _, folder := range t.folders {
		if byFolder[folder] != nil {
			panic("game: two tables for folder " + folder)
		}
		byFolder[folder] = t
	}
	t.prepare()
	return t
}

// prepare fills in the sources and the matchers.
func (t *table) prepare() {
	t.rules = slices.Clone(t.rules) // games share some
	for i := range t.rules {
		t.rules[i].source = "rules." + t.rules[i].name
		t.rules[i].tag = "keywords." + t.rules[i].name
	}
	for _, list := range [][]field{t.tags.words, t.tags.prefixes} {
		for i := range list {
			list[i].source = "keywords." + list[i].name
		}
	}
	for i := range t.series {
		s := &t.series[i]
		s.source = "rules." + s.prefix + "N" + s.suffix
		t.parts.add(s.prefix)
	}
	for _, f := range t.tags.prefixes {
		t.tags.begins.add(f.name)
	}
	t.byName = newMatcher(t.rules)
	t.tags.byName = newMatcher(t.tags.words)
}

// find returns the table of the game that sent an INFO reply, nil if it has
// none. The application decides; but GoldSource games share applications and
// their obsolete reply names none, so there the folder comes first.
func find(in *wire.Info) *table {
	if in == nil {
		return nil
	}
	app, known := in.AppID()
	var t *table
	if known {
		t = byApp.find(app)
	}
	if in.Format != wire.FormatGoldSource && (t == nil || len(t.folders) == 0) {
		return t
	}
	if t != nil && len(t.folders) == 1 && t.folders[0] == string(in.Folder) {
		return t
	}
	if t = byFolder[string(in.Folder)]; t == nil {
		return otherGoldSource
	}
	return t
}

// appTables finds tables by application: open addressing, at most half full.
type appTables struct {
	n     int
	slots [256]struct {
		app   uint32
		table *table // nil: free
	}
}

// find returns the table of an application, nil if it has none.
func (a *appTables) find(app uint32) *table {
	for h := hashOfApp(app); ; h++ {
		if s := &a.slots[h]; s.table == nil || s.app == app {
			return s.table
		}
	}
}

// add adds a table. It reports false if the application has one.
func (a *appTables) add(app uint32, t *table) bool {
	if a.n++; a.n > len(a.slots)/2 {
		panic("game: too many applications")
	}
	h := hashOfApp(app)
	for ; a.slots[h].table != nil; h++ {
		if a.slots[h].app == app {
			return false
		}
	}
	a.slots[h].app, a.slots[h].table = app, t
	return true
}

// hashOfApp returns the slot in which the search for an application begins.
func hashOfApp(app uint32) uint8 { return uint8(app * 0x9E3779B1 >> 24) }

// someOf is a set of bytes that looks only at their lower six bits. So it may seem
// to contain a byte that it does not contain, but it still rejects most bytes.
type someOf uint64

// mayBegin reports whether the first byte of a name may be in the set.
func (s someOf) mayBegin(name []byte) bool { return len(name) > 0 && s>>(name[0]&63)&1 != 0 }

// add adds the first byte of a name; all bytes if it is empty.
func (s *someOf) add(name string) {
	if name == "" {
		*s = ^someOf(0)
		return
	}
	*s |= 1 << (name[0] & 63)
}

// matcher finds fields by name. Most rules of most servers mean nothing to us,
// so what counts is how fast a name is rejected: by its length and its last byte, and
// then by a hash of its length and three of its bytes, where a map would hash the
// whole name. No name is empty.
type matcher struct {
	fields  []field
	lengths someOf
	ends    someOf     // the last bytes
	slots   [256]uint8 // by hash: index of the first field, plus one
	next    []uint8    // of each field: index of the next with the same hash, plus one
}

func newMatcher(fields []field) matcher {
	if len(fields) > 254 {
		panic("game: too many fields in a table")
	}
	m := matcher{fields: fields, next: make([]uint8, len(fields))}
	for i, f := range fields {
		h := nameHash([]byte(f.name))
		m.next[i] = m.slots[h]
		m.slots[h] = uint8(i + 1)
		m.lengths |= 1 << (len(f.name) & 63)
		m.ends |= 1 << (f.name[len(f.name)-1] & 63)
	}
	return m
}

// rejects reports whether it is certain that no field has this name.
func (m *matcher) rejects(name []byte) bool {
	n := len(name)
	return n == 0 || m.lengths>>(n&63)&(m.ends>>(name[n-1]&63))&1 == 0
}

// nameHash returns the slot of a name.
func nameHash(name []byte) uint8 {
	n := len(name)
	return uint8(n*31 + int(name[0])*7 + int(name[n-1])*13 + int(name[n/2])*3)
}

// find returns the field called name, nil if there is none.
func (m *matcher) find(name []byte) *field {
	if i := m.index(name); i >= 0 {
		return &m.fields[i]
	}
	return nil
}

// index returns the index of the field called name, -1 if there is none.
func (m *matcher) index(name []byte) int {
	if m.rejects(name) {
		return -1
	}
	for i := int(m.slots[nameHash(name)]); i != 0; i = int(m.next[i-1]) {
		if m.fields[i-1].name == string(name) {
			return i - 1
		}
	}
	return -1
}
