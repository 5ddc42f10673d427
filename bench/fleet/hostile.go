// This file has the replies of hostile servers. To add a kind, begin in kind.go.

package fleet

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/dsnet/compress/bzip2"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/wire"
)

// The sizes of what hostile servers send.
const (
	stormReplies  = 2000 // to one question
	floodReplies  = 64   // fragments to one question
	floodPayload  = 200  // bytes of payload in each
	declaredHuge  = 1 << 31
	declaredSmall = 400 << 10 // the size that Bomb declares
	bombSize      = 8 << 20   // the size of the data in Bomb
	noiseSize     = 600
)

// misbehave answers q as a hostile server does; the content for q is already filled
// in. It returns false if the malice of the kind is in that content, or in the
// answer to another question.
func (p *responder) misbehave(n *nature, q wire.Question) bool {
	switch n.kind {
	case Tiny:
		p.sendTiny(n)
	case OtherPort, OtherAddress:
		first := len(p.out.List)
		p.say(n, q)
		p.m.disguise(n, p.out.List[first:])
	case Huge, Unterminated, ReplyStorm:
		return q == wire.QuestionInfo && p.hostileInfo(n)
	default:
		return q == wire.QuestionRules && p.hostileRules(n)
	}
	return true
}

// hostileInfo implements misbehave for INFO.
func (p *responder) hostileInfo(n *nature) bool {
	switch n.kind {
	case Huge:
		p.msg = appendEndless(p.msg[:0], unendingProtocol, loopback.MaxDatagram)
		p.send(n, p.msg)
	case Unterminated:
		p.msg = appendEndless(p.msg[:0], unendingProtocol, p.junk.Between(40, 1200))
		p.send(n, p.msg)
	case ReplyStorm:
		p.say(n, wire.QuestionInfo)
		p.out.Again(stormReplies - 1)
	}
	return true
}

// unendingProtocol is the protocol of an INFO without an end, and its only complete
// field.
const unendingProtocol = 'A'

// appendEndless appends an INFO of n bytes that ends inside the name.
func appendEndless(dst []byte, protocol byte, n int) []byte {
	dst = append(dst, 0xFF, 0xFF, 0xFF, 0xFF, byte(wire.KindInfo), protocol)
	return appendLong(dst, n-6)
}

// hostileRules implements misbehave for RULES.
func (p *responder) hostileRules(n *nature) bool {
	switch n.kind {
	case FragmentsOfNone, FragmentsBeyond, FragmentsDisagree:
		p.msg = p.c.appendMessage(p.msg[:0], wire.QuestionRules)
		p.sendSplitWrongly(n, p.msg)
	case DeclaresTwoGiB:
		z := packedRules(packedSet(n))
		z.size = declaredHuge
		p.sendPacked(n, z)
	case WrongChecksum:
		z := packedRules(packedSet(n))
		z.crc ^= 1
		p.sendPacked(n, z)
	case Bomb:
		p.sendPacked(n, bomb())
	case Noise:
		p.sendPacked(n, packed{p.noise(noiseSize), declaredSmall, uint32(p.junk.Next())})
	case FragmentFlood:
		p.floodFragments(n)
	default:
		return false
	}
	return true
}

// sendTiny sends the first 1 to 8 bytes of a challenge.
func (p *responder) sendTiny(n *nature) {
	p.msg = wire.AppendChallenge(p.msg[:0], wire.Challenge(p.junk.Next()))
	p.send(n, p.msg[:p.junk.Between(1, 8)])
}

// sendSplitWrongly sends msg in fragments whose totals or numbers are impossible.
func (p *responder) sendSplitWrongly(n *nature, msg []byte) {
	f := wire.Fragment{Layout: n.layout, ID: p.nextID(n), Size: uint16(n.fragment)}
	total := uint8((len(msg) + n.fragment - 1) / n.fragment)
	for i := range total {
		switch n.kind {
		case FragmentsOfNone:
			f.Number, f.Total = i, 0
		case FragmentsBeyond:
			f.Number, f.Total = total+i, total
		case FragmentsDisagree:
			f.Number, f.Total = i, total+i
		}
		at := int(i) * n.fragment
		f.Payload = msg[at:min(at+n.fragment, len(msg))]
		p.sendFragment(n, &f)
	}
}

// floodFragments sends fragments that each belong to a different reply. The first
// fragment of each reply is missing.
func (p *responder) floodFragments(n *nature) {
	p.msg = append(p.msg[:0], p.noise(floodPayload)...)
	for range floodReplies {
		p.sendFragment(n, &wire.Fragment{
			Layout: wire.LayoutSource, ID: uint32(p.junk.Next()) &^ wire.CompressedID,
			Total: 4, Number: uint8(p.junk.Between(1, 3)), Size: 1248, Payload: p.msg,
		})
	}
}

// noise returns n bytes: the magic of bzip2, and random bytes.
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
	var b bytes.Buffer
	w, err := bzip2.NewWriter(&b, &bzip2.WriterConfig{Level: 9})
	if err == nil {
		_, err = io.CopyN(w, zeros{}, bombSize)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("fleet: bzip2 into memory: " + err.Error()) // it can't fail
	}
	return packed{data: b.Bytes(), size: declaredSmall}
})

// zeros is a reader that returns zero bytes without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// disguise gives datagrams a source that the client did not query: another port, or
// an address in another network inside the wall.
func (m *model) disguise(n *nature, ds []loopback.Datagram) {
	for i := range ds {
		if n.kind == OtherAddress {
			ds[i].From = m.elsewhere(n.addr)
		}
		ds[i].Stray = n.kind == OtherPort || ds[i].From == n.addr
	}
}

// elsewhere returns an address in the network next to the fleet's, which is also
// inside the wall. If the fleet fills all of the wall, it returns addr; then only
// the port can differ.
func (m *model) elsewhere(addr uint64) uint64 {
	if m.addrs == 1<<24 {
		return addr
	}
	return addr ^ m.addrs<<16
}
