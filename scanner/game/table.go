package game

import (
	"slices"

	"github.com/a2sscan/a2sscan/wire"
)

// table describes where the replies of a game have values, and how to read the values. Each
// game has a table, except that CS:GO shares the table of Counter-Strike 2.
type table struct {
	id   string // stable, because records contain it
	name string
	apps []uint32 // application IDs

	folder   string // folder of a GoldSource game (see func find); else empty
	evidence string // the documents or recorded replies on which the table is based
	// A recorded reply of this game shows that INFO's players include bots (people.go).
	countsBots bool

	split byte    // separator of the tags in the keywords of INFO; 0 if they have no tags
	words []field // tags that consist of their name alone
	// The beginnings of tags; the rest of the tag is the value. The first match is used.
	prefixes []field

	rules  []field  // rules that Decode reads
	series []series // values that are split over several rules
	info   func(d *decoder)
	finish func(d *decoder)

	byRule, byWord matcher // find rules and words by name
}

// field is a tag or rule that Decode reads.
type field struct {
	name   string
	read   action
	source string // "keywords." or "rules." and the name
	tag    string // "keywords." and the name, for a rule that may also come as a tag
}

// action reads the value v of a field into d; source is where v came from.
type action func(d *decoder, v []byte, source string)

// series is a value that a game splits over several rules. The name of each rule is
// a prefix, a number and a suffix.
type series struct {
	prefix string
	suffix string
	digits int // how many digits the number has; 0: any number of digits
	// The separator between number and total, as in n/m or n-m; 0 means that there is
	// no total.
	after  byte
	first  int // number of the first part
	join   action
	source string
}

// All tables, and the tables by folder and by application ID. For so few
// applications, a binary search takes half the time of a lookup in a map.
var (
	tables   []*table
	byFolder = map[string]*table{}
	apps     []uint32 // sorted
	ofApps   []*table // the table of each application in apps
)

// register adds the table of a game with these application IDs, and fills in the
// sources and the matchers of its fields.
func register(id, name string, ids []uint32, t *table) *table {
	t.id, t.name, t.apps = id, name, ids
	tables = append(tables, t)
	for _, app := range ids {
		i, _ := slices.BinarySearch(apps, app)
		apps, ofApps = slices.Insert(apps, i, app), slices.Insert(ofApps, i, t)
	}
	if t.folder != "" {
		byFolder[t.folder] = t
	}
	t.rules = slices.Clone(t.rules) // games may share rules
	for i := range t.rules {
		t.rules[i].source = "rules." + t.rules[i].name
		t.rules[i].tag = "keywords." + t.rules[i].name
	}
	for _, list := range [][]field{t.words, t.prefixes} {
		for i := range list {
			list[i].source = "keywords." + list[i].name
		}
	}
	for i := range t.series {
		s := &t.series[i]
		s.source = "rules." + s.prefix + "N" + s.suffix
	}
	t.byRule = newMatcher(t.rules)
	t.byWord = newMatcher(t.words)
	return t
}

// find returns the table of the game that sent an INFO reply, or nil if there is
// none. The application ID decides, except for GoldSource games: they share
// application IDs, and their obsolete reply has none, so the folder decides.
func find(in *wire.Info) *table {
	var t *table
	if app, known := in.AppID(); known {
		if i, ok := slices.BinarySearch(apps, app); ok {
			t = ofApps[i]
		}
	}
	if t == nil && in.Format != wire.FormatGoldSource || t != nil && (t.folder == "" || t.folder == string(in.Folder)) {
		return t
	}
	if t = byFolder[string(in.Folder)]; t == nil {
		return otherGoldSource
	}
	return t
}

// matcher finds the field that a rule or tag belongs to, by the name of the rule or tag.
// Most rules belong to no field, so what matters is how fast a name is rejected: by its
// length and its last byte. No field has an empty name.
type matcher struct {
	fields []field
	// Bit n is set if a name has the length n, or the last byte n, modulo 64.
	lengths, ends uint64
}

func newMatcher(fields []field) matcher {
	m := matcher{fields: fields}
	for _, f := range fields {
		m.lengths |= 1 << (len(f.name) & 63)
		m.ends |= 1 << (f.name[len(f.name)-1] & 63)
	}
	return m
}

// find returns the field with this name, or nil.
func (m *matcher) find(name []byte) *field {
	n := len(name)
	if n == 0 || m.lengths>>(n&63)&(m.ends>>(name[n-1]&63))&1 == 0 {
		return nil
	}
	for i := range m.fields {
		if f := &m.fields[i]; f.name == string(name) {
			return f
		}
	}
	return nil
}
