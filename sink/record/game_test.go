package record

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/game"
)

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
