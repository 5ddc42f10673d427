package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

func testConfig() fleet.Config {
	return fleet.Config{Network: netip.MustParsePrefix("127.1.0.0/24"), Ports: []uint16{27015}, Seed: 1}
}

// truthLines returns the records that WriteTruth writes.
func truthLines(t testing.TB, c fleet.Config, asked wire.Questions) (lines [][]byte) {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteTruth(&b, "test", asked); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		lines = append(lines, line)
	}
	return lines
}

// each returns a function that yields the lines one after the other, like the Next
// of a sink.Reader.
func each(lines [][]byte) func() ([]byte, error) {
	return func() ([]byte, error) {
		if len(lines) == 0 {
			return nil, io.EOF
		}
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}
}

// TestTruthIsTrue compares the truth with itself: unchanged, as another scan would
// write it, and as another program would format it.
func TestTruthIsTrue(t *testing.T) {
	c := testConfig()
	c.Network, c.Hostile = netip.MustParsePrefix("127.1.0.0/23"), 0.5
	c.HostileKinds = slices.DeleteFunc(fleet.HostileKinds(), func(k fleet.Kind) bool { return k == fleet.Flood64K }) // long
	rewritten := map[string]func([]byte) []byte{
		"as it is": func(line []byte) []byte { return line },
		"another scan": func(line []byte) []byte {
			line = bytes.Replace(line, []byte(`"scan":"test"`), []byte(`"scan":"other"`), 1)
			return bytes.Replace(line, []byte(`,"status"`), []byte(`,"tag":"x","status"`), 1)
		},
		"indented": func(line []byte) []byte {
			var b bytes.Buffer
			if err := json.Indent(&b, line, "", " "); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		},
	}
	for _, asked := range []wire.Questions{wire.AskAll, wire.AskInfo, wire.AskRules} {
		lines := truthLines(t, c, asked)
		for name, rewrite := range rewritten {
			var census [][]byte
			for i := range lines {
				census = append(census, rewrite(lines[len(lines)-1-i])) // in any order
			}
			r, err := Compare(c, asked, each(census))
			want := Report{Servers: len(lines), AsTheyAre: len(lines)}
			if err != nil || fmt.Sprint(r) != fmt.Sprint(want) {
				t.Errorf("%s, asked %b: %+v, %v, want %d", name, asked, r, err, len(lines))
			}
		}
	}
}

// spoiled is a census of one server whose record the test changes.
type spoiled struct {
	name     string
	kind     fleet.Kind
	old, new string // a regular expression in the record and what replaces it
	want     Report
	why      string // in the example
}

// as, less and wrong are the Reports of the three verdicts on a record.
var (
	as    = Report{Servers: 1, AsTheyAre: 1}
	less  = Report{Servers: 1, Less: 1}
	wrong = Report{Servers: 1, Wrong: 1}
)

const (
	allPlayers = `,"players":\[[^\]]*\]`
	allRules   = `,"rules":\{[^}]*\}`
	allInfo    = `,"info":\{.*?\},"players"`
)

var spoileds = []spoiled{
	{"nothing", fleet.Source, `$^`, ``, as, ""},
	{"another name", fleet.Source, `"name":"`, `"name":"not `, wrong, "the record differs from what the server sends"},
	{"no status", fleet.Source, `"status":"ok",`, ``, wrong, "status"},
	{"partial for no reason", fleet.Source, `"status":"ok"`, `"status":"partial"`, wrong, "status"},
	{"ok in spite of an error", fleet.Source, `"status":"ok"`, `"status":"ok","errors":{"info":"timeout"}`, wrong, "status"},
	{"an error without a meaning", fleet.Source, `"status":"ok"`, `"status":"partial","errors":{"info":"magic"}`, wrong, "magic"},
	{"rules timed out", fleet.Source, `"status":"ok"(.*)` + allRules, `"status":"partial","errors":{"rules":"timeout"}$1`, less, "lacks part"},
	{"rules timed out and there", fleet.Source, `"status":"ok"`, `"status":"partial","errors":{"rules":"timeout"}`, less, "lacks part"},
	{"rules banned", fleet.Source, `"status":"ok"(.*)` + allRules, `"status":"partial","errors":{"rules":"banned"}$1`, wrong, "banned"},
	{"rules absent", fleet.Source, allRules, ``, wrong, "the record differs from what the server sends"},
	{"a rule more", fleet.Source, `"rules":\{`, `"rules":{"x":"y",`, wrong, "the record differs from what the server sends"},
	{"a rule more and incomplete", fleet.Source, `"status":"ok"(.*)"rules":\{`, `"status":"partial","errors":{"rules":"incomplete"}$1"rules":{"x":"y",`, wrong, "the record differs from what the server sends"},
	{"a rule less and incomplete", fleet.Source, `"status":"ok"(.*),"[^"]*":"[^"]*"\}\}\n$`, `"status":"partial","errors":{"rules":"incomplete"}$1}}`, less, "lacks part"},
	{"a player less", fleet.Source, `,\{"index":[^{]*\}\]`, `]`, wrong, "the record differs from what the server sends"},
	{"a player less and incomplete", fleet.Source, `"status":"ok"(.*),\{"index":[^{]*\}\]`, `"status":"partial","errors":{"players":"incomplete"}$1]`, less, "lacks part"},
	{"another player and incomplete", fleet.Source, `"status":"ok"(.*)"score":`, `"status":"partial","errors":{"players":"incomplete"}$1"score":1`, wrong, "the record differs from what the server sends"},
	{"players timed out", fleet.Source, `"status":"ok"(.*)` + allPlayers, `"status":"partial","errors":{"players":"timeout"}$1`, less, "lacks part"},
	{"info timed out", fleet.Source, `"status":"ok"(.*)` + allInfo, `"status":"partial","errors":{"info":"timeout"}$1,"players"`, less, "lacks part"},
	{"announced what is not", fleet.Source, `,"rules":\{`, `,"players_announced":77,"rules":{`, wrong, "the record differs from what the server sends"},
	{"announced the truth", fleet.Source, `"status":"ok"(.*)` + allPlayers, `"status":"partial","errors":{"players":"incomplete"}$1,"players":[],"players_announced":3`, less, "lacks part"},
	{"announced a lie", fleet.Source, `"status":"ok"(.*)` + allPlayers, `"status":"partial","errors":{"players":"incomplete"}$1,"players":[],"players_announced":4`, wrong, "the record differs from what the server sends"},
	{"a note", fleet.Source, `"status":"ok"`, `"status":"ok","notes":["info.trailing"]`, wrong, "notes"},
	{"a message", fleet.Source, `"status":"ok"`, `"status":"ok","message":"hi"`, wrong, "message"},
	{"called unchallenged", fleet.Source, `"info":\{`, `"unchallenged":["info"],"info":{`, wrong, "unchallenged"},
	{"a key that is unknown", fleet.Source, `"status":`, `"mood":"good","status":`, wrong, "mood"},
	{"the m lost", fleet.Both, `,"address":"[^"]*"`, ``, less, "lacks part"},
	{"rules called whole", fleet.InfoOnly, `"status":"partial","errors":.*"rules":"timeout"\}`, `"status":"ok"`, wrong, "has no error"},
	{"another fault of a hostile server", fleet.Noise, `"rules":"malformed"`, `"rules":"bad_checksum"`, as, ""},
	{"no fault of a hostile server", fleet.Noise, `"rules":"malformed"`, `"rules":"truncated"`, wrong, "truncated"},
	{"made up of noise", fleet.Noise, `\}\n$`, `,"rules":{"a":"b"}}`, wrong, "the record differs from what the server sends"},
	{"a note left out", fleet.Ghosts, `"notes":\["players.count"\],`, ``, wrong, "the record lacks expected notes"},
	{"no reply", fleet.Source, `"status":"ok"`, `"status":"no_reply"`, Report{Servers: 1, Missing: 1}, "no record"},
	{"elsewhere", fleet.Source, `"ip":"127.`, `"ip":"128.`, Report{Servers: 1, Missing: 1, Invented: 1}, "never answers"},
	{"another port", fleet.Source, `"port":\d+`, `"port":1`, Report{Servers: 1, Missing: 1, Invented: 1}, "never answers"},
	{"twice", fleet.Source, `(?s)(.*)`, "$1$1", Report{Servers: 1, AsTheyAre: 1, Twice: 1}, "second"},
	{"not there", fleet.Source, `(?s).*`, "", Report{Servers: 1, Missing: 1}, "no record"},
	{"a record of a silent server", fleet.Silent, `(?s).*`, `{"schema":1,"ip":"127.1.0.1","port":27015,"status":"error"}`, Report{Invented: 1}, "never answers"},
	{"no reply of a silent server", fleet.Silent, `(?s).*`, `{"schema":1,"ip":"127.1.0.1","port":27015,"status":"no_reply"}`, Report{}, ""},
	{"another address", fleet.Source, `"addr":"127.1.0.1`, `"addr":"127.1.0.2`, wrong, "but encoding its Result again gives"},
	{"another hash", fleet.Source, `"players":"[0-9a-f]{4}`, `"players":"0000`, wrong, "hashes.players"},
	{"games as they are", fleet.Games, `\}\n$`, `,"flags":["conflict"]}`, as, ""}, // timing decides
	{"another value of a game", fleet.Games, `"game":\{"id":"`, `"game":{"id":"x`, wrong, "the value of the key \"game\" is"},
	{"another number of a game", fleet.Games, `("game":\{.*"players":\d+)`, `${1}0`, wrong, "the value of the key \"game\" is"},
	{"no game", fleet.Games, `,"game":\{"id".*\}\}`, `}`, wrong, "the value of the key \"game\" is"},
	{"a flag more", fleet.Games, `\}\n$`, `,"flags":["no_gslt"]}`, wrong, "flags are"},
	{"game without its rules", fleet.Games, `"status":"ok"(.*)` + allRules, `"status":"partial","errors":{"rules":"timeout"}$1`, wrong, "the value of the key \"game\" is"},
	{"two faults", fleet.Source, `"status":"ok"(.*)` + allInfo + `.*` + allRules, `"status":"error","errors":{"info":"timeout","players":"timeout","rules":"timeout"}$1`, less, "lacks part"},
}

// plain reports whether the strings of r are free of characters that could confuse
// the expressions of spoileds.
func plain(r *scanner.Result) bool {
	texts := append([][]byte{r.Info.Name, r.Info.Keywords}, r.Rules[0].Value)
	for _, p := range r.Players {
		texts = append(texts, p.Name)
	}
	return !bytes.ContainsAny(bytes.Join(texts, nil), `[]{},"\`)
}

// oneServer returns a fleet of one server of a kind whose record has no oddities
// except a count of players. A Source server has three players and plain names; a
// Games server is a Rust server with players.
func oneServer(t *testing.T, k fleet.Kind) fleet.Config {
	c := testConfig()
	c.Network = netip.MustParsePrefix("127.1.0.1/32")
	if k.Hostile() {
		c.Hostile, c.HostileKinds = 1, []fleet.Kind{k}
	} else {
		c.Kinds = []fleet.Kind{k}
	}
	at := netip.AddrPortFrom(c.Network.Addr(), c.Ports[0])
	for range 10000 {
		n, _ := c.Nature(at)
		r := c.Truth(at, wire.AskAll)
		odd := r != nil && (r.Notes&^wire.NotePlayersCount != 0 || r.RulesAnnounced >= 0)
		fits := !odd && (r != nil && len(r.Rules) > 2 || k.Hostile() || k == fleet.Silent || k == fleet.InfoOnly)
		if k == fleet.Games {
			fits = n.Game == "rust" && r.Game != nil && len(r.Players) > 0
		}
		if fits && k == fleet.Source {
			fits = len(r.Players) == 3 && r.PlayersAnnounced < 0 && plain(r)
		}
		if fits {
			return c
		}
		c.Seed++
	}
	t.Fatal("no such server")
	return c
}

// TestCompare changes the record of one server in many ways.
func TestCompare(t *testing.T) {
	for _, s := range spoileds {
		t.Run(s.name, func(t *testing.T) {
			c := oneServer(t, s.kind)
			truth := string(bytes.Join(truthLines(t, c, wire.AskAll), nil))
			census := regexp.MustCompile(s.old).ReplaceAllString(truth, s.new)
			if census == truth && s.name != "nothing" {
				t.Fatalf("%s does not occur in %s", s.old, truth)
			}
			var lines [][]byte
			for line := range bytes.Lines([]byte(census)) {
				lines = append(lines, line)
			}
			got, err := Compare(c, wire.AskAll, each(lines))
			if err != nil {
				t.Fatal(err)
			}
			examples := strings.Join(got.Examples, "\n")
			got.Examples = nil
			if fmt.Sprint(got) != fmt.Sprint(s.want) || !strings.Contains(examples, s.why) {
				t.Errorf("%+v, want %+v because %q\n%s\n%s", got, s.want, s.why, examples, census)
			}
			if strings.ContainsAny(examples, "\x1b\u202e\x07") {
				t.Errorf("not safe for a terminal: %q", examples)
			}
		})
	}
}

// TestCompareBoth checks a record that has only the 'm' of a Both server: it lacks
// something on a network without loss, and is as it should be on a network with
// loss.
func TestCompareBoth(t *testing.T) {
	c := oneServer(t, fleet.Both)
	truth, err := fleet.NewCensus(c)
	if err != nil {
		t.Fatal(err)
	}
	e := truth.Expect(netip.MustParseAddrPort("127.1.0.1:27015"), wire.AskInfo)
	r := *e.Result
	r.Info = *e.Else
	got, err := Compare(c, wire.AskInfo, each([][]byte{record.Append(nil, "", &r)}))
	if err != nil || got.Less != 1 {
		t.Errorf("%+v, %v, want less", got, err)
	}
	c.Loss = 0.02 // now the 'I' may have been lost
	got, err = Compare(c, wire.AskInfo, each([][]byte{record.Append(nil, "", &r)}))
	if err != nil || got.AsTheyAre != 1 {
		t.Errorf("%+v, %v, want as it is", got, err)
	}
}

// TestCompareRefuses checks that Compare returns an error for a line that is not a
// record, and for a census that can't be read.
func TestCompareRefuses(t *testing.T) {
	for _, line := range []string{
		``, `x`, `[]`, `{"ip":"127.0.0.1"`, `{"schema":1}`, `{"ip":"::1","port":5,"status":"ok"}`,
		`{"ip":"127.0.0.1","port":70000}`, `{"ip":"127.0.0.1","port":5,"status":"ok"}x`,
	} {
		if _, err := Compare(testConfig(), wire.AskAll, each([][]byte{[]byte(line)})); err == nil {
			t.Errorf("%q was taken for a record", line)
		}
	}
	broken := func() ([]byte, error) { return nil, io.ErrUnexpectedEOF }
	if _, err := Compare(testConfig(), wire.AskAll, broken); err == nil {
		t.Error("an unreadable census was compared")
	}
}
