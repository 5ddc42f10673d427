package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// shownMembers is how many members of an object or array are shown. shownRaw is the
// limit for rules_raw, which is meant for programs.
const (
	shownMembers = 30
	shownRaw     = 3
)

// pretty breaks a record into lines of at most width characters. A value that fits
// stays on one line. Values and lists that are too long are cut and end with "…".
// Invisible characters are escaped.
func pretty(record []byte, width int) []string {
	p := &prettyPrinter{width: width}
	p.value("", "", console.Visible(bytes.TrimSpace(record)), "")
	return p.lines
}

type prettyPrinter struct {
	width int
	lines []string
}

// value adds the lines of a value. indent and key come before it, and comma after
// it.
func (p *prettyPrinter) value(indent, key string, v json.RawMessage, comma string) {
	line := indent + key + string(v) + comma
	members := membersOf(v)
	switch {
	case utf8.RuneCountInString(line) <= p.width:
		p.lines = append(p.lines, line)
	case len(members) == 0:
		p.lines = append(p.lines, console.Plain(line, p.width))
	default:
		p.lines = append(p.lines, indent+key+string(v[:1]))
		p.members(indent+"  ", members, mostShown(indent, key))
		p.lines = append(p.lines, indent+string(v[len(v)-1:])+comma)
	}
}

// mostShown returns how many members of the object or array after key are shown. The
// record itself is shown with all members.
func mostShown(indent, key string) int {
	switch {
	case indent == "" && key == "":
		return math.MaxInt
	case key == `"rules_raw": `:
		return shownRaw
	}
	return shownMembers
}

// members adds the lines of the first members of an object or array.
func (p *prettyPrinter) members(indent string, all []member, most int) {
	for i, m := range all {
		comma := ","
		if i == len(all)-1 {
			comma = ""
		}
		if i == most {
			p.lines = append(p.lines, fmt.Sprintf("%s… %d more, which --json prints", indent, len(all)-i))
			return
		}
		p.value(indent, m.key, m.value, comma)
	}
}

// member is a member of an object or, without a key, of an array.
type member struct {
	key   string // as in the record, with quotes, colon and space
	value json.RawMessage
}

// membersOf returns the members of an object or array in their order; nil for other
// values.
func membersOf(v json.RawMessage) (ms []member) {
	if len(v) == 0 || v[0] != '{' && v[0] != '[' {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(v))
	d.Token()
	for d.More() {
		var m member
		if v[0] == '{' {
			start := d.InputOffset()
			if _, err := d.Token(); err != nil {
				return nil
			}
			m.key = string(bytes.TrimLeft(v[start:d.InputOffset()], ", ")) + ": "
		}
		if d.Decode(&m.value) != nil {
			return nil
		}
		ms = append(ms, m)
	}
	return ms
}
