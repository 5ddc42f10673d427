package transcript

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/record"
)

const (
	leastWidth   = 60 // minimum width to which lines are wrapped
	dumpedEvents = 30 // datagrams that are shown with their bytes
	shownEvents  = 80 // datagrams that are shown at all
)

// Text returns the verdict, the datagrams and the record as text.
func (s *Session) Text() string {
	var b strings.Builder
	list := func(sentences []string) {
		for _, sentence := range sentences {
			b.WriteString(strings.Join(console.Wrap("- "+sentence, s.Width, 2), "\n") + "\n")
		}
	}
	fmt.Fprintf(&b, "verdict: %s\n", s.Verdict.Plain())
	list(s.Verdict.Text)
	if len(s.Verdict.Hints) > 0 {
		b.WriteString("\nworth knowing:\n")
		list(s.Verdict.Hints)
	}
	retries := "1 retry"
	if s.retries != 1 {
		retries = fmt.Sprintf("%d retries", s.retries)
	}
	fmt.Fprintf(&b, "\ndatagrams, with a timeout of %v and %s:\n%s", s.timeout, retries, s.Datagrams())
	if n := len(s.events) + s.leftOut - shownEvents; n > 0 {
		fmt.Fprintf(&b, "  … %s more %s\n", console.Grouped(uint64(n)), console.Things(n, "datagram"))
	}
	b.WriteString("\nrecord:\n")
	shown := console.Visible(bytes.TrimSpace(record.Append(nil, "", s.Result)))
	for _, line := range pretty(nil, s.Width, "", shown, "", "") {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Datagrams returns a line for each datagram, with the meaning of its bytes below it.
func (s *Session) Datagrams() string {
	var b strings.Builder
	for i := range s.events[:min(len(s.events), shownEvents)] {
		e := &s.events[i]
		word := "received"
		if e.sent {
			word = "sent"
		}
		line := fmt.Sprintf("%9.1f ms  %-8s %5d bytes  %s", s.since(e), word, len(e.data), e.what)
		rows := console.Wrap(line, s.Width, 35)
		if i >= dumpedEvents {
			rows = rows[:1]
		} else {
			rows = append(rows, e.rows...)
			if i > 0 {
				b.WriteByte('\n')
			}
		}
		b.WriteString(strings.Join(rows, "\n") + "\n")
	}
	return b.String()
}

// Brief returns the verdict and its first sentence. For a screen, it wraps the
// sentence.
func (s *Session) Brief(onScreen bool) string {
	facts := s.Verdict.Text[0]
	if onScreen {
		facts = strings.Join(console.Wrap(facts, s.Width, 0), "\n")
	}
	return fmt.Sprintf("verdict: %s\n%s\n", s.Verdict.Plain(), facts)
}

// since is the time since the first datagram in milliseconds.
func (s *Session) since(e *event) float64 {
	// On loopback, the kernel's timestamp of a reply may be earlier than the program's
	// timestamp of its request.
	return ms(max(0, e.at-s.events[0].at))
}

// JSON returns the session as one line of JSON without a newline, for programs.
func (s *Session) JSON() []byte {
	type datagram struct {
		Millis float64 `json:"ms"` // since the first datagram
		Sent   bool    `json:"sent"`
		Addr   string  `json:"addr"` // the other end
		Bytes  int     `json:"bytes"`
		What   string  `json:"what"` // description; its wording may change
		Hex    string  `json:"hex"`
	}
	var all []datagram
	for i := range s.events {
		e := &s.events[i]
		all = append(all, datagram{s.since(e), e.sent, e.addr.String(), len(e.data), e.what, hex.EncodeToString(e.data)})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(struct { // every type in it can be encoded
		Schema int    `json:"schema"`
		Addr   string `json:"addr"`
		*Verdict
		Record    json.RawMessage `json:"record"`
		Datagrams []datagram      `json:"datagrams"`
		LeftOut   int             `json:"datagrams_left_out"` // datagrams beyond the limits
	}{1, s.Target.String(), &s.Verdict, record.Append(nil, "", s.Result), all, s.leftOut})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// shownMembers is how many members of an object or array are shown. The record itself
// has no limit.
const shownMembers = 30

// pretty appends the JSON value of a key of the record as lines of at most width
// characters. A value that fits stays on one line. Values and lists that are too long
// are cut and end with "…". indent comes before it, and comma after it.
func pretty(lines []string, width int, key string, value json.RawMessage, indent, comma string) []string {
	line := indent + key + string(value) + comma
	switch {
	case utf8.RuneCountInString(line) <= width:
		return append(lines, line)
	case value[0] != '{' && value[0] != '[':
		return append(lines, console.Plain(line, width))
	}
	most := shownMembers
	if indent == "" {
		most = math.MaxInt
	}
	lines = append(lines, indent+key+string(value[:1]))
	d := json.NewDecoder(bytes.NewReader(value))
	d.Token()
	n := 0
	for ; d.More(); n++ {
		name, between := "", ","
		if value[0] == '{' {
			start := d.InputOffset()
			d.Token() // as the record writes it, with quotes and escapes
			name = string(bytes.TrimLeft(value[start:d.InputOffset()], ", ")) + ": "
		}
		var inner json.RawMessage
		if d.Decode(&inner) != nil {
			return append(lines, console.Plain(line, width)) // no JSON: not from us
		}
		if !d.More() {
			between = ""
		}
		if n < most {
			lines = pretty(lines, width, name, inner, indent+"  ", between)
		}
	}
	if n > most {
		lines = append(lines, fmt.Sprintf("%s  … %d more, which --json prints", indent, n-most))
	}
	return append(lines, indent+string(value[len(value)-1:])+comma)
}
