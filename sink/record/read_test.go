package record

import (
	"bytes"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

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
