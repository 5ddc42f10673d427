package record

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// MaxSize is the maximum length of a record in bytes, including its newline.
const MaxSize = 8 << 20

// Encoder appends records. The zero value is ready to use. An Encoder reuses its
// scratch memory: Append allocates only when dst or that memory has to grow. Only
// one goroutine at a time may use an Encoder.
type Encoder struct {
	// Key is the key of the hashes that replace the names of players, and the hash of the list
	// of players. If it is nil, names are written unchanged.
	Key *NameKey

	hasher *hasher
	keys   []field // the table; its rows point to scan, *of and *game
	scan   string
	of     *result
	game   *game.Game
	mod    game.Mod // the element of the list of mods that is being written
	points int      // number of calls of point

	have  presence // presence bits of the Result
	names []span   // hash table of the names of rules
	// inexact means that the object "rules" does not hold all rules exactly.
	inexact bool
	drops   int    // number of keys that are dropped from the record
	second  int64  // the time that was last written, as Unix time in seconds
	clock   []byte // that time as text, without the milliseconds

	master *jsontext.Decoder // reads from e.in
	in     bytes.Buffer
	copied []byte
	text   []byte
}

// Append appends the record of r to dst, like Encoder.Append. It allocates an Encoder each
// time, so a loop should use one Encoder of its own.
func Append(dst []byte, scan string, r *scanner.Result) []byte {
	var e Encoder
	return e.Append(dst, scan, r)
}

// Append appends the record of r to dst: one line of JSON with its newline, at most
// MaxSize bytes. JSONSchema describes its keys. The second argument, scan, is the name of
// the scan. If the name is empty, the record lacks the key "scan". The name must be short,
// because Append never drops it.
func (e *Encoder) Append(dst []byte, scan string, r *scanner.Result) []byte {
	start := len(dst)
	e.scan, e.inexact = scan, false
	if e.Key != nil && e.hasher == nil {
		e.hasher = newHasher(e.Key)
	}
	if r != e.of || r.Game != nil && r.Game != e.game { // a scan reuses one Result and one Game
		e.point(r)
	}
	if e.drops > 0 {
		for i := range e.keys {
			e.keys[i].dropped = false
		}
		e.drops = 0
	}
	dst = e.record(dst, r)
	if over := len(dst) - start - MaxSize; over > 0 {
		e.dropLongest(over, dst[:start])
	}
	if e.drops > 0 {
		dst = e.record(dst[:start], r)
	}
	return dst
}

// point makes a table that points to r and its Game. A caller who passes many Results would
// need many tables. So the third table points to copies, which then get the values of
// each Result.
func (e *Encoder) point(r *result) {
	switch e.points++; {
	case e.points < 3:
		e.of, e.game = r, r.Game
	case e.points == 3:
		e.of, e.game = new(result), new(game.Game)
	}
	if e.points <= 3 {
		e.drops = 0
		e.keys = written(newTable(&e.scan, e.of, cmp.Or(e.game, new(game.Game)), new(wire.Player), &e.mod))
	}
	if e.points >= 3 {
		*e.of = *r
		if r.Game != nil {
			*e.game = *r.Game
		}
	}
}

// written removes the rows whose keys the values of other rows write.
func written(fields []field) []field {
	fields = slices.DeleteFunc(fields, func(f field) bool { return f.beside })
	for i := range fields {
		fields[i].fields = written(fields[i].fields)
	}
	return fields
}

func (e *Encoder) record(dst []byte, r *result) []byte {
	e.have = present(r)
	dst = e.appendKeys(append(dst, '{'), e.keys)
	dst[len(dst)-1] = '}'
	return append(dst, '\n')
}

func (e *Encoder) drop(f *field) {
	f.dropped = true
	e.drops++
}

// dropLongest marks keys as dropped, the longest first, until the record fits. Its first
// argument, over, is the number of bytes by which the record is too long. If several values
// are equally long, dropLongest drops the last of these. To measure the values, it encodes
// them into the unused memory of dst.
func (e *Encoder) dropLongest(over int, dst []byte) {
	const note = 64 // longer than any note about a dropped key
	var size [maxKeys]int
	for i := range e.keys {
		if e.keys[i].long {
			size[i] = len(e.appendKeys(dst, e.keys[i:i+1])) - len(dst)
		}
	}
	for over > 0 {
		longest := 0
		for i := range size {
			if size[i] >= size[longest] {
				longest = i
			}
		}
		if size[longest] <= note {
			return // the name of the scan is too long
		}
		e.drop(&e.keys[longest])
		over -= size[longest] - note
		size[longest] = 0
	}
}

// start appends the key. It copies the complete array, because copying a constant number of
// bytes is fast.
func (f *field) start(dst []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(f.key))[:n+len(f.key)]
	*(*[len(f.key)]byte)(dst[n:]) = f.key
	return dst[:n+int(f.keyed)]
}

func (e *Encoder) omits(f *field) bool { return f.present&^e.have != 0 }

func (e *Encoder) appendKeys(dst []byte, fields []field) []byte {
	lacks := ^e.have &^ forZero
	for i := range fields {
		if f := &fields[i]; f.present&lacks == 0 && !f.dropped {
			dst = f.to.put(e, dst, f)
		}
	}
	return dst
}

// objectValue is an object that is not in a list.
type objectValue struct{}

func (objectValue) put(e *Encoder, dst []byte, f *field) []byte {
	start := len(dst)
	dst = e.appendKeys(append(f.start(dst), '{'), f.fields)
	if dst[len(dst)-1] == '{' && e.omits(f) {
		return dst[:start]
	}
	return end(dst, '}')
}
