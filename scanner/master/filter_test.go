package master_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// filterVectors are filters as masters read them, written by hand from the protocol's
// documents.
var filterVectors = []string{
	``, `\appid\440`, `\appid\4294967295`, `\napp\730`, `\dedicated\1`, `\gamedir\cstrike`, `\map\cp_dustbowl`,
	`\map\Procedural Map`, `\password\0`, `\gametype\alltalk,nocrits`, `\name_match\[EU]*`, `\name_match\中国*`,
	`\version_match\1.0.*`, `\gameaddr\203.0.113.7:27015`, `\type\d`,
	`\dedicated\1\appid\440\empty\1\map\cp_dustbowl`,
	`\nor\1\map\de_dust2`, `\appid\240\nor\2\map\a\map\b\linux\1`, `\nand\3\noplayers\1\full\1\secure\1`,
	`\or\2\appid\440\appid\240`, `\nor\3\map\a\nand\2\noplayers\1\linux\1\map\b\appid\440`,
	`\nor\1\or\1\nand\2\appid\1\appid\2`, `\nor\2\gameaddr\1.2.3.4\gameaddr\1.2.3.5`, `\newfilter\a*b`,
}

func TestFilterVectors(t *testing.T) {
	for _, text := range filterVectors {
		f, err := master.ParseFilter(text)
		if err != nil || f.String() != text {
			t.Errorf("%s: %s, %v", text, f, err)
		}
	}
	got, err := master.ParseFilter(`\nor\3\map\a\nand\2\noplayers\1\linux\1\map\b\appid\440`)
	want := master.Filter{
		{Key: "nor", Group: []master.Condition{
			{Key: "map", Value: "a"},
			{Key: "nand", Group: []master.Condition{{Key: "noplayers", Value: "1"}, {Key: "linux", Value: "1"}}},
			{Key: "map", Value: "b"},
		}},
		{Key: "appid", Value: "440"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("a group in a group is one condition: %+v, %v", got, err)
	}
}

func TestParseFilterBad(t *testing.T) {
	tests := []struct{ raw, say string }{
		{`appid\440`, `must begin with \`},
		{`\appid`, `"appid": has no value`},
		{`\`, "no value"},
		{`\appid\440\map`, `"map": has no value`},
		{`\nor\2\map\a`, "it announces 2 conditions, and 1 follow"},
		{`\nor\x\map\a`, `"x" is not the number`},
		{`\nor\-1\map\a`, "not the number"},
		{`\nor\99999999999\map\a`, "not the number"},
		{`\nor\0\map\a`, "no condition"},
		{`\map\\linux\1`, "empty"},
		{strings.Repeat(`\nor\1`, 1000), "it announces 1 conditions, and 0 follow"},
		{"\\gamedir\\a\x00b", "NUL"},
		{`\map\de_*`, "must not contain *, which only name_match"},
		{`\nand\1\or\1\map\`, `"map": the value is empty`},
		{`\nor\2\gameaddr\1.2.3.4\appid\1`, "return nothing"},
		{`\\x`, "no key"},
		{"\\map\\\x1b[31m\x00", `\x1b`},
	}
	for _, test := range tests {
		f, err := master.ParseFilter(test.raw)
		if err == nil {
			t.Errorf("%q was read as %v", test.raw, f)
			continue
		}
		wantError(t, err, test.say)
		if len(err.Error()) > 300 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

func TestUnknown(t *testing.T) {
	_, s, _, err := fetchUDP(t, simulated(t, fleet.MasterConfig{}),
		master.Config{Region: master.World, Filter: filter(`\appid\440\nappid\10\nor\2\map\a\bots\1`)})
	if err != nil || !reflect.DeepEqual(s.Unknown, []string{"nappid", "bots"}) {
		t.Errorf("%q, %v", s.Unknown, err)
	}
}

func TestRegions(t *testing.T) {
	tests := []struct {
		text string
		want master.Region
		name string
	}{
		{"us-east", 0, "us-east"}, {"us-west", 1, "us-west"}, {"south-america", 2, "south-america"},
		{"eu", 3, "europe"}, {"Europe", 3, "europe"}, {"3", 3, "europe"}, {"asia", 4, "asia"},
		{"australia", 5, "australia"}, {"middle-east", 6, "middle-east"}, {"africa", 7, "africa"},
		{"world", 255, "world"}, {"255", 255, "world"},
	}
	for _, test := range tests {
		got, err := master.ParseRegion(test.text)
		if err != nil || got != test.want || got.String() != test.name {
			t.Errorf("%q: %v, %v", test.text, got, err)
		}
	}
	_, err := master.ParseRegion("mars\x1b")
	wantError(t, err, `"mars\x1b"`, "us-east, us-west", "world")
	if got := master.Region(9).String(); got != "9" {
		t.Error(got)
	}
}
