package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/record"
)

const (
	dumpedEvents = 30 // number of datagrams shown with their bytes
	shownEvents  = 80 // number of datagrams shown
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
	fmt.Fprintf(&b, "\ndatagrams, with --timeout %v --retries %d:\n%s", s.timeout, s.retries, s.Datagrams())
	if n := len(s.events) + s.leftOut - shownEvents; n > 0 {
		fmt.Fprintf(&b, "  … %s\n", console.Plural(n, "more datagram"))
	}
	b.WriteString("\nrecord:\n")
	shown := console.Visible(bytes.TrimSpace(record.Append(nil, "", s.Result)))
	for _, line := range pretty(nil, s.Width, "", shown, "", "") {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Datagrams returns a line for each of the first shownEvents datagrams. Below the lines of
// the first dumpedEvents, it shows the meaning of the bytes.
func (s *Session) Datagrams() string {
	var b strings.Builder
	for i := range s.events[:min(len(s.events), shownEvents)] {
		e := &s.events[i]
		word := "received"
		if e.Sent {
			word = "sent"
		}
		line := fmt.Sprintf("%9.1f ms  %-8s %5d bytes  %s", e.Millis, word, e.Bytes, e.What)
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

// Brief returns the verdict, its first sentence and, unless the server is up, the best
// hint. For a screen, it wraps the sentences.
func (s *Session) Brief(onScreen bool) string {
	lines := []string{"verdict: " + s.Verdict.Plain(), s.Verdict.Text[0]}
	if hints := s.Verdict.Hints; s.Verdict.hint != "" {
		lines = append(lines, "hint: "+s.Verdict.hint)
	} else if s.Verdict.Word != Up && len(hints) > 0 {
		lines = append(lines, "hint: "+hints[0])
	}
	text := ""
	for _, line := range lines {
		if onScreen {
			line = strings.Join(console.Wrap(line, s.Width, 0), "\n")
		}
		text += line + "\n"
	}
	return text
}

// JSON returns the session as one line of JSON without a newline, for programs.
func (s *Session) JSON() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(struct { // never fails
		Schema int            `json:"schema"`
		Addr   netip.AddrPort `json:"addr"`
		*Verdict
		Record    json.RawMessage `json:"record"`
		Datagrams []event         `json:"datagrams"`
		LeftOut   int             `json:"datagrams_left_out"` // number of datagrams beyond maxDatagrams
	}{1, s.Target, &s.Verdict, record.Append(nil, "", s.Result), s.events, s.leftOut})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// shownMembers is the maximum number of members that are shown of an object or array
// inside the record. Of the record itself, all members are shown.
const shownMembers = 30

// pretty appends the JSON value of a key of the record as lines of at most width
// characters. A value that fits stays on one line. Values and lists that are too long are
// cut and end with "…". Each line begins with the text in indent. The last line ends with the
// text in comma.
func pretty(lines []string, width int, key string, value jsontext.Value, indent, comma string) []string {
	line := indent + key + string(value) + comma
	switch {
	case utf8.RuneCountInString(line) <= width:
		return append(lines, line)
	case value[0] != '{' && value[0] != '[':
		return append(lines, console.Plain(line, width))
	}
	lines = append(lines, indent+key+string(value[:1]))
	d := jsontext.NewDecoder(bytes.NewReader(value))
	_, _ = d.ReadToken() // opening bracket
	n := 0
	for {
		name := ""
		if value[0] == '{' {
			v, _ := d.ReadValue() // after an error, the next call fails, too
			name = string(v) + ": "
		}
		v, err := d.ReadValue()
		if err != nil { // closing bracket
			break
		}
		if n++; n <= shownMembers || indent == "" {
			lines = pretty(lines, width, name, v, indent+"  ", ",")
		}
	}
	if n > shownMembers && indent != "" {
		lines = append(lines, fmt.Sprintf("%s  … %s, which --json prints", indent, console.Plural(n-shownMembers, "more member")))
	}
	last := &lines[len(lines)-1]
	*last = strings.TrimSuffix(*last, ",")
	return append(lines, indent+string(value[len(value)-1:])+comma)
}
