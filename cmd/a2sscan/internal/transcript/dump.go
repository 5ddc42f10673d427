package transcript

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/wire"
)

// These constants determine how one datagram is shown.
const (
	shownItems = 3 // maximum number of players or rules
	fieldRows  = 2 // maximum number of rows per field
	dumpIndent = 4
	wideSheet  = 110 // from this width on, a row has 16 bytes instead of 8
)

// rows returns the bytes of b in hexadecimal digits, with their meaning beside them. Of a
// list, it shows only the first items. If the message is truncated, it also shows the
// field that is cut or missing. All text is escaped and limited in length, because the
// bytes are hostile.
func (s *Session) rows(b []byte, parts iter.Seq[wire.Part]) (rows []string) {
	item := "rule"
	if wire.KindOf(b) == wire.KindPlayers {
		item = "player"
	}
	var first wire.Part // first of several adjacent fields that are not shown
	for p := range parts {
		if p.Item >= shownItems && !p.Cut {
			if first.End == 0 {
				first = p
				rows = append(rows, "")
			}
			rows[len(rows)-1] = fmt.Sprintf("%*s…  %ss %d to %d, %d bytes",
				dumpIndent+3, "", item, first.Item, p.Item, p.End-first.At)
			continue
		}
		first = wire.Part{}
		title := p.Name + " "
		if p.Item >= 0 {
			title = fmt.Sprintf("%s %d: %s", item, p.Item, title)
		}
		rows = append(rows, s.field(title, p, b)...)
	}
	return rows
}

// field returns the rows that show the field p of msg. The text beside the bytes begins
// with title.
func (s *Session) field(title string, p wire.Part, msg []byte) (rows []string) {
	n := 8
	if s.Width >= wideSheet {
		n = 16
	}
	room := max(s.Width-(dumpIndent+4+2+3*n-1+2), 20)
	b := msg[p.At:p.End]
	text := ""
	switch {
	case p.Cut && len(b) == 0:
		text = console.Plain(title+"is missing: the message ends here", room)
	case p.Cut:
		text = console.Plain(title+"is cut: the message ends inside this field", room)
	case p.Text:
		text = title + console.Quoted(string(bytes.TrimSuffix(b, []byte{0})), max(room-len(title)-2, 8))
	default:
		text = console.Plain(title+value(p.Name, b, msg), room)
	}
	for at := 0; at == 0 || at < len(b) && len(rows) < fieldRows; at += n {
		row := b[at:min(at+n, len(b))]
		if rest := len(b) - at - len(row); len(rows) == fieldRows-1 && rest > 0 {
			text = "… " + console.Plural(rest, "byte") + " more"
		}
		line := fmt.Sprintf("%*s%04x  %-*s  %s", dumpIndent, "", p.At+at, 3*n-1, fmt.Sprintf("% x", row), text)
		rows = append(rows, strings.TrimRight(line, " "))
		text = ""
	}
	return rows
}

// value describes a field that is not text. The bytes of the field are in v, and the whole
// message is in msg.
func value(name string, v, msg []byte) string {
	var wide [8]byte // a little-endian number
	copy(wide[:], v)
	u := binary.LittleEndian.Uint64(wide[:])
	switch name {
	case "header":
		return "-1: a single message"
	case "split header":
		return "-2: a fragment"
	case "kind":
		return letter(v) + ": " + kindWord(msg)
	case "server type":
		return letter(v) + ": " + cmp.Or(wire.ServerType(v[0]), "unknown")
	case "environment":
		return letter(v) + ": " + cmp.Or(wire.Environment(v[0]), "unknown")
	case "password", "VAC", "is mod":
		if u > 1 {
			return fmt.Sprintf("%d: yes, although only 0 and 1 are valid", u)
		}
		return [...]string{"0: no", "1: yes"}[u]
	case "extra data flag":
		return fmt.Sprintf("0x%02x", u) // this byte announces which fields follow
	case "score", "deaths", "money":
		return fmt.Sprint(int32(u))
	case "duration":
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(u))), 'f', -1, 32) + " s"
	case "split ID", "CRC-32":
		return fmt.Sprintf("0x%08x", u)
	case "number and total":
		return fmt.Sprintf("%d of %d", u>>4, u&15)
	case "challenge":
		return fmt.Sprintf("% x", v)
	case "payload", "number, total and payload", "no mod block", "left over", "content":
		return fmt.Sprintf("%s, %s", console.Plural(len(v), "byte"), console.Quoted(string(v[:min(len(v), 100)]), 60))
	}
	return fmt.Sprint(u)
}

func letter(v []byte) string { return "'" + console.Plain(string(v), 4) + "'" }

const unknownKind = "unknown to A2S"

var kindWords = map[wire.Kind]string{
	wire.KindInfoRequest: "info request", wire.KindPlayersRequest: "players request",
	wire.KindRulesRequest: "rules request", wire.KindChallengeRequest: "request for a challenge",
	wire.KindPingRequest: "ping", wire.KindInfo: "info",
	wire.KindGoldSource: "info, obsolete GoldSource format", wire.KindPlayers: "players",
	wire.KindRules: "rules", wire.KindChallenge: "challenge", wire.KindPing: "ping reply",
	wire.KindBanned: "message: banned", wire.KindLimited: "message: too many queries",
	wire.KindRedirect: "message: connect to another server",
}

func kindWord(msg []byte) string {
	k := wire.KindOf(msg)
	if _, err := wire.DecodeText(msg); k == wire.KindRedirect && err != nil { // a game's own message (EC-23)
		return unknownKind
	}
	return cmp.Or(kindWords[k], unknownKind)
}
