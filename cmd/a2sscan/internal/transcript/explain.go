package transcript

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/wire"
)

func (s *Session) explain() {
	s.table = reasm.New(0)
	if r := s.Result; r != nil && r.HasInfo {
		s.ship = wire.ShipNo
		if id, _ := r.Info.AppID(); wire.IsShip(id) {
			s.ship = wire.ShipYes
		}
	}
	known := map[string]bool{}
	for i := range s.events {
		e := &s.events[i]
		key := fmt.Sprint(e.Sent, string(e.Data))
		again := known[key]
		known[key] = true
		parts := s.describe(e)
		if again {
			e.What += ", again"
		}
		if e.Addr != s.Target {
			if from := e.Addr.String(); len(s.strangers) < 3 && !slices.Contains(s.strangers, from) {
				s.strangers = append(s.strangers, from)
			}
			e.What += fmt.Sprintf("; the datagram comes from %v, which was not queried", e.Addr)
			continue
		}
		if !again && len(e.Data) > 0 {
			e.rows = s.rows(e.Data, parts)
		}
		if e.Sent {
			continue
		}
		s.longest = max(s.longest, len(e.Data))
		if wire.IsReply(e.Data) {
			s.speaks = true
		} else if s.junk == "" {
			s.junk = fmt.Sprintf("%s, %s", console.Plural(len(e.Data), "byte"), console.Quoted(string(e.Data), 60))
		}
		if wire.IsSplit(e.Data) {
			e.rows = append(e.rows, s.reassemble(e)...)
		}
	}
}

// describe sets e.What, and returns the fields of the datagram.
func (s *Session) describe(e *event) iter.Seq[wire.Part] {
	b := e.Data
	switch {
	case wire.IsSplit(b):
		return s.describeFragment(e)
	case wire.IsSingle(b):
		s.describeMessage(e)
		return wire.Explain(b, s.ship)
	}
	e.What = "not A2S: the datagram begins with neither -1 nor -2"
	if len(b) == 0 {
		e.What = "empty"
	}
	return slices.Values([]wire.Part{{Name: "content", End: len(b), Item: -1}})
}

// requests has the kinds of the requests, in the order of their questions.
var requests = []wire.Kind{wire.KindInfoRequest, wire.KindPlayersRequest, wire.KindRulesRequest}

// describeMessage sets e.What for a request, or for a reply that is not a fragment. It
// records for which questions a request had no challenge, and the last challenge that the
// server sent.
func (s *Session) describeMessage(e *event) {
	k := wire.KindOf(e.Data)
	e.What = kindWord(e.Data)
	var challenge []byte
	after := ""
	for p := range wire.Explain(e.Data, s.ship) {
		switch v := e.Data[p.At:p.End]; {
		case p.Name == "kind" && p.Cut:
			e.What = "a header without a message"
		case p.Name == "kind" && e.What == unknownKind:
			e.What += ": kind " + letter(v)
		case p.Name == "challenge" && !p.Cut:
			challenge = v
		case p.Name == "text":
			after = ": " + console.Quoted(string(bytes.TrimSuffix(v, []byte{0})), 60)
		case p.Name == "left over" && e.Sent:
			after = ", followed by an extra NUL"
		}
	}
	q := slices.Index(requests, k)
	switch {
	case k == wire.KindChallenge && challenge == nil:
		e.What = "a malformed challenge"
	case k == wire.KindChallenge:
		e.What += fmt.Sprintf(" % x", challenge)
		if s.challenge != nil && !bytes.Equal(s.challenge, challenge) {
			e.What += ", not the same as the previous challenge"
		}
		s.challenge = challenge
	case challenge != nil && string(challenge) != "\xFF\xFF\xFF\xFF":
		e.What += fmt.Sprintf(", challenge % x", challenge)
	case q >= 0 && e.Sent:
		s.asksAnew[q] = true
		e.What += ", no challenge"
	}
	e.What += after
}

// reassemble adds a fragment to its reply. It returns the rows for a reassembled
// message or for a problem.
func (s *Session) reassemble(e *event) []string {
	note := func(format string, args ...any) []string {
		return console.Wrap("    = "+fmt.Sprintf(format, args...), s.Width, 6)
	}
	msg, o, err := s.table.Add(e.at, 0, e.Data, nil) // all fragments have the same source
	how := "reassembled"
	switch {
	case err != nil:
		return note("dropped: not a valid fragment: %s", errorWord(err))
	case o == reasm.Conflict:
		return note("dropped: the fragment contradicts the other fragments with the same ID")
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
	return append(note("%s: %s, %d bytes", how, kindWord(msg), len(msg)),
		s.rows(msg, wire.Explain(msg, s.ship))...)
}

type splitReply struct {
	id         uint32
	layout     wire.Layout
	compressed bool
	fragments  [][]byte
}

// describeFragment sets e.What for a fragment, adds the fragment to its reply, and returns
// the fields of the fragment.
func (s *Session) describeFragment(e *event) iter.Seq[wire.Part] {
	b := e.Data
	id, err := wire.SplitID(b)
	if err != nil {
		e.What = "a fragment that is too short for an ID"
		return wire.ExplainFragment(b, wire.LayoutUnknown, false)
	}
	at := slices.IndexFunc(s.replies, func(g *splitReply) bool { return g.id == id })
	if at < 0 {
		at = len(s.replies)
		s.replies = append(s.replies, &splitReply{id: id})
	}
	g := s.replies[at]
	g.fragments = append(g.fragments, b)
	if l, compressed := wire.ShowLayout(b); l != wire.LayoutUnknown {
		g.layout, g.compressed = l, compressed
	}
	var f wire.Fragment
	switch err := f.Decode(b, g.layout, g.compressed); {
	case err == nil:
		e.What = fmt.Sprintf("fragment %d of %d, ID 0x%08x: %s", f.Number, f.Total, id, g.form())
	case g.layout == wire.LayoutUnknown:
		e.What = fmt.Sprintf("a fragment, ID 0x%08x", id)
	default:
		e.What = fmt.Sprintf("a fragment, ID 0x%08x: the fragment number or the total is not valid", id)
	}
	return wire.ExplainFragment(b, g.layout, g.compressed)
}

func (g *splitReply) form() string {
	if g.compressed {
		return g.layout.String() + ", bzip2"
	}
	return g.layout.String()
}

// fault explains why a reply is incomplete. It returns "" if the reply is complete.
func (g *splitReply) fault() string {
	arrived := map[uint8]bool{}
	total := uint8(0) // largest total that a fragment states
	for _, b := range g.fragments {
		var f wire.Fragment
		if f.Decode(b, g.layout, g.compressed) == nil {
			arrived[f.Number] = true
			total = max(total, f.Total)
		}
	}
	if total == 0 {
		return fmt.Sprintf("reply 0x%08x: %s arrived, but none states the total number of fragments",
			g.id, console.Plural(len(g.fragments), "fragment"))
	}
	var lost []int
	for n := range total {
		if !arrived[n] {
			lost = append(lost, int(n))
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return fmt.Sprintf("reply 0x%08x (layout %s): %d of %d fragments arrived; missing: %s",
		g.id, g.form(), len(arrived), total, console.NumberList(lost))
}
