package replay

import (
	"bytes"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// This file rebuilds the datagrams of a server whose record does not contain them.

// fromRecord drafts the replies of a server from its record.
func (d *drafter) fromRecord(r *scanner.Result) {
	d.invent(r)
	headers := r.Notes & (wire.NoteHeaderMissing | wire.NoteHeaderTwice)
	for q := range wire.Question(wire.NumQuestions) {
		if !r.Asked.Has(q) {
			continue
		}
		p := &d.says[q]
		if msg := d.message(r, q); msg != nil {
			p.bursts = [][][]byte{d.datagrams(r, q, msg, &headers)}
		} else if msg := failing(r, q); msg != nil {
			p.bursts = [][][]byte{{msg}}
		}
		d.want(r, q)
	}
	d.refuse(r)
}

// invent makes up challenges if the server demands any. The record does not contain
// them.
func (d *drafter) invent(r *scanner.Result) {
	n := 0
	for q := range wire.Question(wire.NumQuestions) {
		switch {
		case r.Err[q] == wire.ErrChallengeLoop:
			n = 8 // more than a scanner accepts
		case r.Asked.Has(q) && !r.Unchallenged.Has(q):
			n = max(n, 1)
		}
	}
	if r.Unchallenged == 0 && !r.HasInfo && !r.HasPlayers && !r.HasRules {
		n = max(n, 1) // it must give at least one
	}
	for i := range n {
		d.rounds = append(d.rounds, random.Challenge(random.Hash(pack4(r), uint64(i))))
	}
}

// pack4 returns the IPv4 address of a record as a number, or 0 if it has none.
func pack4(r *scanner.Result) uint64 {
	if !r.Addr.IsValid() || !r.Addr.Addr().Is4() {
		return 0
	}
	return udp.Pack(r.Addr)
}

// want decides which challenges the server accepts for q.
func (d *drafter) want(r *scanner.Result, q wire.Question) {
	p := &d.says[q]
	switch {
	case r.Err[q] == wire.ErrChallengeLoop:
		p.manner = mannerNever
	case !r.Unchallenged.Has(q) && len(d.rounds) > 0:
		p.manner, p.needs = mannerChallenged, 1
	}
}

// message returns the answer to q, or nil if there was none.
func (d *drafter) message(r *scanner.Result, q wire.Question) []byte {
	switch {
	case q == wire.QuestionInfo && r.HasInfo:
		return infoMessage(r)
	case q == wire.QuestionPlayers && r.HasPlayers:
		return playersMessage(r)
	case q == wire.QuestionRules && r.HasRules:
		announced := r.RulesAnnounced
		if announced < 0 {
			announced = len(r.Rules)
		}
		msg := wire.AppendRules(nil, announced, r.Rules)
		if r.Err[q] == wire.ErrTruncated {
			msg = append(msg, 'x')
		}
		return msg
	}
	return nil
}

// infoMessage returns an INFO message that ends where the recorded message ended.
func infoMessage(r *scanner.Result) []byte {
	in := r.Info
	if r.Notes&wire.NoteInfoOddBoolean != 0 && in.Password|in.VAC == 0 {
		in.Notes &^= wire.NoteInfoOddBoolean
	}
	if in.Has&wire.HasAddress != 0 && in.Format == wire.FormatSource {
		in.Has &^= wire.HasAddress // it came from the additional 'm' (EC-63)
	}
	msg := wire.AppendInfo(nil, &in)
	if r.Err[wire.QuestionInfo] == 0 {
		if r.Notes&wire.NoteInfoTrailing != 0 {
			msg = append(msg, 0)
		}
		return msg
	}
	return cutInfo(msg, in.Has)
}

// cutInfo returns the beginning of an INFO that contains the fields in has and only
// a part of the next field.
func cutInfo(msg []byte, has wire.Fields) []byte {
	var in wire.Info
	n := len(msg)
	for ; n > 6; n-- {
		_ = in.Decode(msg[:n-1])
		if has&^in.Has != 0 {
			break
		}
	}
	if in.Decode(msg[:n]) == nil && n > 6 {
		n-- // at the end of the version the message would be complete (EC-27)
	}
	return msg[:n]
}

func playersMessage(r *scanner.Result) []byte {
	announced := r.PlayersAnnounced
	if announced < 0 {
		announced = len(r.Players)
	}
	msg := wire.AppendPlayers(nil, announced, r.Players)
	if r.Err[wire.QuestionPlayers] == wire.ErrTruncated || r.Notes&wire.NotePlayersTrailing != 0 {
		msg = append(msg, 0)
	}
	return msg
}

// datagrams returns the datagrams of the answer msg: an 'm' before msg if the
// server sent both, or fragments if msg does not fit into a datagram, was
// incomplete, or must have a note about its split header; otherwise msg alone.
// headers holds the notes about split headers that no earlier answer has caused.
func (d *drafter) datagrams(r *scanner.Result, q wire.Question, msg []byte, headers *wire.Notes) [][]byte {
	if q == wire.QuestionInfo && r.Info.Format == wire.FormatSource && r.Info.Has&wire.HasAddress != 0 {
		gold := wire.Info{Format: wire.FormatGoldSource, Address: r.Info.Address}
		return [][]byte{wire.AppendInfo(nil, &gold), msg}
	}
	incomplete := r.Err[q] == wire.ErrIncomplete
	odd := r.Err[q] == 0 && *headers != 0
	if len(msg) <= loopback.MaxDatagram && !incomplete && !odd {
		return [][]byte{msg}
	}
	switch {
	case !odd:
	case *headers&wire.NoteHeaderTwice != 0:
		msg = append([]byte{0xFF, 0xFF, 0xFF, 0xFF}, msg...)
		*headers &^= wire.NoteHeaderTwice
	default:
		msg = msg[4:]
		*headers &^= wire.NoteHeaderMissing
	}
	return fragments(msg, incomplete)
}

// fragments splits a message. If it is incomplete, the last fragment is left out.
func fragments(msg []byte, incomplete bool) (ds [][]byte) {
	const usual, most = 1248, 254
	size := max(usual, (len(msg)+most-1)/most)
	f := wire.Fragment{Layout: wire.LayoutSource, ID: 1, Size: uint16(size)}
	f.Total = uint8((len(msg) + size - 1) / size)
	if incomplete {
		f.Total++
	}
	for len(msg) > 0 {
		f.Payload = msg[:min(size, len(msg))]
		msg = msg[len(f.Payload):]
		ds = append(ds, wire.AppendFragment(nil, &f))
		f.Number++
	}
	return ds
}

// failing returns a datagram that makes q fail with the error in the record. It
// returns nil if silence causes that error, or if there was none.
func failing(r *scanner.Result, q wire.Question) []byte {
	kind := [wire.NumQuestions]wire.Kind{wire.KindInfo, wire.KindPlayers, wire.KindRules}[q]
	switch r.Err[q] {
	case wire.ErrTruncated:
		return message(kind, 0)[:6]
	case wire.ErrMalformed:
		return message(wire.KindChallenge)
	case wire.ErrUnexpected:
		return message('9')
	case wire.ErrEmpty:
		return message(kind)
	case wire.ErrIncomplete:
		return wire.AppendFragment(nil, &wire.Fragment{
			Layout: wire.LayoutSource, ID: 1, Total: 3, Number: 1, Size: 1248, Payload: []byte{0},
		})
	case wire.ErrChecksum:
		return packedFragment(1)
	case wire.ErrTooLarge:
		return packedFragment(declaredHuge)
	}
	return nil
}

// message returns a message of kind k.
func message(k wire.Kind, fields ...byte) []byte {
	return append([]byte{0xFF, 0xFF, 0xFF, 0xFF, byte(k)}, fields...)
}

// zeroByte is a single zero byte compressed with bzip2, and zeroCRC its CRC-32.
const (
	zeroByte = "BZh1" + "1AY&SY\xB1\xF7\x40\x4B\x00\x00\x00\x40\x00\x40\x00\x20\x00" +
		"\x21\x18\x46\x82\xEE\x48\xA7\x0A\x12\x16\x3E\xE8\x09\x60"
	zeroCRC = 0xD202EF8D
)

// packedFragment returns a compressed reply of one byte that declares size bytes
// and a wrong CRC-32.
func packedFragment(size uint32) []byte {
	return wire.AppendFragment(nil, &wire.Fragment{
		Layout: wire.LayoutSource, Compressed: true, ID: 1 | wire.CompressedID, Total: 1, Size: 1248,
		DeclaredSize: size, CRC: zeroCRC + 1, Payload: []byte(zeroByte),
	})
}

// declaredHuge is a declared size that no scanner accepts.
const declaredHuge = 1 << 31

// refuse adds an 'l' or 'X' with the message of the record. The server sends it
// before its first answer to the first question that failed with ErrBanned or
// ErrRateLimited or, if none did, to the first question that was asked.
func (d *drafter) refuse(r *scanner.Result) {
	limited, banned := failed(r, wire.ErrRateLimited), failed(r, wire.ErrBanned)
	if len(r.Message) == 0 && limited|banned == 0 {
		return
	}
	kind, qs := wire.KindLimited, limited
	if banned != 0 {
		kind, qs = wire.KindBanned, banned
	}
	if qs == 0 {
		qs = r.Asked
	}
	text := wire.AppendText(nil, kind, bytes.Clone(r.Message))
	for q := range wire.Question(wire.NumQuestions) {
		if qs.Has(q) {
			p := &d.says[q]
			if len(p.bursts) == 0 {
				p.bursts = [][][]byte{nil}
			}
			p.bursts[0] = append([][]byte{text}, p.bursts[0]...)
			return
		}
	}
}
