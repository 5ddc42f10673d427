package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

// The replies in this file are written byte by byte from known facts about servers
// in the wild. The name of each row has the number of the fact.

const ff = "\xFF\xFF\xFF\xFF"

// quirkInfo returns an INFO reply with the name and the map m. extra follows the
// version.
func quirkInfo(name, m, extra string) string {
	return ff + "I\x11" + name + "\x00" + m + "\x00dir\x00game\x00\x00\x00\x01\x08\x00dl\x00\x011.0\x00" + extra
}

// with returns an INFO reply in which other replaces old.
func with(old, other string) string { return strings.Replace(quirkInfo("n", "m", ""), old, other, 1) }

func quirkPlayers(n byte, records string) string { return ff + "D" + string([]byte{n}) + records }
func quirkRules(n byte, pairs string) string     { return ff + "E" + string([]byte{n}) + "\x00" + pairs }

// longTags are keywords of 127 bytes; the last keyword is truncated.
var longTags = strings.Repeat("tag,", 31) + "<tn"

// TestQuirks decodes replies and checks what their records contain.
func TestQuirks(t *testing.T) {
	tests := []struct {
		name  string
		reply string
		want  []string
	}{
		{"EC-25 the app ID stands in the game ID", quirkInfo("n", "m", "\x01\xFE\x47\x05\x00\x00\x00\x00\x00"),
			[]string{`"app_id":346110,`, `"game_id":"346110"`}},
		{"EC-26 a mod's game ID", quirkInfo("n", "m", "\x01\xDC\x00\x00\x01\x78\x56\x34\x92"),
			[]string{`"app_id":220,`, `"game_id":"10535140501739274460"`}},
		{"EC-28 all extra data", quirkInfo("n", "m", "\xF1\x87\x69\x01\x00\x00\x00\x00\x00\x40\x01\x8C\x69tv\x00k\x00\xB8\x01\x00\x00\x00\x00\x00\x00"),
			[]string{`"edf":241,"game_port":27015,"steam_id":"90071992547409921","sourcetv":{"port":27020,"name":"tv"},"keywords":"k","game_id":"440"`}},
		{"EC-29 less than the flag promises", quirkInfo("n", "m", "\xB1\x87\x69"),
			[]string{`"errors":{"info":"truncated"}`, `"game_port":27015}`}},
		{"EC-30 bytes at the end", quirkInfo("n", "m", "\x80\x87\x69zz"), []string{`"notes":["info.trailing"]`}},
		{"EC-32 no letters", with("dl", "\x00\x00"), []string{`"server_type":"0x00","environment":"0x00"`}},
		{"EC-33 a relay with 255 places", with("\x01\x08\x00dl", "\x00\xFF\x00pl"),
			[]string{`"players":0,"max_players":255,"bots":0,"server_type":"proxy"`}},
		{"EC-34 a dedicated box that says l", with("dl", "ll"), []string{`"server_type":"listen"`}},
		{"EC-35 odd booleans", with("dl\x00\x01", "dl\x02\xFF"),
			[]string{`"password":true,"vac":true`, `"notes":["info.odd_boolean"]`}},
		{"EC-36 more players than places", with("\x01\x08\x00", "\x68\x50\x00"), []string{`"players":104,"max_players":80`}},
		{"EC-37 200 places", with("\x01\x08\x00", "\xC8\xC8\x80"), []string{`"players":200,"max_players":200,"bots":128`}},
		{"EC-38 control characters first", quirkInfo("\x01\x01\x01 \x1B[2J", "m", ""), []string{`"name":"\u0001\u0001\u0001 \u001b[2J"`}},
		{"EC-39 spaces first", quirkInfo("  n", "m", "\x20 gm:x\x00"), []string{`"name":"  n"`, `"keywords":" gm:x"`}},
		{"EC-40 cut inside a character", quirkInfo("se\xC3\xA9\xE2\x82", "m", "\x20"+longTags+"\x00"),
			[]string{`"name":"seé�","name_hex":"7365c3a9e282"`, `<tn"`}},
		{"EC-42 EC-43 a name as the map, and no game", quirkInfo("90071992547409921", "90071992547409921", ""),
			[]string{`"name":"90071992547409921","map":"90071992547409921"`}},
		{"EC-44 a name with its key", quirkInfo("SessionName=x", "m", ""), []string{`"name":"SessionName=x"`}},
		{"EC-45 no map", quirkInfo("n", "", ""), []string{`"map":""`}},
		{"EC-46 a game that is a number", with("game", "5f9d-11"), []string{`"game":"5f9d-11"`}},
		{"EC-47 keywords with backslashes", quirkInfo("n", "m", "\x20g\\dm\\n;k=v== x\x00"), []string{`"keywords":"g\\dm\\n;k=v== x"`}},
		{"EC-48 a version with a line end", with("1.0", "1.1.2.7\r/Stdio"), []string{`"version":"1.1.2.7\r/Stdio"`}},
		{"EC-69 capital letters", with("dl", "DW"), []string{`"server_type":"dedicated","environment":"windows"`}},
		{"EC-22 a ban", ff + "lYou have been banned.\n\x00",
			[]string{`"errors":{"info":"banned","players":"banned","rules":"banned"}`, `"message":"You have been banned.\n"`}},
		{"EC-76 a bot", quirkPlayers(1, "\x00b\x00\x00\x00\x00\x00\x00\x00\x80\xBF"), []string{`"duration":-1}`}},
		{"EC-78 an index from 1", quirkPlayers(1, "\x01b\x00\x00\x00\x00\x00\x00\x00\x80\x3F"), []string{`"index":1,`}},
		{"EC-79 no names", quirkPlayers(1, "\x00\x00\x00\x00\x00\x00\x00\x00\x80\x3F"),
			[]string{`"players":[{"index":0,"name":"","score":0,"duration":1}]`}},
		{"EC-81 more than announced", quirkPlayers(0, "\x00\x00\x00\x00\x00\x00\x00\x00\x80\x3F"),
			[]string{`"notes":["players.count"]`, `"players_announced":0`}},
		{"EC-87 a negative score", quirkPlayers(1, "\x00b\x00\x01\xFB\xFF\xFF\x00\x00\x80\x3F"), []string{`"score":-1279,`}},
		{"EC-88 a long time", quirkPlayers(1, "\x00b\x00\x00\x00\x00\x00\x78\x47\x03\x4A"), []string{`"duration":2150878}`}},
		{"EC-89 no number", quirkPlayers(1, "\x00b\x00\x00\x00\x00\x00\x00\x00\xC0\x7F"),
			[]string{`"duration":null}`, `"notes":["players.non_finite"]`}},
		{"EC-89 infinity", quirkPlayers(1, "\x00b\x00\x00\x00\x00\x00\x00\x00\x80\xFF"), []string{`"duration":null}`}},
		{"EC-90 a name in another encoding", quirkPlayers(1, "\x00\xCF\xF0^1\x00\x00\x00\x00\x00\x00\x00\x80\x3F"),
			[]string{`"name":"��^1","name_hex":"cff05e31"`}},
		{"EC-92 cut inside a pair", quirkRules(9, "a\x001\x00sv_conta"),
			[]string{`"errors":{"rules":"truncated"}`, `"rules":{"a":"1"},"rules_announced":9`}},
		{"EC-94 a count that lies", quirkRules(93, "a\x001\x00"),
			[]string{`"notes":["rules.count"]`, `"rules_announced":93`}},
		{"EC-96 a rule without a name", quirkRules(1, "\x00v\x00"), []string{`"notes":["rules.empty_name"]`, `"rules":{"":"v"}`}},
		{"EC-97 a name twice", quirkRules(2, "a\x001\x00a\x002\x00"),
			[]string{`"notes":["rules.duplicate"]`, `"rules":{"a":"1"},"rules_raw":[["61","31"],["61","32"]]`}},
		{"EC-98 a password cvar", quirkRules(1, "rcon_password\x001\x00"), []string{`"rules":{"rcon_password":"1"}`}},
		{"EC-101 EC-102 binary pages and plain rules", quirkRules(2, "\x01\x02\x00\x01\x02\xFF\x03\x80\x00allowedBuild\x000\x00"),
			[]string{`"rules":{"\u0001\u0002":"\u0001\u0002�\u0003�","allowedBuild":"0"}`,
				`"rules_raw":[["0102","0102ff0380"],["616c6c6f7765644275696c64","30"]]`}},
		{"EC-104 a separator inside a value", quirkRules(1, "k\x00a\x1Cb\x00"), []string{`"rules":{"k":"a\u001cb"}`}},
		{"EC-105 a rule called Test", quirkRules(1, "Test\x00Test\x00"), []string{`"rules":{"Test":"Test"}`}},
		{"EC-24 an empty INFO", ff + "I", []string{`"status":"error","errors":{"info":"empty"}`}},
		{"EC-67 no mod block", ff + "ma\x00n\x00m\x00d\x00g\x00\x02\x08\x2Fdl\x00\x01\x00\x01\x02",
			[]string{`"format":"goldsource"`, `"notes":["info.no_mod_block"]`, `"bots":2,`, `"vac":true`}},
		{"EC-68 a mod without addresses", ff + "ma\x00n\x00m\x00d\x00g\x00\x02\x08\x2Fdl\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x90\xF7\x0A\x01\x00\x01\x02",
			[]string{`"mod":{"url":"","download_url":"","version":1,"size":183996416,"multiplayer_only":true,"custom_dll":false}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := scanner.NewDecoder()
			d.Add([]byte(tt.reply))
			record := Append(nil, "", d.Result())
			checkRecord(t, record)
			for _, want := range tt.want {
				if !strings.Contains(string(record), want) {
					t.Errorf("no %s in %s", want, record)
				}
			}
		})
	}
}

// TestQuirkPages: pages of binary rules survive JSON byte for byte, whatever they
// hold.
func TestQuirkPages(t *testing.T) {
	t.Run("EC-101 every byte but NUL", func(t *testing.T) {
		var pairs, want string
		for page := byte(1); page <= 3; page++ {
			value := make([]byte, 85)
			for i := range value {
				value[i] = byte(i) + (page-1)*85 + 1
			}
			pairs += string([]byte{page, 3, 0}) + string(value) + "\x00"
			want += fmt.Sprintf(`["%02x03","%x"],`, page, value)
		}
		d := scanner.NewDecoder()
		d.Add([]byte(quirkRules(3, pairs)))
		record := Append(nil, "", d.Result())
		checkRecord(t, record)
		var v struct {
			Raw json.RawMessage `json:"rules_raw"`
		}
		check(t, json.Unmarshal(record, &v))
		if want = "[" + strings.TrimSuffix(want, ",") + "]"; string(v.Raw) != want {
			t.Errorf("%s\nwant %s", v.Raw, want)
		}
	})
}
