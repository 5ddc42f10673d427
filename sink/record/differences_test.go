package record

import (
	"reflect"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

func TestReadAsked(t *testing.T) {
	tests := map[string]scanner.Questions{
		`{"schema":1}`:                              0,
		`{"schema":1,"players":[]}`:                 scanner.AskPlayers,
		`{"schema":1,"errors":{"rules":"timeout"}}`: scanner.AskRules,
		`{"schema":1,"notes":["info.dropped"]}`:     scanner.AskInfo,
	}
	for line, want := range tests {
		if _, r, err := Read([]byte(line)); err != nil || r.Asked != want {
			t.Errorf("%s: %v %v", line, r, err)
		}
	}
}

func TestDifferences(t *testing.T) {
	tests := []struct {
		one, other string
		want       []Difference
	}{
		{`{"schema":1}`, `{ "schema" : 1 }`, nil},
		{`{"schema":1,"later":1}`, `{"schema":1}`, nil},
		{`{"port":1}`, `{}`, []Difference{{"port", "1", ""}}},
		{`{"info":{"name":"a","bots":1}}`, `{"info":{"name":"b","vac":true,"bots":1}}`,
			[]Difference{{"info.name", `"a"`, `"b"`}, {"info.vac", "", "true"}}},
		{`{"rules":{}}`, `{}`, []Difference{{"rules", "{}", ""}}},
	}
	for _, tt := range tests {
		got, err := Differences([]byte(tt.one), []byte(tt.other))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s, %s: %v %v", tt.one, tt.other, got, err)
		}
	}
	if _, err := Differences([]byte(`{`), []byte(`{}`)); err == nil {
		t.Error("no error")
	}
}
