package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// TestReaderAgain: Append makes the same record again from the Record that a Reader
// returns, also if another program has written the record anew.
func TestReaderAgain(t *testing.T) {
	r := NewReader()
	for _, g := range golden {
		line := Append(nil, g.scan, g.result)
		var v any
		check(t, json.Unmarshal(line, &v))
		other, err := json.MarshalIndent(v, " ", "\t") // keys in another order
		check(t, err)
		escaped := append([]byte("\uFEFF "), escapedASCII(other)...)
		for _, written := range [][]byte{line, escaped} {
			rec, err := r.Read(written)
			if err != nil {
				t.Errorf("%s: %v", g.name, err)
				continue
			}
			again := Append(nil, rec.Scan, &rec.Result)
			if !bytes.Equal(again, line) && !sameValues(t, again, line) {
				t.Errorf("%s: %s\nbecame %s", g.name, line, again)
			}
		}
	}
}

// escapedASCII escapes every character beyond ASCII, as Python's json.dumps does.
func escapedASCII(b []byte) []byte {
	var out []byte
	for _, r := range string(b) {
		if r < 0x80 {
			out = append(out, byte(r))
			continue
		}
		q, _ := json.Marshal(string(r))
		if r > 0xFFFF || q[1] == '\\' {
			out = append(out, q[1:len(q)-1]...)
		} else {
			out = append(out, []byte{'\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15]}...)
		}
	}
	return out
}

// sameValues reports whether two records are equal except for the order of their keys.
func sameValues(t *testing.T, a, b []byte) bool {
	t.Helper()
	var values [2]any
	for i, line := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber() // numbers as they are written
		check(t, d.Decode(&values[i]))
	}
	return reflect.DeepEqual(values[0], values[1])
}

func TestReaderBad(t *testing.T) {
	r := NewReader()
	for line, want := range map[string]string{
		``:                                "is not JSON",
		`{`:                               "is not JSON",
		`[]`:                              "is not a record",
		`{}`:                              "is not a complete record: it lacks schema, ip, port, status",
		`{"addr":"1.2.3.4:5","people":7}`: "is not a complete record: it lacks schema, ip, port, status",
		`{"schema":2}`:                    "has records of schema 2, but this version of a2sscan knows only schema 1",
		`{"schema":1} x`:                  "text follows the closing brace",
		`{"schema":1,"status":1}`:         "status: 1 is not of type string",
		`{"schema":1,"notes":"x"}`:        `notes: "x" is not of type array`,
		`{"schema":1,"info":[]}`:          "info: [] is not of type object",
		`{"schema":1,"info":{"name":1}}`:  "info.name: 1 is not of type string",
		`{"schema":1,"info":{"players":4294967296}}`:  "info.players: 4294967296 is not of type integer from 0 to 4294967295",
		`{"schema":1,"info":{"steam_id":"x"}}`:        `info.steam_id: "x" is not of type 64-bit number in a string`,
		`{"schema":1,"info":{"server_type":"0xzz"}}`:  "info.server_type",
		`{"schema":1,"players":{}}`:                   "players: {} is not of type array",
		`{"schema":1,"info":{"players":1e400}}`:       "info.players: 1e400 is not of type integer from 0 to 4294967295",
		`{"schema":1,"rtt_ms":1e400}`:                 "rtt_ms: 1e400 is not of type number",
		`{"schema":1,"players":[{"duration":1e400}]}`: "players.duration: 1e400 is not of type number or null",
		`{"schema":1,"players":[{"duration":1e39}]}`:  "players.duration: 1e39 is not of type number or null",
		`{"schema":1,"players":[{"deaths":"x"}]}`:     "players.deaths",
		`{"schema":1,"rules":{"a":1}}`:                `rules: "a": 1 is not of type string`,
		`{"schema":1,"rules_raw":[["0","0"]]}`:        "rules_raw",
		`{"schema":1,"raw":["%"]}`:                    "raw",
	} {
		if _, err := r.Read([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// TestReaderWords: a Reader keeps short texts only, so that a census with long tags does
// not fill the memory.
func TestReaderWords(t *testing.T) {
	r := NewReader()
	for i := range 1000 {
		if _, err := r.Read(fmt.Appendf(nil, `{"schema":1,"tag":"%d%s"}`, i, strings.Repeat("x", 1000))); err != nil {
			t.Fatal(err)
		}
	}
	size := 0
	for s := range r.words {
		size += len(s)
	}
	if size > 100_000 {
		t.Errorf("the Reader keeps %d bytes", size)
	}
}

// TestReaderChosen: a Reader decodes the chosen keys, keeps others as they are written,
// and stops when it has all of them.
func TestReaderChosen(t *testing.T) {
	r := NewReader("addr", "info").Keep("hashes")
	line := Append(nil, "", full())
	cut := line[:bytes.Index(line, []byte(`"players":[`))+len(`"players":[`)]
	rec, err := r.Read(cut)
	check(t, err)
	if rec.Addr.String() != "203.0.113.7:27015" || string(rec.Info.Map) != "ctf_2fort" || rec.RTT != 0 ||
		rec.Has("players") || !rec.Has("rtt_ms") || !strings.HasPrefix(string(rec.Value("hashes")), `{"players":"0123`) {
		t.Errorf("%+v", rec)
	}
	if _, err := NewReader("addr", "game").Read(cut); err == nil {
		t.Error("a truncated record passes, though the wanted key is not there")
	}
}

func BenchmarkRead(b *testing.B) {
	line := Append(nil, "20261120T030000Z", typical(1))
	for name, r := range map[string]*Reader{"info": NewReader("addr", "info"), "all": NewReader(), "strict": NewReader().Strict()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Read(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestReadChosen: Append writes an equal record from the Result that Read returns,
// even where Read had to choose a value. Only an empty rules_raw is not written
// again.
func TestReadChosen(t *testing.T) {
	for _, line := range []string{
		`{"schema":1,"notes":["info.odd_boolean"],"info":{"password":true,"vac":false}}`,
		`{"schema":1,"info":{"server_type":"proxy","environment":"mac"}}`,
		`{"schema":1,"info":{"server_type":"0x00","environment":"0xff"}}`,
		`{"schema":1,"info":{"app_id":346110,"game_id":"346110"}}`,
		`{"schema":1,"players":[{"index":0,"name":"","score":0,"duration":null}],"players_announced":0}`,
		`{"schema":1,"rules":{"b":"1","a":"\u2028","":""},"rules_announced":0}`,
		`{"schema":1,"rules":{},"rules_raw":[]}`,
	} {
		scan, r, err := Read([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if again := Append(nil, scan, r); !sameValues(t, []byte(line), again) && line[len(line)-3:] != "[]}" {
			t.Errorf("%s became %s", line, again)
		}
	}
}

func TestReadAsked(t *testing.T) {
	tests := map[string]wire.Questions{
		`{"schema":1}`:                              0,
		`{"schema":1,"players":[]}`:                 wire.AskPlayers,
		`{"schema":1,"errors":{"rules":"timeout"}}`: wire.AskRules,
		`{"schema":1,"notes":["info.dropped"]}`:     wire.AskInfo,
	}
	for line, want := range tests {
		if _, r, err := Read([]byte(line)); err != nil || r.Asked != want {
			t.Errorf("%s: %v %v", line, r, err)
		}
	}
}

// FuzzRead checks that Read never panics, that it can read the record of a Result
// that it returned, and that this record stays the same.
func FuzzRead(f *testing.F) {
	for _, g := range golden {
		f.Add(Append(nil, g.scan, g.result))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		scan, r, err := Read(line)
		if err != nil {
			return
		}
		once := Append(nil, scan, r)
		checkRecord(t, once)
		if scan, r, err = Read(once); err != nil {
			t.Fatalf("%v: %s", err, once)
		}
		if twice := Append(nil, scan, r); !bytes.Equal(once, twice) {
			t.Errorf("%s became\n%s", once, twice)
		}
	})
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

// FuzzCursor compares a cursor with a jsontext.Decoder. Both find the same end of an object or
// array, whether they check it or skip it, and both reject the same text. So a strict Reader
// returns a syntax error for exactly the lines that the Decoder rejects.
func FuzzCursor(f *testing.F) {
	for _, g := range golden {
		line := Append(nil, g.scan, g.result)
		f.Add(line)
		f.Add(escapedASCII(line))
		f.Add(bytes.ReplaceAll(line, []byte(`":`), []byte("\" :\t")))
	}
	for _, line := range []string{
		`{"schema":1,"x":[1,{"a":[]}],"addr":"1.2.3.4:5","rules":{"a":"\\\"","\\":"}"},"game":{"players":3}}`,
		`{"schema":1,"info":{"name":"\ud83d\ude00\u00e9"},"master":{"a":[[[-0.1e+5,null,true,false]]]}}`,
		`{"schema":1,"info":{"name":"\ud83d"}}`, `{"schema":1,"status":"a" "b"}`, `{"schema":1,}`, `{"schema":1,"info":{,}}`,
		`{"schema":1,"info":{"name":"a",}}`, `{"schema":1,"players":[{"score":01}]}`, `{"schema":1}}`, `{"schema"::1}`, `{"schema" 1}`,
		`[{"schema":1}]`, `{"schema":1,"notes":["a"]]`, "{\"schema\":1,\"info\":{\"name\":\"a\x00\xff\"}}", `{"schema":1,"info":{"players":"`, "[\"\x1f\"]", "[\"\x7f\"]",
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		f.Add([]byte(line))
	}
	strict := NewReader().Strict()
	f.Fuzz(func(t *testing.T, line []byte) {
		c := cursor{b: line}
		if open := c.peek(); open != '{' && open != '[' {
			return
		}
		want, d := -1, jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true))
		if d.SkipValue() == nil {
			want = int(d.InputOffset())
		}
		if end, _ := valueEnd(line, c.at); end != want {
			t.Errorf("%s: ends at %d, want %d", line, end, want)
		}
		if end := skipEnd(line, c.at); want >= 0 && end != want {
			t.Errorf("%s: skipped to %d, want %d", line, end, want)
		}
		if _, err := strict.Read(line); want < 0 && c.peek() == '{' && !(err != nil && (strings.HasPrefix(err.Error(), "is not JSON: ") || len(strict.path) > 0)) {
			t.Errorf("%s: %v, want a syntax error", line, err)
		}
	})
}

// TestUntil: a Reader decodes a list only until its caller has enough, and reads the keys
// after the list. A list without an end is an error.
func TestUntil(t *testing.T) {
	line := `{"schema":1,"players":[{"name":"a"},{"name":"]}\"["},{"name":"c","score":[[]]}],"status":"ok"}`
	for enough, want := range map[int]int{1: 1, 2: 2, 3: 3, 9: 3} {
		calls := 0
		r := NewReader("players.name", "status").Until("players", func(rec *Record) bool {
			calls++
			return len(rec.Players) == enough
		})
		rec, err := r.Read([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if len(rec.Players) != want || calls != want || rec.Status != scanner.StatusOK {
			t.Errorf("%d are enough: %d players, %d calls, status %v", enough, len(rec.Players), calls, rec.Status)
		}
		cut := strings.Index(line, `,"score"`)
		if _, err := r.Read([]byte(line[:cut])); err == nil || !strings.Contains(err.Error(), "is not JSON") {
			t.Errorf("%d are enough, cut: %v", enough, err)
		}
	}
}

// TestCheckText: numbers beyond the range of a double are faults, wherever they are, but not text
// that looks like a number. Two records on one line are a fault.
func TestCheckText(t *testing.T) {
	for text, good := range map[string]bool{
		`1e400`: false, `-1E+400`: false, `1.5e0400`: false, `1e308`: true, `1e309`: false, `1e-400`: true, `100.0`: true, `1e2`: true,
		`"1e400"`: true, `["\"1e400",2]`: true, `{"1e400":1}`: true, `{"a":"1e400","b":1e400}`: false, `{"x7e999":[0,[9e999]]}`: false,
		`0.` + strings.Repeat("0", 300) + `1e308`: true, `{"hash":"7e99912345678901"}`: true, ``: true,
		`{"a":1}{"a":2}`: false, `{"a":"}{"}`: true, `{"a":"}{"}{"b":1}`: false,
	} {
		for n := range 9 {
			padded := strings.Repeat(" ", n) + text
			if err := Check([]byte(padded)); (err == nil) != good {
				t.Errorf("%q: %v", padded, err)
			}
		}
	}
}

// TestReaderJoined: no Reader accepts two records on one line, however few keys it needs.
func TestReaderJoined(t *testing.T) {
	const record = `{"schema":1,"addr":"1.2.3.4:5","tag":"}{","status":"ok","info":{"map":"a"},"players":[],"game":{"id":"rust"},"flags":[]}`
	for _, keys := range []string{"schema", "addr", "tag", "status", "info", "info.map", "players", "game.id", "flags", "addr info.map game.players"} {
		r := NewReader(strings.Fields(keys)...)
		if _, err := r.Read([]byte(record)); err != nil {
			t.Errorf("%s: %v", keys, err)
		}
		for _, between := range []string{"", " ", "\t", ",", "\r"} {
			if _, err := r.Read([]byte(record + between + record)); err == nil || !strings.Contains(err.Error(), "text follows the closing brace") {
				t.Errorf("%s: two records with %q between them: %v", keys, between, err)
			}
			if Check([]byte(record+between+record)) == nil {
				t.Errorf("%q: Check accepts two records", between)
			}
		}
		if _, err := r.Read([]byte(record[:len(record)-12] + record)); err == nil {
			t.Errorf("%s: a record begins inside another one", keys)
		}
	}
}

// TestReaderHex: the caller gets KEY_hex if it named the key, whatever other keys it named,
// and wherever the key is.
func TestReaderHex(t *testing.T) {
	for _, line := range []string{
		`{"schema":1,"addr":"1.2.3.4:5","tag":"a","tag_hex":"61ff","message":"m","message_hex":"6dff","sent":1}`,
		`{"message_hex":"6dff","schema":1,"sent":1,"tag":"a","addr":"1.2.3.4:5","message":"m","x":[],"tag_hex":"61ff"}`,
	} {
		for _, keys := range []string{"tag_hex", "tag_hex tag", "tag tag_hex", "addr message message_hex tag_hex", "addr message_hex sent tag_hex", "tag_hex message_hex"} {
			rec, err := NewReader("schema").Keep(strings.Fields(keys)...).Read([]byte(line))
			check(t, err)
			if strings.Contains(keys, "message_hex") && string(rec.Value("message_hex")) != `"6dff"` || string(rec.Value("tag_hex")) != `"61ff"` {
				t.Errorf("%s of %s: %s, %s", keys, line, rec.Value("tag_hex"), rec.Value("message_hex"))
			}
		}
	}
}

// TestManyAttributes: the time to read a record grows with the number of its attributes, not
// with the square of it, which would take minutes here. The first value of a
// repeated name counts.
func TestManyAttributes(t *testing.T) {
	const n = 300_000
	line := []byte(`{"schema":1,"game":{"id":"rust","attributes":{`)
	for i := range n {
		line = fmt.Appendf(line, `"a%d":"%d",`, i, i)
	}
	line = append(line, `"a7":""},"sources":{`...)
	for i := range n {
		line = fmt.Appendf(line, `"attributes.a%d":"rules.%d",`, i, i)
	}
	line = append(line[:len(line)-1], "}}}"...)
	r := NewReader()
	rec, err := r.Read(line)
	check(t, err)
	all := rec.Game.Attributes
	if a := all[7]; len(all) != n || string(a.Value) != "7" || a.Source != "rules.7" {
		t.Errorf("%d attributes, %+v", len(all), a)
	}
	rec, err = r.Read([]byte(`{"schema":1,"game":{"id":"rust","attributes":{"a7":"1"}}}`))
	check(t, err)
	if a := rec.Game.Attributes[0]; string(a.Value) != "1" || a.Source != keywordsSource {
		t.Errorf("%+v", a)
	}
}
