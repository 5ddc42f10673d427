package record

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"math/bits"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// MaxSize is the maximum length of a record in bytes, including its newline.
const MaxSize = 8 << 20

// Encoder appends records. The zero value is ready to use. An Encoder reuses its
// scratch memory: Append allocates only when dst or that memory has to grow. Only
// one goroutine at a time may use an Encoder.
type Encoder struct {
	// Names replaces the names of players with hashes, and makes the hash of the list of
	// players a keyed hash. If it is nil, names are written unchanged.
	Names *NameHasher

	members []member // their values point into *e.of and *e.game
	of      *result
	game    *game.Game

	scan  string
	have  presence // presence bits of the Result
	names []span   // hash table of the names of rules
	// inexact means that the object "rules" does not hold all rules exactly.
	inexact bool
	// dropped has the bits of the parts that are dropped from the record.
	dropped uint16
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
	e.scan, e.inexact, e.dropped = scan, false, 0
	if r != e.of || r.Game != nil && r.Game != e.game { // a scan reuses one Result and one Game
		if e.members == nil {
			e.members = membersOf(schemaKeys)
		}
		e.of, e.game = r, r.Game
		point(e.members, r)
	}
	raw := 0
	for _, datagram := range r.Raw {
		raw += base64.StdEncoding.EncodedLen(len(datagram)) + len(`"",`)
	}
	if raw > MaxSize {
		e.dropped |= partOf["raw"]
	}
	if len(r.Master) > MaxSize {
		e.dropped |= partOf["master"]
	}
	before := e.dropped
	dst = e.record(dst, r)
	if over := len(dst) - start - MaxSize; over > 0 {
		e.dropLongest(over, dst[:start])
	}
	if e.dropped != before {
		dst = e.record(dst[:start], r)
	}
	return dst
}

func (e *Encoder) record(dst []byte, r *scanner.Result) []byte {
	e.have = present(r)
	dst = e.appendMembers(append(dst, '{'), e.members)
	dst[len(dst)-1] = '}'
	return append(dst, '\n')
}

// dropLongest marks parts as dropped, the longest first, until the record fits. Its first
// argument, over, is the number of bytes by which the record is too long. If several parts
// are equally long, dropLongest drops the last of these. To measure the parts, it encodes
// them into the unused memory of dst.
func (e *Encoder) dropLongest(over int, dst []byte) {
	const note = 64 // longer than any note about a dropped part
	var size [len(droppedNotes)]int
	for i := range e.members {
		if part := e.members[i].parts; part != 0 {
			size[bits.TrailingZeros16(part)] += len(e.appendMembers(dst, e.members[i:i+1])) - len(dst)
		}
	}
	for over > 0 {
		longest := 0
		for p := range size {
			if size[p] >= size[longest] {
				longest = p
			}
		}
		if size[longest] <= note {
			return // the name of the scan is too long
		}
		e.dropped |= 1 << longest
		over -= size[longest] - note
		size[longest] = 0
	}
}

// A member is a key with a pointer to its value in a Result. An Encoder sets the pointers
// again only for another Result or another Game. A scan reuses both, so Append has little to
// do for a key.
type member struct {
	value value
	need  presence // bits that the Result must have
	row   *field
	// key begins with the name in quotes, and a colon. member.start copies the complete
	// array, because copying a constant number of bytes is fast.
	key   [24]byte
	keyed uint8  // number of bytes of key that are used
	parts uint16 // the member is appended only if none of these parts is dropped
}

func (m *member) start(dst []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(m.key))[:n+len(m.key)]
	*(*[len(m.key)]byte)(dst[n:]) = m.key
	return dst[:n+int(m.keyed)]
}

func (e *Encoder) omits(m *member) bool { return m.need&^e.have != 0 }

// partOf has a bit for each key that the Encoder may drop. If the bit is 1<<i,
// droppedNotes[i] is the note that says that the key was dropped.
var (
	partOf       = map[string]uint16{}
	droppedNotes [16]string
)

func init() {
	for i := range schemaKeys {
		if f := &schemaKeys[i]; f.long {
			bit := len(partOf)
			partOf[f.name], droppedNotes[bit] = 1<<bit, f.name+".dropped"
		}
	}
}

// membersOf returns the members for rows of the table. Their pointers to values are not
// set before a call of point.
func membersOf(rows []field) (ms []member) {
	for i := range rows {
		f := &rows[i]
		if f.beside {
			continue
		}
		m := member{row: f, need: cmp.Or(f.present, nonzero), parts: partOf[f.with]}
		if f.long {
			m.parts |= partOf[f.name]
		}
		m.keyed = uint8(copy(m.key[:], f.key))
		if f.is == typeObject && f.lists == 0 {
			m.value = &objectValue{members: membersOf(f.fields)}
		}
		ms = append(ms, m)
	}
	return ms
}

// point(ms, r) makes the members in ms point to the values of r.
func point(ms []member, r *result) {
	for i := range ms {
		m := &ms[i]
		o, ok := m.value.(*objectValue)
		if !ok {
			m.value = m.row.at(r)
			continue
		}
		if r.Game != nil || m.row.present != hasGame {
			point(o.members, r)
		}
	}
}

func (e *Encoder) appendMembers(dst []byte, ms []member) []byte {
	for i := range ms {
		if m := &ms[i]; m.need&^e.have&^forZero == 0 && m.parts&e.dropped == 0 {
			dst = m.value.put(e, dst, m)
		}
	}
	return dst
}

type objectValue struct{ members []member }

func (v *objectValue) put(e *Encoder, dst []byte, m *member) []byte {
	start := len(dst)
	dst = e.appendMembers(append(m.start(dst), '{'), v.members)
	if dst[len(dst)-1] == '{' && e.omits(m) {
		return dst[:start]
	}
	return end(dst, '}')
}
