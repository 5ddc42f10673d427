package record

import (
	"bytes"
	"testing"
)

// TestReadAgain: Append makes the same record again from the Result that Read
// returns.
func TestReadAgain(t *testing.T) {
	for _, g := range golden {
		line := Append(nil, g.scan, g.result)
		scan, r, err := Read(line)
		if err != nil {
			t.Errorf("%s: %v", g.name, err)
			continue
		}
		if again := Append(nil, scan, r); !bytes.Equal(again, line) {
			t.Errorf("%s:\n%s became\n%s", g.name, line, again)
		}
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
		ds, err := Differences([]byte(line), Append(nil, scan, r))
		if err != nil || len(ds) > 0 && line[len(line)-3:] != "[]}" {
			t.Errorf("%s: %v %v", line, ds, err)
		}
	}
}

func TestReadBad(t *testing.T) {
	for _, line := range []string{
		``, `{}`, `{"schema":1,"status":1}`, `{"schema":1,"notes":"x"}`, `{"schema":1,"info":[]}`,
		`{"schema":1,"info":{"name":1}}`, `{"schema":1,"info":{"steam_id":"x"}}`,
		`{"schema":1,"info":{"server_type":"0xzz"}}`, `{"schema":1,"info":{"players":4294967296}}`,
		`{"schema":1,"players":{}}`, `{"schema":1,"players":[{"deaths":"x"}]}`,
		`{"schema":1,"rules":{"a":1}}`, `{"schema":1,"rules":{"a":{}}}`, `{"schema":1,"rules":["a","b"]}`,
		`{"schema":1,"rules":{},"rules_raw":[["0","0"]]}`,
	} {
		if _, r, err := Read([]byte(line)); err == nil {
			t.Errorf("%s passes: %+v", line, r)
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
