package sink

import "github.com/a2sscan/a2sscan/scanner"

// A part is a piece of a record that may be as long as a server likes, and
// that is left out where the record would be too long.
const (
	partTag = iota
	partMessage
	partInfo // this and the parts after it are neighbours in a record
	partPlayers
	partRules
	partRulesRaw
	partRaw

	numParts
)

// parts is a set of them.
type parts uint8

// partNotes are the words that say that a part was left out.
var partNotes = [numParts]string{
	"tag.dropped",
	"message.dropped",
	"info.dropped",
	"players.dropped",
	"rules.dropped",
	"rules_raw.dropped",
	"raw.dropped",
}

// part appends one part of r's record, unless it is left out, and remembers
// how long it was.
func (e *Encoder) part(dst []byte, p int, r *scanner.Result) []byte {
	start := len(dst)
	if e.left&(1<<p) == 0 {
		dst = e.appendPart(dst, p, r)
	}
	e.size[p] = len(dst) - start
	return dst
}

func (e *Encoder) appendPart(dst []byte, p int, r *scanner.Result) []byte {
	switch {
	case p == partTag && r.Tag != "":
		return appendText(dst, `"tag":`, r.Tag)
	case p == partMessage && len(r.Message) > 0:
		return appendText(dst, `"message":`, r.Message)
	case p == partInfo && r.HasInfo:
		return appendInfo(dst, &r.Info)
	case p == partPlayers && r.HasPlayers:
		return appendPlayers(dst, r)
	case p == partRules && r.HasRules:
		return e.appendRules(dst, r)
	case p == partRulesRaw && r.HasRules && e.inexact:
		return appendRulesRaw(dst, r.Rules)
	case p == partRaw:
		return appendRaw(dst, r.Raw)
	}
	return dst
}

// leaveOut chooses the parts without which a record that is over bytes too
// long is short enough: from the last one of a record to the first, so that
// what can be made anew from other keys goes before what can't. A part is
// worth it only if it is longer than the note that tells of it.
func (e *Encoder) leaveOut(over int) {
	const note = 64
	for p := numParts - 1; p >= 0 && over > 0; p-- {
		if e.size[p] > note {
			e.left |= 1 << p
			over -= e.size[p] - note
		}
	}
}
