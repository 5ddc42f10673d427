package record

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/a2sscan/a2sscan/wire"
)

// putPlayers appends the players.
func (e *Encoder) putPlayers(dst []byte, r *result) []byte {
	if !r.HasPlayers {
		return dst
	}
	dst = append(dst, `"players":[`...)
	for i := range r.Players {
		dst = e.appendPlayer(dst, &r.Players[i])
	}
	return end(dst, ']')
}

func (e *Encoder) appendPlayer(dst []byte, p *wire.Player) []byte {
	if p.Index == 0 && e.Names == nil { // most servers send index 0 for everyone (EC-77)
		dst = appendUsualName(dst, p.Name)
	} else {
		dst = appendUint(dst, `{"index":`, uint64(p.Index))
		dst = e.appendName(dst, p.Name)
		dst = append(dst, `"score":`...)
	}
	dst = appendSigned(dst, int64(p.Score))
	dst = append(dst, `,"duration":`...)
	dst = appendFloat(dst, p.Duration)
	if p.Ship {
		dst = append(dst, ',')
		dst = appendInt(dst, `"deaths":`, int64(p.Deaths))
		dst = append(dst, `"money":`...)
		dst = appendSigned(dst, int64(p.Money))
	}
	return append(dst, '}', ',')
}

// appendUsualName appends the beginning of a player with index 0, up to the key of
// the score. It grows dst only once if the name needs no escapes.
func appendUsualName(dst, name []byte) []byte {
	const head, tail = `{"index":0,"name":"`, `","score":`
	old, n := len(dst), len(name)
	size := len(head) + n + len(tail)
	dst = slices.Grow(dst, size)[:old+size]
	d := dst[old:]
	copy(d, head)
	if copyPlain(d[len(head):len(head)+n], name) {
		copy(d[len(head)+n:], tail)
		return dst
	}
	as := clean(name)
	if as == n {
		copy(d[len(head)+n:], tail)
		return dst
	}
	dst = appendRest(dst[:old+len(head)+as], `"name":`, name, as)
	return append(dst, `"score":`...)
}

// putRules appends the rules as an object, with the first rule of each name. It sets
// e.inexact if the object does not hold all rules exactly.
func (e *Encoder) putRules(dst []byte, r *result) []byte {
	if !r.HasRules {
		return dst
	}
	start := len(dst)
	dst = append(dst, `"rules":{`...)
	exact := false
	if r.RulesDistinct {
		dst, exact = appendPairs(dst, r.Rules)
	}
	if e.inexact = false; !exact {
		dst = e.appendFirst(dst[:start+len(`"rules":{`)], r.Rules)
	}
	return end(dst, '}')
}

// appendPairs appends rules that all have different names. It stops and reports
// false if a name or value is not UTF-8.
func appendPairs(dst []byte, rules []wire.Rule) (_ []byte, exact bool) {
	for i := range rules {
		name, value := rules[i].Name, rules[i].Value
		n, v := len(name), len(value)
		old, size := len(dst), n+v+len(`"":"",`)
		dst = slices.Grow(dst, size)
		d := dst[old : old+size]
		named := true
		if copyPlain(d[1:1+n], name) {
			d[0], d[n+1], d[n+2] = '"', '"', ':'
			if copyPlain(d[4+n:4+n+v], value) {
				d[n+3], d[n+v+4], d[n+v+5] = '"', '"', ','
				dst = dst[:old+size]
				continue
			}
			dst = dst[:old+n+3]
		} else {
			dst, named = appendString(dst, name)
			dst = append(dst, ':')
		}
		var valued bool
		if dst, valued = appendString(dst, value); !named || !valued {
			return dst, false
		}
		dst = append(dst, ',')
	}
	return dst, true
}

// appendFirst appends the first rule of each name.
//
// It compares names as they are written in the record: two ill-formed names may
// become the same string there, and JSON parsers disagree about an object with a
// repeated key.
func (e *Encoder) appendFirst(dst []byte, rules []wire.Rule) []byte {
	slots := e.names.reset(len(rules))
	base := len(dst)
	for i := range rules {
		rule := &rules[i]
		start := len(dst)
		var named, valued bool
		dst, named = appendString(dst, rule.Name)
		if !add(slots, dst[base:], start-base) {
			dst = dst[:start]
			e.inexact = true
			continue
		}
		dst = append(dst, ':')
		dst, valued = appendString(dst, rule.Value)
		dst = append(dst, ',')
		e.inexact = e.inexact || !named || !valued
	}
	return dst
}

// putRulesRaw appends the name and value of every rule in hex, in the order of the
// answer.
func (e *Encoder) putRulesRaw(dst []byte, r *result) []byte {
	if !e.inexact {
		return dst
	}
	rules := r.Rules
	dst = append(dst, `"rules_raw":[`...)
	for i := range rules {
		dst = append(dst, '[')
		dst = appendHex(dst, rules[i].Name)
		dst = append(dst, ',')
		dst = appendHex(dst, rules[i].Value)
		dst = append(dst, ']', ',')
	}
	return end(dst, ']')
}

// table is a hash table of the rule names of one record, with open addressing and
// at most half full. No server knows the seed of the hash, so no server can choose
// names that collide.
type table struct {
	small [512]slot // enough for honest servers, and not on the heap
	large []slot    // for other servers; reused
}

// slot is the range of a name in the text that add gets, including the quotes; zero
// if the slot is free.
type slot struct{ start, end uint32 }

var seed = maphash.MakeSeed()

// reset returns an empty table with room for n names.
func (t *table) reset(n int) []slot {
	size := 1 << bits.Len(uint(max(2*n, 1)-1))
	slots := t.small[:]
	if size > len(slots) {
		if size > len(t.large) {
			t.large = make([]slot, size)
		}
		slots = t.large
	}
	slots = slots[:size]
	clear(slots)
	return slots
}

// add enters the name text[start:]. It reports false if the table already has that
// name.
func add(slots []slot, text []byte, start int) bool {
	name := text[start:]
	mask := uint64(len(slots) - 1)
	for i := maphash.Bytes(seed, name) & mask; ; i = (i + 1) & mask {
		s := &slots[i]
		if s.end == 0 {
			*s = slot{uint32(start), uint32(len(text))}
			return true
		}
		if bytes.Equal(text[s.start:s.end], name) {
			return false
		}
	}
}
