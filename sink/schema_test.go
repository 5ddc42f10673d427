package sink

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A kind is what a value must be. The table below is the record as the
// package documentation describes it; every record that a test makes is held
// against it.
type kind func(d *walker) error

type key struct {
	name string
	is   kind
}

var record = []key{
	{"schema", matching(`1`)},
	{"scan", anyText},
	{"scan_hex", hexText},
	{"ip", matching(`"[0-9a-f:.]+"`)},
	{"port", unsigned},
	{"tag", anyText},
	{"tag_hex", hexText},
	{"time", matching(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)},
	{"status", matching(`"(ok|partial|error|no_reply|unreachable)"`)},
	{"errors", object([]key{{"info", word}, {"players", word}, {"rules", word}})},
	{"notes", list(word)},
	{"message", anyText},
	{"message_hex", hexText},
	{"rtt_ms", millis},
	{"took_ms", millis},
	{"sent", unsigned},
	{"received", unsigned},
	{"sent_bytes", unsigned},
	{"received_bytes", unsigned},
	{"unchallenged", list(matching(`"(info|players|rules)"`))},
	{"info", object(infoObject)},
	{"players", list(object(playerObject))},
	{"players_announced", unsigned},
	{"rules", pairs},
	{"rules_announced", unsigned},
	{"rules_raw", list(list(hexText))},
	{"raw", list(base64Text)},
}

var infoObject = []key{
	{"format", matching(`"(source|goldsource)"`)},
	{"protocol", unsigned},
	{"name", anyText}, {"name_hex", hexText},
	{"map", anyText}, {"map_hex", hexText},
	{"folder", anyText}, {"folder_hex", hexText},
	{"game", anyText}, {"game_hex", hexText},
	{"app_id", unsigned},
	{"players", unsigned}, {"max_players", unsigned}, {"bots", unsigned},
	{"server_type", matching(`"(dedicated|listen|proxy|0x[0-9a-f]{2})"`)},
	{"environment", matching(`"(linux|windows|mac|0x[0-9a-f]{2})"`)},
	{"password", boolean}, {"vac", boolean},
	{"ship", object([]key{{"mode", unsigned}, {"witnesses", unsigned}, {"duration", unsigned}})},
	{"version", anyText}, {"version_hex", hexText},
	{"edf", unsigned},
	{"game_port", unsigned},
	{"steam_id", matching(`"\d+"`)},
	{"sourcetv", object([]key{{"port", unsigned}, {"name", anyText}, {"name_hex", hexText}})},
	{"keywords", anyText}, {"keywords_hex", hexText},
	{"game_id", matching(`"\d+"`)},
	{"address", anyText}, {"address_hex", hexText},
	{"mod", object([]key{
		{"url", anyText}, {"url_hex", hexText},
		{"download_url", anyText}, {"download_url_hex", hexText},
		{"version", unsigned}, {"size", unsigned},
		{"multiplayer_only", boolean}, {"custom_dll", boolean},
	})},
}

var playerObject = []key{
	{"index", unsigned},
	{"name", anyText}, {"name_hex", hexText},
	{"score", matching(`-?\d+`)},
	{"duration", matching(`null|-?\d+(\.\d+)?(e[-+]\d+)?`)},
	{"deaths", matching(`-?\d+`)},
	{"money", matching(`-?\d+`)},
}

var (
	unsigned = matching(`\d+`)
	millis   = matching(`\d+(\.\d{0,2}[1-9])?`)
	boolean  = matching(`true|false`)
	word     = matching(`"[a-z_.]+"`)
	anyText  = quoted(func(string) bool { return true })
	hexText  = quoted(func(s string) bool {
		return len(s)%2 == 0 && strings.Trim(s, "0123456789abcdef") == ""
	})
	base64Text = quoted(func(s string) bool {
		_, err := base64.StdEncoding.DecodeString(s)
		return err == nil
	})
)

// checkRecord reports what is wrong with a record: its form, its keys, their
// order and types, and what isn't allowed in any.
func checkRecord(t *testing.T, line []byte) {
	t.Helper()
	body, ok := bytes.CutSuffix(line, []byte("\n"))
	switch {
	case !ok || bytes.ContainsRune(body, '\n'):
		t.Errorf("not one line: %.200q", line)
	case len(line) > MaxRecord:
		t.Errorf("%d bytes long", len(line))
	case !utf8.Valid(body):
		t.Errorf("not UTF-8: %.200q", line)
	case bytes.ContainsFunc(body, dangerous):
		t.Errorf("raw control: %.200q", line)
	case !json.Valid(body):
		t.Errorf("not JSON: %.200q", line)
	default:
		w := &walker{json.NewDecoder(bytes.NewReader(body))}
		if err := object(record)(w); err != nil {
			t.Errorf("%v: %.200s", err, line)
		}
	}
}

// walker goes through a record in the order in which it is written.
type walker struct{ *json.Decoder }

// value returns the next value as it is written.
func (w *walker) value() (v json.RawMessage, err error) {
	err = w.Decode(&v)
	return v, err
}

// matching returns the kind of values that are written so.
func matching(expr string) kind {
	re := regexp.MustCompile(`^(` + expr + `)$`)
	return func(w *walker) error {
		v, err := w.value()
		if err == nil && !re.Match(v) {
			err = fmt.Errorf("%.100s is no %s", v, expr)
		}
		return err
	}
}

// quoted returns the kind of strings that are written like that. They may be
// too long for a regular expression.
func quoted(good func(string) bool) kind {
	return func(w *walker) error {
		v, err := w.value()
		if err == nil && (v[0] != '"' || !good(string(v[1:len(v)-1]))) {
			err = fmt.Errorf("%.100s is not such a string", v)
		}
		return err
	}
}

// inside goes through an object or list, calling member for each of its parts.
func (w *walker) inside(open json.Delim, member func() error) error {
	if t, err := w.Token(); err != nil || t != open {
		return fmt.Errorf("%v instead of %v: %w", t, open, err)
	}
	for w.More() {
		if err := member(); err != nil {
			return err
		}
	}
	_, err := w.Token()
	return err
}

// object returns the kind of objects with these keys in this order.
func object(keys []key) kind {
	return func(w *walker) error {
		rest, last := keys, ""
		return w.inside('{', func() error {
			t, err := w.Token()
			if err != nil {
				return err
			}
			name := t.(string)
			i := slices.IndexFunc(rest, func(k key) bool { return k.name == name })
			if i < 0 {
				return fmt.Errorf("key %q is unknown, or stands too late after %q", name, last)
			}
			if base, ok := strings.CutSuffix(name, "_hex"); ok && base != last {
				return fmt.Errorf("key %q after %q", name, last)
			}
			is := rest[i].is
			rest, last = rest[i+1:], name
			if err := is(w); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
}

func list(is kind) kind {
	return func(w *walker) error {
		return w.inside('[', func() error { return is(w) })
	}
}

// pairs is the kind of objects with any keys, each of them once.
func pairs(w *walker) error {
	seen := map[string]bool{}
	return w.inside('{', func() error {
		t, err := w.Token()
		if err != nil {
			return err
		}
		if name := t.(string); seen[name] {
			return fmt.Errorf("%q twice", name)
		} else {
			seen[name] = true
		}
		return anyText(w)
	})
}

// TestSchema sees that checkRecord finds what it is there to find.
func TestSchema(t *testing.T) {
	for _, bad := range []string{
		`{"schema":2}`,
		`{"schema":1,"unknown":1}`,
		`{"schema":1,"port":1,"ip":"127.0.0.1"}`,
		`{"schema":1,"port":"1"}`,
		`{"schema":1,"tag_hex":"00"}`,
		`{"schema":1,"tag":"x","tag_hex":"0G"}`,
		`{"schema":1,"rules":{"a":"1","a":"2"}}`,
		`{"schema":1,"rtt_ms":1.10}`,
		`{"schema":1,"info":{"name":1}}`,
		`{"schema":1,"players":[{"name":"x","index":0}]}`,
	} {
		w := &walker{json.NewDecoder(strings.NewReader(bad))}
		if err := object(record)(w); err == nil || err == io.EOF {
			t.Errorf("%s passes: %v", bad, err)
		}
	}
}

// unhex returns the bytes of a KEY_hex.
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
