package transcript

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/wire"
)

// sheet formats bytes as rows of hexadecimal digits, with their meaning beside
// them. All text is escaped and limited in length, because the bytes are hostile.
type sheet struct {
	width int // columns
}

// These limit what is shown of one datagram.
const (
	shownItems = 3 // players or rules
	fieldRows  = 2 // for one field
	dumpIndent = 4
	wideSheet  = 110 // screens this wide get rows of 16 bytes
)

// perRow is the number of bytes in a row.
func (s sheet) perRow() int {
	if s.width >= wideSheet {
		return 16
	}
	return 8
}

// dump returns the rows for b. parts are its fields. Of a list it shows the first
// items, and where the message ends inside a field.
func (s sheet) dump(b []byte, parts iter.Seq[wire.Part]) (rows []string) {
	item := "rule"
	if wire.KindOf(b) == wire.KindPlayers {
		item = "player"
	}
	var first, last wire.Part // of a run of fields that are not shown
	skipped := false
	flush := func() {
		if skipped {
			rows = append(rows, fmt.Sprintf("%*s…  %ss %d to %d, %d bytes",
				dumpIndent+3, "", item, first.Item, last.Item, last.End-first.At))
		}
		skipped = false
	}
	for p := range parts {
		if p.Item >= shownItems && !p.Cut {
			if !skipped {
				first, skipped = p, true
			}
			last = p
			continue
		}
		flush()
		title := p.Name
		if p.Item >= 0 {
			title = fmt.Sprintf("%s %d: %s", item, p.Item, p.Name)
		}
		rows = append(rows, s.field(title, p, b[p.At:p.End])...)
	}
	flush()
	return rows
}

// field returns the rows of the field p, whose bytes are v, under a title.
func (s sheet) field(title string, p wire.Part, v []byte) []string {
	n := s.perRow()
	room := max(s.width-(dumpIndent+4+2+3*n-1+2), 20)
	text := label(title, p, v, room)
	var rows []string
	for at := 0; at == 0 || at < len(v) && len(rows) < fieldRows; at += n {
		row := v[at:min(at+n, len(v))]
		if rest := len(v) - at - len(row); len(rows) == fieldRows-1 && rest > 0 {
			text = "… " + console.Plural(rest, "byte") + " more"
		}
		line := fmt.Sprintf("%*s%04x  %-*s  %s", dumpIndent, "", p.At+at, 3*n-1, fmt.Sprintf("% x", row), text)
		rows = append(rows, strings.TrimRight(line, " "))
		text = ""
	}
	return rows
}

// label returns the title of a field and its value, in at most room characters.
func label(title string, p wire.Part, v []byte, room int) string {
	text := title + " "
	switch {
	case p.Cut && len(v) == 0:
		text += "is missing: the message ends here"
	case p.Cut:
		text += "is cut: the message ends inside it"
	case p.Text:
		return text + console.Quoted(string(bytes.TrimSuffix(v, []byte{0})), max(room-len(text)-2, 8))
	default:
		text += value(p.Name, v)
	}
	return console.Plain(text, room)
}

// value describes the value of a field that is no text.
func value(name string, v []byte) string {
	u := number(v)
	switch name {
	case "header":
		return "-1: a single message"
	case "split header":
		return "-2: a fragment"
	case "kind":
		return fmt.Sprintf("%s: %s", letter(v[0]), kindWord(wire.Kind(v[0])))
	case "server type":
		return letterAndWord(v[0], wire.ServerType(v[0]))
	case "environment":
		return letterAndWord(v[0], wire.Environment(v[0]))
	case "password", "VAC", "is mod":
		return boolWord(v[0])
	case "extra data flag":
		return fmt.Sprintf("0x%02x: %s", v[0], extraWords(v[0]))
	case "score", "deaths", "money":
		return fmt.Sprint(int32(u))
	case "duration":
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(u))), 'f', -1, 32) + " s"
	case "split ID", "CRC-32":
		return fmt.Sprintf("0x%08x", u)
	case "number and total":
		return fmt.Sprintf("%d of %d", v[0]>>4, v[0]&15)
	case "challenge":
		return fmt.Sprintf("% x", v)
	case "payload", "number, total and payload", "no mod block", "left over", "content":
		return fmt.Sprintf("%d bytes, %s", len(v), console.Quoted(string(v[:min(len(v), 100)]), 60))
	}
	return fmt.Sprint(u)
}

// letterAndWord formats a byte and the word that it stands for, if it has one. A
// number with a word is shown as a number: 1 is document 002's dedicated server.
func letterAndWord(c byte, word string) string {
	switch {
	case word == "":
		return letter(c) + ": unknown"
	case c < 0x20:
		return fmt.Sprintf("%d: %s", c, word)
	}
	return letter(c) + ": " + word
}

// number reads a little-endian number of up to eight bytes.
func number(v []byte) uint64 {
	var b [8]byte
	copy(b[:], v)
	return binary.LittleEndian.Uint64(b[:])
}

// letter formats a byte that stands for a letter.
func letter(c byte) string {
	if c >= 0x20 && c < 0x7F {
		return fmt.Sprintf("%q", rune(c))
	}
	return fmt.Sprintf("0x%02x", c)
}

// extraBits are the bits of the extra data flag, in the order of the fields that
// they announce.
var extraBits = []struct {
	bit  byte
	word string
}{{0x80, "port"}, {0x10, "Steam ID"}, {0x40, "SourceTV"}, {0x20, "keywords"}, {0x01, "game ID"}}

// extraWords lists the fields that the extra data flag announces.
func extraWords(flag byte) string {
	var words []string
	for _, e := range extraBits {
		if flag&e.bit != 0 {
			words = append(words, e.word)
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

func boolWord(c byte) string {
	switch c {
	case 0:
		return "0: no"
	case 1:
		return "1: yes"
	}
	return fmt.Sprintf("%d: yes, although only 0 and 1 are valid", c)
}

var kindWords = map[wire.Kind]string{
	wire.KindInfoRequest: "info request", wire.KindPlayersRequest: "players request", wire.KindRulesRequest: "rules request",
	wire.KindInfo: "info", wire.KindGoldSource: "info, obsolete GoldSource format",
	wire.KindPlayers: "players", wire.KindRules: "rules", wire.KindChallenge: "challenge", wire.KindPing: "ping reply",
	wire.KindBanned: "message: banned", wire.KindLimited: "message: too many queries",
}

// kindWord names a kind of message.
func kindWord(k wire.Kind) string {
	if word := kindWords[k]; word != "" {
		return word
	}
	return "unknown to A2S"
}
