// This file has the replies of hostile servers. To add a kind, begin in kind.go.

package fleet

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/wire"
)

const (
	stormReplies  = 2000 // number of replies to one question
	floodReplies  = 64   // number of fragments in answer to one question
	floodPayload  = 200  // payload bytes per fragment
	declaredHuge  = 1 << 31
	declaredSmall = 400 << 10 // the size that Bomb declares
	bombSize      = 8 << 20   // uncompressed size of the data in Bomb
	noiseSize     = 600
)

// misbehave answers q as a hostile server does; p.c already holds the content for q. It
// returns false, without an answer, if this kind misbehaves only in the content, or
// only in answers to other questions.
func (p *responder) misbehave(n *nature, q wire.Question) bool {
	info, rules := q == wire.QuestionInfo, q == wire.QuestionRules
	switch k := n.kind; {
	case k == Tiny: // send only the first bytes of a challenge reply
		p.msg = wire.AppendChallenge(p.msg[:0], wire.Challenge(p.junk.Next()))
		p.send(n, p.msg[:p.junk.Between(1, 8)])
	case k == OtherPort || k == OtherAddress:
		first := len(p.out.List)
		p.say(n, q)
		for i := range p.out.List[first:] {
			d := &p.out.List[first+i]
			if k == OtherAddress && p.m.addrs < 1<<24 {
				// The address is outside the fleet's network, but inside 127.0.0.0/8.
				d.From = n.addr ^ p.m.addrs<<16
			}
			d.Stray = d.From == n.addr
		}
	case k == Huge && info:
		p.sendEndless(n, loopback.MaxDatagram)
	case k == Unterminated && info:
		p.sendEndless(n, p.junk.Between(40, 1200))
	case k == ReplyStorm && info:
		p.say(n, q)
		p.out.Again(stormReplies - 1)
	case (k == FragmentsOfNone || k == FragmentsBeyond || k == FragmentsDisagree) && rules:
		msg := p.c.appendMessage(nil, wire.QuestionRules)
		f := wire.Fragment{Layout: n.layout, ID: p.nextID(n), Size: uint16(n.fragment)}
		total := uint8((len(msg) + n.fragment - 1) / n.fragment)
		for i := range total {
			switch k {
			case FragmentsOfNone:
				f.Number, f.Total = i, 0
			case FragmentsBeyond:
				f.Number, f.Total = total+i, total
			case FragmentsDisagree:
				f.Number, f.Total = i, total+i
			}
			f.Payload = msg[:min(n.fragment, len(msg))]
			msg = msg[len(f.Payload):]
			p.sendFragment(n, &f)
		}
	case k == DeclaresTwoGiB && rules:
		z := packedRules(packedSet(n))
		z.size = declaredHuge
		p.sendPacked(n, z)
	case k == WrongChecksum && rules:
		z := packedRules(packedSet(n))
		z.crc ^= 1
		p.sendPacked(n, z)
	case k == Bomb && rules:
		p.sendPacked(n, bomb())
	case k == Noise && rules:
		p.sendPacked(n, packed{p.noise(noiseSize), declaredSmall, uint32(p.junk.Next())})
	// Each fragment belongs to a different reply. Fragment 0 of a reply is never sent.
	case k == FragmentFlood && rules:
		p.msg = append(p.msg[:0], p.noise(floodPayload)...)
		for range floodReplies {
			p.sendFragment(n, &wire.Fragment{
				Layout: wire.LayoutSource, ID: uint32(p.junk.Next()) &^ wire.CompressedID,
				Total: 4, Number: uint8(p.junk.Between(1, 3)), Size: 1248, Payload: p.msg,
			})
		}
	default:
		return false
	}
	return true
}

// unendingProtocol is the protocol byte of the reply that sendEndless sends. It is the only
// complete field of that reply.
const unendingProtocol = 'A'

// sendEndless sends an INFO reply that ends inside the name, after size bytes in all.
func (p *responder) sendEndless(n *nature, size int) {
	p.msg = append(p.msg[:0], 0xFF, 0xFF, 0xFF, 0xFF, byte(wire.KindInfo), unendingProtocol)
	p.msg = append(p.msg, bytes.Repeat([]byte("A"), size-len(p.msg))...)
	p.send(n, p.msg)
}

// noise returns n bytes: the magic number of bzip2, and then random bytes.
func (p *responder) noise(n int) []byte {
	b := append(make([]byte, 0, n+8), "BZh91AY&SY"...)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, p.junk.Next())
	}
	return b[:n]
}

// bomb returns a compressed reply of bombSize zeros that declares only
// declaredSmall bytes.
var bomb = sync.OnceValue(func() packed {
	z := compress(make([]byte, bombSize), 9)
	z.size, z.crc = declaredSmall, 0
	return z
})
