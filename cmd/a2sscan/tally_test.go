package main

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestTallyJSON: a tally comes back from a checkpoint as it was, with names
// that are not UTF-8, and what is counted later does not change the copy.
func TestTallyJSON(t *testing.T) {
	ta := tally{Servers: 1, Players: 2, Bots: 3, Games: games{"a\xff": 1, "a\xfe": 2, "": 3}}
	saved := ta.clone()
	ta.addGame([]byte("a\xff"))
	b, err := json.Marshal(&saved)
	if err != nil {
		t.Fatal(err)
	}
	var got tally
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := tally{Servers: 1, Players: 2, Bots: 3, Games: games{"a\xff": 1, "a\xfe": 2, "": 3}}
	if !reflect.DeepEqual(got, want) || ta.Games["a\xff"] != 2 {
		t.Errorf("%+v, want %+v", got, want)
	}
}
