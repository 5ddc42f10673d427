// Package transcript explains a session with one server. It shows every datagram
// with the meaning of its bytes, the record, and a verdict in words.
package transcript

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/wire"
)

// Transcript shows the datagrams of a session with one server. Each gets a line and
// its bytes. Messages are also shown reassembled from their fragments.
type Transcript struct {
	sheet
	out    io.Writer // nil: show nothing
	failed error     // the first error of writing
	target netip.AddrPort

	events []Event
	what   []string // descriptions of the events
	splits splits
	table  *reasm.Table
	unpack reasm.Unpacker
	seen   map[string]bool // bytes of each datagram, followed by < or > for its direction
	ship   wire.ShipHint
	last   []byte // the last challenge
}

// leastWidth is the minimum width to which lines are wrapped.
const leastWidth = 60

// The first dumpedEvents datagrams are shown with their bytes, and the first
// shownEvents are shown at all.
const (
	dumpedEvents = 30
	shownEvents  = 80
)

// theServer identifies the sender of fragments in the table. There is only one.
const theServer = 1

// New returns the transcript of a session with target. It writes to out, unless
// that is nil, in lines of at most width columns.
func New(out io.Writer, target netip.AddrPort, width int) *Transcript {
	return &Transcript{
		sheet: sheet{max(width, leastWidth)}, out: out, target: target,
		table: reasm.New(reasm.Config{}), seen: map[string]bool{},
	}
}

// Add adds the next datagram and shows it.
func (t *Transcript) Add(e Event) {
	var rows []string
	what := t.describe(&e)
	again := t.again(&e)
	if again {
		what += ", again"
	}
	if e.addr != t.target {
		what += fmt.Sprintf("; it comes from %v, which was not queried", e.addr)
	}
	t.events, t.what = append(t.events, e), append(t.what, what)
	rows = append(rows, t.headline(&e, what)...)
	if !again && e.addr == t.target && len(e.data) > 0 {
		rows = append(rows, t.dump(e.data, t.parts(e.data))...)
	}
	if !e.sent && e.addr == t.target {
		rows = append(rows, t.follow(&e)...)
	}
	t.show(rows)
}

// show writes the rows of a datagram, as far as the limits allow.
func (t *Transcript) show(rows []string) {
	n := len(t.events)
	switch {
	case t.out == nil || n > shownEvents:
		return
	case n > dumpedEvents:
		rows = rows[:1]
	case n > 1:
		rows = append([]string{""}, rows...)
	}
	if _, err := io.WriteString(t.out, strings.Join(rows, "\n")+"\n"); err != nil && t.failed == nil {
		t.failed = err
	}
}

// headline returns the line above the bytes of a datagram, wrapped.
func (t *Transcript) headline(e *Event, what string) []string {
	word := "received"
	if e.sent {
		word = "sent"
	}
	line := fmt.Sprintf("%9.1f ms  %-8s %5d bytes  %s", ms(t.since(e)), word, len(e.data), what)
	return console.Wrap(line, t.width, 35)
}

// since is the time since the first datagram.
func (t *Transcript) since(e *Event) time.Duration {
	if len(t.events) == 0 {
		return 0
	}
	// On loopback, the kernel's timestamp of a reply may be earlier than the program's
	// timestamp of its request.
	return max(0, e.at-t.events[0].at)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// again reports whether the same bytes were sent in the same direction before.
func (t *Transcript) again(e *Event) bool {
	key := string(e.data) + "<"
	if e.sent {
		key = string(e.data) + ">"
	}
	was := t.seen[key]
	t.seen[key] = true
	return was
}

// describe describes a datagram in a few words.
func (t *Transcript) describe(e *Event) string {
	switch b := e.data; {
	case len(b) == 0:
		return "empty"
	case wire.IsSplit(b):
		return t.splits.add(b).describe(b)
	case !wire.IsSingle(b):
		return "not A2S: it begins with neither -1 nor -2"
	case len(wire.Body(b)) == 0:
		return "a header without a message"
	case wire.KindOf(b) == wire.KindChallenge:
		return t.describeChallenge(b)
	case e.sent:
		return describeRequest(b)
	}
	k := wire.KindOf(e.data)
	if text, err := wire.DecodeText(e.data); err == nil {
		word := kindWord(k)
		if k == wire.KindRedirect {
			word = "message: connect to another server"
		}
		return word + ": " + console.Quoted(string(text), 60)
	}
	if w := kindWord(k); w != "unknown to A2S" {
		return w
	}
	return fmt.Sprintf("unknown to A2S: kind %s", letter(byte(k)))
}

func (t *Transcript) describeChallenge(b []byte) string {
	if _, err := wire.DecodeChallenge(b); err != nil {
		return "a malformed challenge"
	}
	c := wire.Body(b)[1:]
	text := fmt.Sprintf("challenge % x", c)
	if t.last != nil && !bytes.Equal(t.last, c) {
		text += ", not the same as before"
	}
	t.last = c
	return text
}

func describeRequest(b []byte) string {
	r, extra, err := requestOf(b)
	if err != nil {
		return "a request"
	}
	text := kindWord(r.Kind) + ", no challenge"
	if r.HasChallenge {
		text = fmt.Sprintf("%s, challenge % x", kindWord(r.Kind), binary.LittleEndian.AppendUint32(nil, uint32(r.Challenge)))
	}
	if extra {
		text += ", and one more NUL"
	}
	return text
}

// requestOf decodes a request that was sent. Some have one more NUL at their end.
func requestOf(b []byte) (r wire.Request, extra bool, err error) {
	if r, err = wire.DecodeRequest(b); err == nil {
		return r, false, nil
	}
	if shorter, ok := bytes.CutSuffix(b, []byte{0}); ok {
		r, err = wire.DecodeRequest(shorter)
	}
	return r, true, err
}

// parts returns the fields of a datagram.
func (t *Transcript) parts(b []byte) func(func(wire.Part) bool) {
	switch {
	case wire.IsSplit(b):
		g := t.splits.of(b)
		return wire.ExplainFragment(b, g.layout, g.compressed)
	case wire.IsSingle(b):
		return wire.Explain(b, t.ship)
	}
	return func(yield func(wire.Part) bool) {
		yield(wire.Part{Name: "content", End: len(b), Item: -1})
	}
}

// follow reassembles fragments, and learns from the server's replies which game it
// is. It returns the rows for a reassembled message or for a problem.
func (t *Transcript) follow(e *Event) []string {
	if !wire.IsSplit(e.data) {
		t.learnGame(e.data)
		return nil
	}
	msg, o, err := t.table.Add(e.at, theServer, e.data, nil)
	switch {
	case err != nil:
		return t.note("dropped: " + faultWords(err) + " as a fragment")
	case o == reasm.Conflict:
		return t.note("dropped: it contradicts the other fragments with its ID")
	case o == reasm.Whole:
		return t.message("reassembled", msg)
	case o == reasm.Packed:
		plain, err := t.unpack.Unpack(nil, msg)
		if err != nil {
			return t.note(fmt.Sprintf("reassembled: %d bytes of bzip2, which cannot be decompressed: %s",
				len(msg), faultWords(err)))
		}
		return t.message(fmt.Sprintf("reassembled and decompressed from %d bytes", len(msg)), plain)
	}
	return nil
}

// message returns the rows for a message that came in fragments. how says how it
// was put together.
func (t *Transcript) message(how string, msg []byte) []string {
	t.learnGame(msg)
	rows := t.note(fmt.Sprintf("%s: %s, %d bytes", how, kindWord(wire.KindOf(msg)), len(msg)))
	return append(rows, t.dump(msg, wire.Explain(msg, t.ship))...)
}

func (t *Transcript) note(text string) []string {
	return console.Wrap("    = "+text, t.width, 6)
}

// learnGame finds out from an info reply whether the game is The Ship, whose player
// lists have additional fields.
func (t *Transcript) learnGame(msg []byte) {
	var in wire.Info
	if in.Decode(msg) != nil {
		return
	}
	t.ship = wire.ShipNo
	if id, ok := in.AppID(); ok && wire.IsShip(id) {
		t.ship = wire.ShipYes
	}
}

// faultWords describes the error of a datagram.
func faultWords(err error) string {
	code, _ := err.(wire.Error)
	return strings.ReplaceAll(code.String(), "_", " ")
}
