package record

import (
	"bytes"
	"encoding/base64"
	"hash/maphash"
	"math/bits"

	"github.com/a2sscan/a2sscan/wire"
)

// A listValue is a list. The Reader calls add when it has read an element.
type listValue interface{ add(r *Reader) }

// A mapValue is an object whose values are strings. The Reader calls pair for each member.
type mapValue interface {
	pair(r *Reader, name, value []byte)
}

type playersValue result

func (v *playersValue) put(e *Encoder, dst []byte, f *field) []byte {
	dst = append(f.start(dst), '[')
	for i := range v.Players {
		dst = e.appendPlayer(dst, &v.Players[i])
	}
	dst = end(dst, ']')
	if v.PlayersAnnounced >= 0 {
		dst = append(dst, `"players_announced":`...)
		dst = append(appendNumber(dst, uint64(v.PlayersAnnounced)), ',')
	}
	return dst
}

func (v *playersValue) add(r *Reader) {
	v.Players = append(v.Players, r.player)
	r.player = wire.Player{}
}

func (e *Encoder) appendPlayer(dst []byte, p *wire.Player) []byte {
	if p.Index == 0 { // most servers send index 0 for every player (EC-77)
		dst = append(dst, `{"index":0,`...)
	} else {
		dst = append(appendNumber(append(dst, `{"index":`...), uint64(p.Index)), ',')
	}
	// An empty name is not hashed: it identifies nobody, and it helps to judge the list.
	if e.hasher == nil || len(p.Name) == 0 {
		valid := false
		if dst, valid = appendString(append(dst, `"name":`...), p.Name); !valid {
			dst = appendHex(append(dst, `,"name_hex":`...), p.Name)
		}
		dst = append(dst, ',')
	} else {
		dst = append(appendHash(append(dst, `"name_hash":"`...), e.hasher.hash(hashOfName, p.Name)), '"', ',')
	}
	dst = appendSigned(append(dst, `"score":`...), int64(p.Score))
	dst = appendFloat(append(dst, `,"duration":`...), p.Duration)
	if p.Ship {
		dst = appendSigned(append(dst, `,"deaths":`...), int64(p.Deaths))
		dst = appendSigned(append(dst, `,"money":`...), int64(p.Money))
	}
	return append(dst, '}', ',')
}

// rulesValue is the object of rules, and the number of rules that the answer announced. The
// object has the first rule of each name.
type rulesValue result

// put sets e.inexact if the object does not hold all rules exactly.
func (v *rulesValue) put(e *Encoder, dst []byte, f *field) []byte {
	dst = append(f.start(dst), '{')
	start, exact := len(dst), false
	if v.RulesDistinct {
		dst, exact = appendPairs(dst, v.Rules)
	}
	if e.inexact = false; !exact {
		dst = e.appendFirst(dst[:start], v.Rules)
	}
	dst = end(dst, '}')
	if v.RulesAnnounced >= 0 {
		dst = append(dst, `"rules_announced":`...)
		dst = append(appendNumber(dst, uint64(v.RulesAnnounced)), ',')
	}
	return dst
}

func (v *rulesValue) pair(_ *Reader, name, value []byte) {
	v.Rules = append(v.Rules, wire.Rule{Name: name, Value: value})
}

// appendPairs appends rules that all have different names. It stops and returns
// false at a name or value that is not UTF-8.
func appendPairs(dst []byte, rules []wire.Rule) (_ []byte, exact bool) {
	for i := range rules {
		var named, valued bool
		dst, named = appendString(dst, rules[i].Name)
		dst, valued = appendString(append(dst, ':'), rules[i].Value)
		if dst = append(dst, ','); !named || !valued {
			return dst, false
		}
	}
	return dst, true
}

// A span is the range of a rule's name in the text of a record, or zero.
type span struct{ from, to int }

// seed is known to no server, so no server can choose names whose hashes collide.
var seed = maphash.MakeSeed()

// appendFirst appends the first rule of each name.
//
// It compares names as they are written in the record: two ill-formed names may
// become the same string there, and JSON parsers disagree about an object with a
// repeated key. A hash table with open addressing, at most half full, finds equal names.
func (e *Encoder) appendFirst(dst []byte, rules []wire.Rule) []byte {
	size := 1 << bits.Len(uint(2*len(rules)))
	if size > len(e.names) {
		e.names = make([]span, size)
	}
	names := e.names[:size]
	clear(names)
	for i := range rules {
		rule := &rules[i]
		start := len(dst)
		var named, valued bool
		dst, named = appendString(dst, rule.Name)
		at := maphash.Bytes(seed, dst[start:]) % uint64(size)
		for names[at].to > 0 && !bytes.Equal(dst[names[at].from:names[at].to], dst[start:]) {
			at = (at + 1) % uint64(size)
		}
		if names[at].to > 0 {
			dst = dst[:start]
			e.inexact = true
			continue
		}
		names[at] = span{start, len(dst)}
		dst = append(dst, ':')
		dst, valued = appendString(dst, rule.Value)
		dst = append(dst, ',')
		e.inexact = e.inexact || !named || !valued
	}
	return dst
}

// rawRulesValue is the name and value of every rule in hex, in the order of the answer. The
// key is absent if the object of rules holds all of them exactly.
type rawRulesValue result

func (v *rawRulesValue) put(e *Encoder, dst []byte, f *field) []byte {
	if !e.inexact {
		return dst
	}
	dst = append(f.start(dst), '[')
	for i := range v.Rules {
		dst = appendHex(append(dst, '['), v.Rules[i].Name)
		dst = appendHex(append(dst, ','), v.Rules[i].Value)
		dst = append(dst, ']', ',')
	}
	return end(dst, ']')
}

func (*rawRulesValue) set(r *Reader, _ *field, s []byte) bool {
	r.pair = append(r.pair, s)
	return true
}

func (*rawRulesValue) add(r *Reader) {
	if len(r.pair) >= 2 {
		r.exact = append(r.exact, wire.Rule{Name: r.pair[0], Value: r.pair[1]})
	}
	r.pair = r.pair[:0]
}

type rawValue [][]byte

func (v *rawValue) put(_ *Encoder, dst []byte, f *field) []byte {
	if len(*v) == 0 {
		return dst
	}
	dst = append(f.start(dst), '[')
	for _, datagram := range *v {
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), datagram)
		dst = append(dst, '"', ',')
	}
	return end(dst, ']')
}

func (v *rawValue) set(_ *Reader, _ *field, s []byte) bool {
	*v = append(*v, s)
	return true
}
