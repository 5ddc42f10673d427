package record

import "github.com/a2sscan/a2sscan/scanner"

// A part is a piece of a record that may be long, and that Append drops if the
// record would be too long.
const (
	partTag = iota
	partMessage
	partInfo // this part and those after it are neighbours in a record
	partPlayers
	partRules
	partRulesRaw
	partGame // with flags
	partRaw
	partGeo
	partMaster

	numParts
)

// parts is a set of parts, one bit each.
type parts uint16

// partNotes are the notes about dropped parts.
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

// part appends part p of r's record, unless p is in e.dropped, and stores its
// length in e.size. r must have the part.
func (e *Encoder) part(dst []byte, p int, r *scanner.Result) []byte {
	start := len(dst)
	if e.dropped&(1<<p) == 0 {
		dst = e.appendPart(dst, p, r)
	}
	e.size[p] = len(dst) - start
	return dst
}

// appendPart appends a part, which r must have.
func (e *Encoder) appendPart(dst []byte, p int, r *scanner.Result) []byte {
	switch p {
	case partTag:
		return appendText(dst, `"tag":`, r.Tag)
	case partMessage:
		return appendText(dst, `"message":`, r.Message)
	case partInfo:
		return appendInfo(dst, &r.Info)
	case partPlayers:
		return e.appendPlayers(dst, r)
	case partRules:
		return e.appendRules(dst, r)
	case partRulesRaw:
		return appendRulesRaw(dst, r.Rules)
	case partGame:
		return appendMeaning(dst, r)
	case partRaw:
		return appendRaw(dst, r.Raw)
	case partGeo:
		return appendGeo(dst, &r.Geo)
	}
	return e.appendMaster(dst, r.Master)
}

// appendLists appends the answers and all other parts that follow them.
func (e *Encoder) appendLists(dst []byte, r *scanner.Result) []byte {
	if r.HasInfo {
		dst = e.part(dst, partInfo, r)
	}
	if r.HasPlayers {
		dst = e.part(dst, partPlayers, r)
	}
	if r.HasRules {
		dst = e.part(dst, partRules, r)
		if e.inexact {
			dst = e.part(dst, partRulesRaw, r)
		}
	}
	if r.Game != nil || r.Flags != 0 {
		dst = e.part(dst, partGame, r)
	}
	if len(r.Raw) > 0 {
		dst = e.part(dst, partRaw, r)
	}
	if r.Geo != (scanner.Geo{}) {
		dst = e.part(dst, partGeo, r)
	}
	if r.Master != "" {
		dst = e.part(dst, partMaster, r)
	}
	return dst
}

// appendMaster appends a master's data about the server. If the data is not a JSON
// object, it marks the part as dropped instead.
func (e *Encoder) appendMaster(dst []byte, master string) []byte {
	dst, ok := appendMaster(dst, master)
	if !ok {
		e.dropped |= 1 << partMaster
	}
	return dst
}

// dropLongest marks parts as dropped, the longest first, until a record that is too
// long by over bytes fits.
func (e *Encoder) dropLongest(over int) {
	const note = 64 // longer than any note about a dropped part
	for over > 0 {
		p := e.longest()
		if e.size[p] <= note {
			return // the name of the scan is too long
		}
		e.dropped |= 1 << p
		over -= e.size[p] - note
		e.size[p] = 0
	}
}

// longest returns the longest part; if several are equally long, the last of them.
func (e *Encoder) longest() (longest int) {
	for p, size := range e.size {
		if size >= e.size[longest] {
			longest = p
		}
	}
	return longest
}
