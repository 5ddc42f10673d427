package wire_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/captures"
	"github.com/a2sscan/a2sscan/wire"
)

// captureKeys maps the field names used in captures to those used in vectors.
var captureKeys = map[string]string{
	"appid":    "app_id",
	"type":     "server_type",
	"os":       "environment",
	"password": "visibility",
	"port":     "game_port",
	"steamid":  "steam_id",
	"gameid":   "game_id",
}

// TestCaptures decodes replies captured from real servers, if the captures are
// available, and compares the result with that of another parser.
func TestCaptures(t *testing.T) {
	for _, file := range captures.Files(t) {
		t.Run(captures.Name(file), func(t *testing.T) {
			checkCapture(t, captures.Datagrams(t, file), readMeaning(t, file))
		})
	}
}

// meaning is the content of a capture as another parser read it.
type meaning struct {
	Info       map[string]any
	GoldSource map[string]any `json:"info_goldsrc"`
	Players    []any
	Rules      []any
}

// loneByte matches the escape with which captures write a byte that is not valid
// UTF-8.
var loneByte = regexp.MustCompile(`\\udc([89a-f][0-9a-f])`)

func readMeaning(t *testing.T, file string) (m meaning) {
	b, err := os.ReadFile(captures.Meaning(file))
	check(t, err)
	b = loneByte.ReplaceAll(b, []byte(`\uf0$1`))
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	check(t, d.Decode(&m))
	return m
}

// checkCapture decodes each message of a capture and compares it with m. It also
// fails the test unless the capture has messages of exactly the kinds that m has.
func checkCapture(t *testing.T, datagrams [][]byte, m meaning) {
	seen := map[wire.Kind]bool{}
	for _, msg := range messages(t, datagrams) {
		kind := wire.KindOf(msg)
		seen[kind] = true
		switch kind {
		case wire.KindInfo:
			checkCapturedInfo(t, msg, m.Info, "source")
		case wire.KindGoldSource:
			checkCapturedInfo(t, msg, m.GoldSource, "goldsource")
		case wire.KindPlayers:
			checkCapturedPlayers(t, msg, m)
		case wire.KindRules:
			got := readRules(msg)
			t.Logf("rules: announced %d, got %d, notes %q, error %v",
				got.announced, len(got.all), noteWords(got.notes), got.err)
			diffRules(t, got.all, rulesOf(m.Rules))
		case wire.KindChallenge:
			if _, err := wire.DecodeChallenge(msg); err != nil {
				t.Errorf("challenge: %v", err)
			}
		default:
			t.Errorf("a message of kind %q", kind)
		}
	}
	if m.Info != nil != seen[wire.KindInfo] || m.GoldSource != nil != seen[wire.KindGoldSource] ||
		m.Players != nil != seen[wire.KindPlayers] || m.Rules != nil != seen[wire.KindRules] {
		t.Errorf("the messages %v are not what the capture should hold", seen)
	}
}

// messages returns the messages of a capture: those sent in a single datagram and
// those joined from fragments.
func messages(t *testing.T, datagrams [][]byte) (all [][]byte) {
	groups := map[uint32][][]byte{}
	for _, d := range datagrams {
		if !wire.IsSplit(d) {
			all = append(all, d)
			continue
		}
		id, err := wire.SplitID(d)
		check(t, err)
		groups[id] = append(groups[id], d)
	}
	for _, group := range groups {
		all = append(all, join(t, slices.Clip(group)))
	}
	return all
}

func checkCapturedInfo(t *testing.T, msg []byte, fields map[string]any, engine string) {
	var got wire.Info
	err := got.Decode(msg)
	t.Logf("info: notes %q, error %v", noteWords(got.Notes), err)
	want := map[string]any{"engine": engine}
	mod, ship := map[string]any{}, map[string]any{}
	for key, v := range fields {
		switch {
		case strings.HasPrefix(key, "mod_"):
			mod[strings.TrimPrefix(key, "mod_")] = v
		case strings.HasPrefix(key, "ship_"):
			ship[strings.TrimPrefix(key, "ship_")] = v
		case captureKeys[key] != "":
			want[captureKeys[key]] = v
		case key != "mod":
			want[key] = v
		}
	}
	if len(mod) > 0 {
		mod["download_link"] = mod["download"]
		want["mod"] = mod
	}
	if len(ship) > 0 {
		want["ship"] = ship
	}
	diffInfo(t, &got, infoOf(t, want))
	if err != nil {
		t.Errorf("error %v of a reply with the fields %v", err, fields)
	}
}

func checkCapturedPlayers(t *testing.T, msg []byte, m meaning) {
	want := playersOf(m.Players)
	hint := wire.ShipNo
	if m.Info["ship_mode"] != nil {
		hint = wire.ShipYes
	}
	got := readPlayers(msg, hint)
	t.Logf("players: announced %d, got %d, notes %q, error %v",
		got.announced, len(got.all), noteWords(got.notes), got.err)
	diffPlayers(t, got.all, want)
	diffPlayers(t, readPlayers(msg, wire.ShipUnknown).all, want)
	if got.err != nil {
		t.Error(got.err)
	}
}
