package record

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
	partGame // with flags
	partRaw
	partGeo
	partMaster

	numParts
)

// parts is a set of them.
type parts uint16

// partNotes are the words that say that a part was left out.
var partNotes = [numParts]string{
	"tag.dropped",
	"message.dropped",
	"info.dropped",
	"players.dropped",
	"rules.dropped",
	"rules_raw.dropped",
	"game.dropped",
	"raw.dropped",
	"geo.dropped",
	"master.dropped",
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
	switch p {
	case partTag:
		if r.Tag != "" {
			return appendText(dst, `"tag":`, r.Tag)
		}
	case partMessage:
		if len(r.Message) > 0 {
			return appendText(dst, `"message":`, r.Message)
		}
	case partInfo:
		if r.HasInfo {
			return appendInfo(dst, &r.Info)
		}
	case partPlayers:
		if r.HasPlayers {
			return appendPlayers(dst, r)
		}
	case partRules:
		if r.HasRules {
			return e.appendRules(dst, r)
		}
	case partRulesRaw:
		if r.HasRules && e.inexact {
			return appendRulesRaw(dst, r.Rules)
		}
	case partGame:
		return appendMeaning(dst, r)
	case partRaw:
		return appendRaw(dst, r.Raw)
	case partGeo:
		if r.Geo != (scanner.Geo{}) {
			return appendGeo(dst, &r.Geo)
		}
	case partMaster:
		if r.Master != "" {
			return e.appendMaster(dst, r.Master)
		}
	}
	return dst
}

// appendMaster appends what a master said. Where that is not what it should
// be, it is among what is left out.
func (e *Encoder) appendMaster(dst []byte, master string) []byte {
	dst, ok := appendMaster(dst, master)
	if !ok {
		e.left |= 1 << partMaster
	}
	return dst
}

// leaveOut chooses the parts without which a record that is over bytes too
// long is short enough: the longest first, so that as many as can stay.
func (e *Encoder) leaveOut(over int) {
	const note = 64 // more than what tells of it
	for over > 0 {
		p := e.longest()
		if e.size[p] <= note {
			return // it is the scan's name
		}
		e.left |= 1 << p
		over -= e.size[p] - note
		e.size[p] = 0
	}
}

// longest returns the longest part; of two the one that stands later.
func (e *Encoder) longest() (longest int) {
	for p, size := range e.size {
		if size >= e.size[longest] {
			longest = p
		}
	}
	return longest
}
