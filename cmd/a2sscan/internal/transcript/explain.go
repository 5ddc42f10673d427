package transcript

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/wire"
)

// theServer identifies the sender of fragments in the table. There is only one.
const theServer = 1

// explain describes all datagrams, and learns from them.
func (s *Session) explain() {
	s.Width = max(s.Width, leastWidth)
	s.table = reasm.New(0)
	type key struct {
		sent bool
		data string
	}
	known := map[key]bool{}
	for i := range s.events {
		e := &s.events[i]
		again := known[key{e.sent, string(e.data)}]
		known[key{e.sent, string(e.data)}] = true
		var part *splitReply
		if wire.IsSplit(e.data) {
			part = s.addFragment(e.data)
			e.what = part.describe(e.data)
		} else {
			e.what = s.describe(e)
		}
		if again {
			e.what += ", again"
		}
		if e.addr != s.Target {
			if from := e.addr.String(); len(s.strangers) < 3 && !slices.Contains(s.strangers, from) {
				s.strangers = append(s.strangers, from)
			}
			e.what += fmt.Sprintf("; it comes from %v, which was not queried", e.addr)
			continue
		}
		switch b := e.data; {
		case again || len(b) == 0:
		case part != nil:
			e.rows = s.rows(b, wire.ExplainFragment(b, part.layout, part.compressed))
		case wire.IsSingle(b):
			e.rows = s.rows(b, wire.Explain(b, s.ship))
		default:
			e.rows = s.field("content", wire.Part{Name: "content", End: len(b)}, b)
		}
		if e.sent {
			if again {
				s.repeats++
			}
			continue
		}
		s.longest = max(s.longest, len(e.data))
		if wire.IsReply(e.data) {
			s.speaks = true
		} else if s.junk == "" {
			s.junk = fmt.Sprintf("%d bytes, %s", len(e.data), console.Quoted(string(e.data), 60))
		}
		if part != nil {
			e.rows = append(e.rows, s.reassemble(e)...)
		} else {
			s.learnGame(e.data)
		}
	}
}

// describe describes a datagram that is no fragment in a few words.
func (s *Session) describe(e *event) string {
	b, k := e.data, wire.KindOf(e.data)
	switch {
	case len(b) == 0:
		return "empty"
	case !wire.IsSingle(b):
		return "not A2S: it begins with neither -1 nor -2"
	case len(wire.Body(b)) == 0:
		return "a header without a message"
	case e.sent:
		return s.describeRequest(b)
	}
	word := kindWord(k)
	if text, err := wire.DecodeText(b); err == nil {
		if k == wire.KindRedirect {
			word = "message: connect to another server"
		}
		return word + ": " + console.Quoted(string(text), 60)
	}
	switch {
	case word == unknownKind:
		return word + ": kind " + letter(byte(k))
	case k != wire.KindChallenge:
		return word
	}
	if _, err := wire.DecodeChallenge(b); err != nil {
		return "a malformed challenge"
	}
	s.challenged = s.challenged || e.addr == s.Target
	c := wire.Body(b)[1:]
	word += fmt.Sprintf(" % x", c)
	if s.challenge != nil && !bytes.Equal(s.challenge, c) {
		word += ", not the same as before"
	}
	s.challenge = c
	return word
}

// describeRequest describes a request, and notes for which question it is. It may have
// one more NUL at its end.
func (s *Session) describeRequest(b []byte) string {
	after := ""
	r, err := wire.DecodeRequest(b)
	if err != nil {
		r, _ = wire.DecodeRequest(b[:len(b)-1])
		after = ", and one more NUL"
	}
	text := kindWord(r.Kind)
	q := slices.Index([]wire.Kind{wire.KindInfoRequest, wire.KindPlayersRequest, wire.KindRulesRequest}, r.Kind)
	switch {
	case r.HasChallenge:
		text += fmt.Sprintf(", challenge % x", binary.LittleEndian.AppendUint32(nil, uint32(r.Challenge)))
	case q >= 0:
		s.asksAnew[q] = true
		text += ", no challenge"
	}
	return text + after
}

// reassemble adds a fragment to its reply. It returns the rows for a reassembled
// message or for a problem.
func (s *Session) reassemble(e *event) []string {
	note := func(format string, args ...any) []string {
		return console.Wrap("    = "+fmt.Sprintf(format, args...), s.Width, 6)
	}
	msg, o, err := s.table.Add(e.at, theServer, e.data, nil)
	how := "reassembled"
	switch {
	case err != nil:
		return note("dropped: %s as a fragment", errorWord(err))
	case o == reasm.Conflict:
		return note("dropped: it contradicts the other fragments with its ID")
	case o == reasm.Packed:
		how += fmt.Sprintf(" and decompressed from %d bytes", len(msg))
		plain, err := s.unpack.Unpack(nil, msg)
		if err != nil {
			return note("reassembled: %d bytes of bzip2, which cannot be decompressed: %s", len(msg), errorWord(err))
		}
		msg = plain
	case o != reasm.Whole:
		return nil
	}
	s.learnGame(msg)
	return append(note("%s: %s, %d bytes", how, kindWord(wire.KindOf(msg)), len(msg)),
		s.rows(msg, wire.Explain(msg, s.ship))...)
}

// learnGame finds out from an info reply whether the game is The Ship, whose player
// lists have additional fields.
func (s *Session) learnGame(msg []byte) {
	var in wire.Info
	if in.Decode(msg) != nil {
		return
	}
	s.ship = wire.ShipNo
	if id, ok := in.AppID(); ok && wire.IsShip(id) {
		s.ship = wire.ShipYes
	}
}

// splitReply is one fragmented reply.
type splitReply struct {
	id         uint32
	short      bool // too short to have an ID
	layout     wire.Layout
	compressed bool
	fragments  [][]byte
}

// addFragment adds a fragment to its reply.
func (s *Session) addFragment(b []byte) *splitReply {
	id, err := wire.SplitID(b)
	same := func(g *splitReply) bool { return g.id == id && g.short == (err != nil) }
	at := slices.IndexFunc(s.replies, same)
	if at < 0 {
		at = len(s.replies)
		s.replies = append(s.replies, &splitReply{id: id, short: err != nil})
	}
	g := s.replies[at]
	g.fragments = append(g.fragments, b)
	if l, compressed := wire.ShowLayout(b); l != wire.LayoutUnknown {
		g.layout, g.compressed = l, compressed
	}
	return g
}

// describe describes the fragment b of the reply.
func (g *splitReply) describe(b []byte) string {
	var f wire.Fragment
	switch {
	case g.short:
		return "a fragment that is too short"
	case g.layout == wire.LayoutUnknown:
		return fmt.Sprintf("a fragment, ID 0x%08x", g.id)
	case f.Decode(b, g.layout, g.compressed) != nil:
		return fmt.Sprintf("a fragment, ID 0x%08x: its number or total is not valid", g.id)
	}
	return fmt.Sprintf("fragment %d of %d, ID 0x%08x: %s", f.Number, f.Total, g.id, g.form())
}

// form returns the layout of the fragments and whether the reply is compressed.
func (g *splitReply) form() string {
	if g.compressed {
		return g.layout.String() + ", bzip2"
	}
	return g.layout.String()
}

// fault explains why a reply is incomplete. It returns "" if the reply is complete or
// has no ID.
func (g *splitReply) fault() string {
	arrived := map[int]bool{}
	most := 0 // the largest total that a fragment claims
	for _, b := range g.fragments {
		var f wire.Fragment
		if f.Decode(b, g.layout, g.compressed) == nil {
			arrived[int(f.Number)] = true
			most = max(most, int(f.Total))
		}
	}
	var have, lost []int
	for n := range most {
		if arrived[n] {
			have = append(have, n)
		} else {
			lost = append(lost, n)
		}
	}
	switch {
	case g.short, most > 0 && len(lost) == 0:
		return ""
	case most == 0:
		return fmt.Sprintf("reply 0x%08x: %s arrived, but none tells how many there are",
			g.id, console.Plural(len(g.fragments), "fragment"))
	}
	return fmt.Sprintf("reply 0x%08x (layout %s): %d of %d fragments arrived: %s; missing: %s",
		g.id, g.form(), len(have), most, console.NumberList(have), console.NumberList(lost))
}
