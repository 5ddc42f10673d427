package censusfile

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

const one = `{"schema":1,"ip":"203.0.113.7","port":27015,"addr":"203.0.113.7:27015","status":"ok","rtt_ms":12.34,` +
	`"info":{"name":"【日本】サーバー","map":"de_dust2","game":"Counter-Strike","players":12,"max_players":24,"bots":2},` +
	`"players":[{"name":"a"},{"name":"b"}],"rules":{"sv_gravity":"-800","a.b":"=1+1","empty":""}}`

// corrected is a record whose game has its own count of people.
const corrected = `{"addr":"203.0.113.8:28015","status":"ok","info":{"players":86,"max_players":63,"bots":9},` +
	`"game":{"name":"Rust","players":547,"max_players":575,"bots":0}}`

// row returns the row for a record, to which it adds the key schema if that is missing.
func row(t *testing.T, tab *Table, record []byte) string {
	t.Helper()
	if !strings.Contains(string(record), `"schema"`) {
		record = append([]byte(`{"schema":1,`), record[1:]...)
	}
	text, err := tab.Row(record)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func table(t *testing.T, format Format, fields string, width int) *Table {
	t.Helper()
	var screen Display
	if width > 0 {
		screen.Width = func() int { return width }
	}
	var list []string
	if fields != "" {
		list = strings.Split(fields, ",")
	}
	tab, err := NewTable(format, list, screen)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestRows(t *testing.T) {
	for _, test := range []struct {
		format               Format
		fields, record, want string
	}{
		{CSV, "ip,port,info.name,rules.sv_gravity", one, "203.0.113.7,27015,【日本】サーバー,-800"},
		{CSV, "rules.a.b,rules.empty,rules.none", one, "'=1+1,,"},
		{TSV, "addr,players.1.name,rtt_ms", one, "203.0.113.7:27015\tb\t12.34"},
		{CSV, "info.players,info.max_players,info.bots,rtt_ms,port,players.0.duration",
			`{"schema":1,"port":27015.0,"rtt_ms":1.5e0,"info":{"players":100.0,"max_players":1e2,"bots":-0},"players":[{"duration":1e30}]}`,
			"100,100,0,1.5e0,27015,1e30"},
		{CSV, "people,capacity,bots", one, "10,24,2"},
		{CSV, "people,capacity,bots", corrected, "547,575,0"},
		{JSON, "addr,info.map,geo.country,rules.a.b", one, `{"addr":"203.0.113.7:27015","info.map":"de_dust2","rules.a.b":"=1+1"}`},
		{JSON, "port,addr,port", one, `{"port":27015,"addr":"203.0.113.7:27015"}`},
		{CSV, "port,addr,port", one, "27015,203.0.113.7:27015,27015"},
		{Text, "", one, "203.0.113.7:27015       12 ms    10/24+2 de_dust2             Counter-Strike       【日本】サーバー"},
		{Text, "", corrected, "203.0.113.8:28015           -    547/575                      Rust"},
		{Text, "", `{"addr":"203.0.113.9:1","status":"no_reply"}`, "203.0.113.9:1               -   no reply"},
		{Text, "", `{"addr":"203.0.113.9:1","tag":"the old one","status":"no_reply"}`,
			"203.0.113.9:1               -   no reply                                           the old one"},
		{Text, "", `{"addr":"203.0.113.9:1","tag":"mine","status":"ok","info":{"name":"A"}}`,
			"203.0.113.9:1               -         ok                                           A [mine]"},
		{Text, "", `{"addr":"203.0.113.9:1","info":{"map":"DayZ_Auto","players":1},"game":{"id":"dayz","map":"sakhal"}}`,
			"203.0.113.9:1               -          1 sakhal"},
		{Text, "port,info.map,addr", one, "27015 de_dust2             203.0.113.7:27015"},
	} {
		if got := row(t, table(t, test.format, test.fields, 0), []byte(test.record)); got != test.want {
			t.Errorf("%s %s:\n%q, want\n%q", test.format, test.fields, got, test.want)
		}
	}
}

// TestRowFaults: a fault in a field is a fault of the record, in every format and whatever
// other fields are chosen.
func TestRowFaults(t *testing.T) {
	for _, test := range []struct{ record, fields, want string }{
		{`{"info":{"players":1e400}}`, "info.players", "info.players: 1e400 is not of type integer"},
		{`{"info":{"players":1.5}}`, "info.players", "info.players: 1.5 is not of type integer"},
		{`{"info":{"players":1.5}}`, "info", "info.players: 1.5 is not of type integer"},
		{`{"info":{"players":1,"x":1e400}}`, "info", "info: the number 1e400 is too large"},
		{`{"info":{"players":50,"name":"\ud800"}}`, "info.name", "is not JSON"},
		{`{"info":{"players":50,"x":"\ud800","name":"a"}}`, "info.name", "is not JSON"},
		{`{"players":[{"duration":1e400}]}`, "players", "players.duration: 1e400 is not of type number"},
		{`{"players":[{"duration":1e400}]}`, "players.0.duration", "players.duration: 1e400 is not of type number"},
		{`{"master":{"x":{"y":1e400}}}`, "master.x.y", "master.x.y: the number 1e400 is too large"},
		{`{"rtt_ms":-1}`, "rtt_ms", "rtt_ms: -1 is not of type number"},
		{`{"rules":{"a":1}}`, "rules.a", `rules: "a": 1 is not of type string`},
	} {
		for _, format := range Formats {
			for _, more := range []string{"", ",addr", ",people", ",info.max_players", ",sent,tag"} {
				line := `{"schema":1,"addr":"1.2.3.4:5",` + test.record[1:]
				got, err := table(t, format, test.fields+more, 0).Row([]byte(line))
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s %s: %s, %v, want %s", test.fields+more, line, got, err, test.want)
				}
			}
		}
	}
}

// TestNamed: name and tag share the width, and each has at least half of it if it needs that.
func TestNamed(t *testing.T) {
	for _, test := range []struct {
		name, tag string
		width     int
		want      string
	}{
		{"a server", "tag", 20, "a server [tag]"},
		{"a server", "", 5, "a se…"},
		{"", "a tag", 4, "a t…"},
		{"a server with a long name", "tag", 20, "a server with… [tag]"},
		{"a server", "a tag that is long", 20, "a server [a tag th…]"},
		{"a server with a long name", "a tag that is long", 20, "a server… [a tag t…]"},
	} {
		s := server{name: test.name, tag: test.tag}
		if got := s.named(test.width); got != test.want || console.Columns(got) > test.width {
			t.Errorf("%q, %q: %q, want %q", test.name, test.tag, got, test.want)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, test := range []struct {
		format Format
		fields string
		want   string
	}{
		{CSV, "ip,info.name", "ip,info.name\n"}, {TSV, "ip,info.name", "ip\tinfo.name\n"}, {JSON, "ip", ""},
		{CSV, "", strings.Join(UsualFields, ",") + "\n"}, {Text, "port,addr", "port  addr\n"},
		{Text, "", "ADDRESS                   RTT    PLAYERS MAP                  GAME                 NAME\n"},
	} {
		if got := string(table(t, test.format, test.fields, 0).Header()); got != test.want {
			t.Errorf("%s %s: %q", test.format, test.fields, got)
		}
	}
}

// TestWidth: no line is wider than the screen, wide characters count as two
// columns, and the last column stays free.
func TestWidth(t *testing.T) {
	for _, width := range []int{70, 80, 81, 82, 83, 200} {
		for _, fields := range []string{"", "info.name,addr,info.name"} {
			tab := table(t, Text, fields, width)
			long := strings.Replace(one, "サーバー", strings.Repeat("サーバー", 40), 1)
			text := row(t, tab, []byte(long))
			if w := columnsOf(text); w >= width || w < width-3 {
				t.Errorf("%d columns on a screen of %d: %s", w, width, text)
			}
			if !strings.HasSuffix(text, "…") {
				t.Errorf("a shortened line does not end with …: %s", text)
			}
		}
	}
}

// columnsOf counts the columns of a line whose wide characters are all U+3000 or above.
func columnsOf(row string) (n int) {
	for _, r := range row {
		if n++; r >= 0x3000 {
			n++
		}
	}
	return n
}

// hostile are names that attack terminals and spreadsheets.
var hostile = []string{
	"\x1b]0;owned\x07\x1b[2J", "=cmd|'/c calc'!A1", "+1+1", "-2+3", "@SUM(A1)", " =1", "\t=1", "\r\n=1", "a\nb", `"; =1`,
	"\u202egnp.exe", "\u2028x", "a\tb", "＝1+1", "\x9b31m",
}

// TestHostile: whatever the name of a server, a row is one line of visible
// characters, and no cell is a formula.
func TestHostile(t *testing.T) {
	for _, name := range hostile {
		record := []byte(`{"addr":"203.0.113.7:1","info":{"players":1,"name":` + quote(name) + `}}`)
		for _, format := range []Format{CSV, TSV, Text} {
			for _, fields := range []string{"", "info.name,addr"} {
				text := row(t, table(t, format, fields, 0), record)
				if plain := strings.ReplaceAll(text, "\t", " "); console.Plain(plain, noLimit) != plain {
					t.Errorf("%s of %q: %q", format, name, text)
				}
				if format == CSV {
					checkCells(t, text, name)
				}
			}
		}
	}
}

// checkCells fails the test if a cell of a text begins like a formula.
func checkCells(t *testing.T, row, name string) {
	t.Helper()
	cells, err := csv.NewReader(strings.NewReader(row)).Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range cells {
		if strings.ContainsAny(strings.TrimSpace(cell + " ")[:min(1, len(strings.TrimSpace(cell)))], "=+-@") {
			t.Errorf("a formula of %q: %q", name, cell)
		}
	}
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < 0x20 || r == '"' || r == '\\' || r > 0x7E {
			b.WriteString(strings.ReplaceAll("\\u%", "%", hex4(r)))
			continue
		}
		b.WriteRune(r)
	}
	return b.String() + `"`
}

func hex4(r rune) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
}

func TestUnknownFields(t *testing.T) {
	for field, hint := range map[string]string{
		"name": "did you mean info.name?", "info.nme": "did you mean info.name?", "country": "did you mean geo.country?",
		"rules.": "", "zzzzzzzzzzzz": "a2sscan schema json lists all",
	} {
		_, err := NewTable(CSV, []string{"ip", field}, Display{})
		f, ok := err.(*console.Failure)
		if !ok || !strings.Contains(f.Hint, hint) {
			t.Errorf("%s: %v, hint %v", field, err, f)
		}
	}
	if _, err := NewTable(Text, []string{"master.gamedir", "geo.asn", "game.attributes.world.seed", "players.0.name", "people"}, Display{}); err != nil {
		t.Error(err)
	}
}
