package record

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// oldRust is the beginning of a record from a version that did not decode games.
const oldRust = `{"schema":1,"ip":"192.0.2.1","port":28015,"status":"ok","rtt_ms":20,"took_ms":40,"sent":4,` +
	`"received":4,"sent_bytes":75,"later":{"a":1},"received_bytes":200,"info":{"format":"source","protocol":17,"name":"r",` +
	`"map":"Procedural Map","folder":"rust","game":"Rust","app_id":252490,"players":86,"max_players":63,"bots":0,` +
	`"server_type":"dedicated","environment":"linux","password":false,"vac":true,"version":"2511","edf":33,` +
	`"keywords":"mp575,cp547,qp12,dest=192.0.2.9:28015","game_id":"252490"},"players":[]`

// TestAddGame: AddGame inserts game and flags in a record that lacks them, changes
// nothing else, and changes nothing the second time.
func TestAddGame(t *testing.T) {
	for _, tail := range []string{"}", `,"raw":["AA=="],"geo":{"country":"DE"},"master":{}}`, `,"origins":[]}`, ` }`} {
		var i scanner.Interpreter
		line, err := AddGame([]byte("before "), []byte(oldRust+tail), &i)
		if err != nil {
			t.Fatal(err)
		}
		line = bytes.TrimPrefix(line, []byte("before "))
		var v struct {
			Game struct {
				ID      string
				Players int
				Sources map[string]string
			}
			Flags []string
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		want := []string{game.FlagRules[1].Word, game.FlagRules[6].Word} // count_mismatch, redirect
		if v.Game.ID != "rust" || v.Game.Players != 547 || v.Game.Sources["players"] != "keywords.cp" ||
			!reflect.DeepEqual(v.Flags, want) {
			t.Errorf("%+v, want flags %q: %s", v, want, line)
		}
		if err := check(line); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		from, to := bytes.Index(line, []byte(`,"game":`)), bytes.Index(line, []byte(`]`+tail[:1]))
		if !strings.HasPrefix(string(line), oldRust) || !strings.HasSuffix(string(line), tail) || from < 0 || to < 0 {
			t.Errorf("more was changed: %s", line)
		}
		if again, err := AddGame(nil, line, &i); err != nil || !bytes.Equal(again, line) {
			t.Errorf("once more: %s, %v", again, err)
		}
	}
}

// TestAddGameNothing: a record stays as it is if it has no answers, or if its
// answers give neither game nor flags.
func TestAddGameNothing(t *testing.T) {
	var i scanner.Interpreter
	for _, line := range []string{
		`{"schema":1,"status":"no_reply"}`, `{"schema":1,"info":{"app_id":1}}`, `{"schema":1}`,
		`{"schema":1,"rules":{"a":"b"}}`,
	} {
		if got, err := AddGame(nil, []byte(line), &i); err != nil || string(got) != line {
			t.Errorf("%s became %s, %v", line, got, err)
		}
	}
	for _, line := range []string{``, `{`, `[]`, `{"schema":2,"info":{}}`, `{"info":{}}`} {
		if got, err := AddGame(nil, []byte(line), &i); err == nil || len(got) > 0 {
			t.Errorf("%s is no record and became %s", line, got)
		}
	}
}

// TestDifferencesOld: Differences ignores meaningKeys if a record lacks all of
// them, as in earlier versions, but not if it lacks only some.
func TestDifferencesOld(t *testing.T) {
	full := Append(nil, "s", full())
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(full, &keys); err != nil {
		t.Fatal(err)
	}
	delete(keys, "game")
	lacking, _ := json.Marshal(keys)
	if ds, err := Differences(lacking, full); err != nil || len(ds) == 0 || !strings.HasPrefix(ds[0].Key, "game") {
		t.Errorf("without game: %v, %v", ds, err)
	}
	for _, key := range []string{"addr", "rtts_ms", "hashes", "game", "flags"} {
		delete(keys, key)
	}
	old, _ := json.Marshal(keys)
	if ds, err := Differences(old, full); err != nil || len(ds) > 0 {
		t.Errorf("of an earlier version: %v, %v", ds, err)
	}
}

// TestAttributeSources: an attribute has a source unless it came from the keywords.
// Read returns both kinds.
func TestAttributeSources(t *testing.T) {
	r := blank()
	r.Game = &game.Game{ID: "rust", Attributes: []game.Attribute{
		{Name: "difficulty", Value: []byte("1"), Source: "rules.pages"},
		{Name: "framework", Value: []byte("oxide"), Source: "keywords.^"},
		{Name: "modes", Value: []byte("cp,ctf"), Source: "keywords"},
		{Name: "port", Value: []byte("2302"), Source: "keywordsx"},
	}}
	line := Append(nil, "", r)
	if want := `"sources":{"attributes.difficulty":"rules.pages","attributes.port":"keywordsx"}`; !bytes.Contains(line, []byte(want)) {
		t.Errorf("%s lacks %s", line, want)
	}
	_, again, err := Read(line)
	r.Game.Attributes[1].Source = "keywords"
	if err != nil || !reflect.DeepEqual(again.Game.Attributes, r.Game.Attributes) {
		t.Errorf("read again: %+v, %v", again.Game.Attributes, err)
	}
	var e Encoder
	if n := testing.AllocsPerRun(100, func() { line = e.Append(line[:0], "", r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
