package transcript

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/wire"
)

// evidence is what the datagrams added so far show together.
type evidence struct {
	target netip.AddrPort
	width  int // of the rows
	table  *reasm.Table
	unpack reasm.Unpacker

	known      map[string]bool         // datagrams, followed by < or > for their direction
	repeats    int                     // requests that were sent again with the same bytes
	asksAnew   [wire.NumQuestions]bool // a request for the question had no challenge
	strangers  []string                // addresses that sent something although they were not queried, at most three and "…"
	junk       string                  // describes the target's first datagram that is not A2S; "": none
	speaks     bool                    // the target sent A2S
	challenged bool                    // the target sent challenges
	challenge  []byte                  // the last challenge
	longest    int                     // bytes of the longest datagram from the target
	replies    []*splitReply           // in the order of their first fragments
	ship       wire.ShipHint
}

// theServer identifies the sender of fragments in the table. There is only one.
const theServer = 1

// add describes a datagram and takes it into account.
func (v *evidence) add(e *event) {
	key := string(e.data) + "<"
	if e.sent {
		key = string(e.data) + ">"
	}
	again := v.known[key]
	v.known[key] = true
	e.what = v.describe(e)
	if again {
		e.what += ", again"
	}
	if e.addr != v.target {
		from := e.addr.String()
		if len(v.strangers) == 3 && !slices.Contains(v.strangers, from) {
			from = "…"
		}
		if !slices.Contains(v.strangers, from) && len(v.strangers) < 4 {
			v.strangers = append(v.strangers, from)
		}
		e.what += fmt.Sprintf("; it comes from %v, which was not queried", e.addr)
		return
	}
	if !again && len(e.data) > 0 {
		e.rows = v.dump(e.data)
	}
	if e.sent {
		if again {
			v.repeats++
		}
		return
	}
	v.longest = max(v.longest, len(e.data))
	switch {
	case wire.IsReply(e.data):
		v.speaks = true
	case v.junk == "":
		v.junk = fmt.Sprintf("%d bytes, %s", len(e.data), console.Quoted(string(e.data), 60))
	}
	if wire.IsSplit(e.data) {
		e.rows = append(e.rows, v.reassemble(e)...)
	} else {
		v.learnGame(e.data)
	}
}

// describe describes a datagram in a few words.
func (v *evidence) describe(e *event) string {
	b, k := e.data, wire.KindOf(e.data)
	switch {
	case len(b) == 0:
		return "empty"
	case wire.IsSplit(b):
		return v.reply(b, true).describe(b)
	case !wire.IsSingle(b):
		return "not A2S: it begins with neither -1 nor -2"
	case len(wire.Body(b)) == 0:
		return "a header without a message"
	case e.sent:
		return v.describeRequest(b)
	}
	word := kindWord(k)
	if text, err := wire.DecodeText(b); err == nil {
		if k == wire.KindRedirect {
			word = "message: connect to another server"
		}
		return word + ": " + console.Quoted(string(text), 60)
	}
	if k != wire.KindChallenge {
		return strings.Replace(word, unknownKind, unknownKind+": kind "+letter(byte(k)), 1)
	}
	if _, err := wire.DecodeChallenge(b); err != nil {
		return "a malformed challenge"
	}
	v.challenged = v.challenged || e.addr == v.target
	c := wire.Body(b)[1:]
	word += fmt.Sprintf(" % x", c)
	if v.challenge != nil && !bytes.Equal(v.challenge, c) {
		word += ", not the same as before"
	}
	v.challenge = c
	return word
}

// describeRequest describes a request, and notes for which question it is. It may have
// one more NUL at its end.
func (v *evidence) describeRequest(b []byte) string {
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
		v.asksAnew[q] = true
		text += ", no challenge"
	}
	return text + after
}

// reassemble adds a fragment to its reply. It returns the rows for a reassembled
// message or for a problem.
func (v *evidence) reassemble(e *event) []string {
	note := func(format string, args ...any) []string {
		return console.Wrap("    = "+fmt.Sprintf(format, args...), v.width, 6)
	}
	msg, o, err := v.table.Add(e.at, theServer, e.data, nil)
	how := "reassembled"
	switch {
	case err != nil:
		return note("dropped: %s as a fragment", errorWord(err))
	case o == reasm.Conflict:
		return note("dropped: it contradicts the other fragments with its ID")
	case o == reasm.Packed:
		how += fmt.Sprintf(" and decompressed from %d bytes", len(msg))
		plain, err := v.unpack.Unpack(nil, msg)
		if err != nil {
			return note("reassembled: %d bytes of bzip2, which cannot be decompressed: %s", len(msg), errorWord(err))
		}
		msg = plain
	case o != reasm.Whole:
		return nil
	}
	v.learnGame(msg)
	return append(note("%s: %s, %d bytes", how, kindWord(wire.KindOf(msg)), len(msg)),
		v.rows(msg, wire.Explain(msg, v.ship))...)
}

// learnGame finds out from an info reply whether the game is The Ship, whose player
// lists have additional fields.
func (v *evidence) learnGame(msg []byte) {
	var in wire.Info
	if in.Decode(msg) != nil {
		return
	}
	v.ship = wire.ShipNo
	if id, ok := in.AppID(); ok && wire.IsShip(id) {
		v.ship = wire.ShipYes
	}
}
