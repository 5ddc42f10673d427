package master_test

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/master"
)

// filterVectors are filters and their encoded forms, written by hand from the
// protocol's documents.
var filterVectors = []struct {
	name   string
	filter master.Filter
	want   string
}{
	{"nothing", nil, ``},
	{"app", master.Filter{master.App(440)}, `\appid\440`},
	{"app beyond 16 bits", master.Filter{master.App(4294967295)}, `\appid\4294967295`},
	{"not app", master.Filter{master.NotApp(730)}, `\napp\730`},
	{"dedicated", master.Filter{master.Dedicated()}, `\dedicated\1`},
	{"secure", master.Filter{master.Secure()}, `\secure\1`},
	{"game dir", master.Filter{master.GameDir("cstrike")}, `\gamedir\cstrike`},
	{"map", master.Filter{master.Map("cp_dustbowl")}, `\map\cp_dustbowl`},
	{"map with a space", master.Filter{master.Map("Procedural Map")}, `\map\Procedural Map`},
	{"linux", master.Filter{master.Linux()}, `\linux\1`},
	{"no password", master.Filter{master.NoPassword()}, `\password\0`},
	{"not empty", master.Filter{master.NotEmpty()}, `\empty\1`},
	{"not full", master.Filter{master.NotFull()}, `\full\1`},
	{"proxy", master.Filter{master.Proxy()}, `\proxy\1`},
	{"empty", master.Filter{master.Empty()}, `\noplayers\1`},
	{"whitelisted", master.Filter{master.Whitelisted()}, `\white\1`},
	{"game type", master.Filter{master.GameType("alltalk", "nocrits")}, `\gametype\alltalk,nocrits`},
	{"game data", master.Filter{master.GameData("a", "b")}, `\gamedata\a,b`},
	{"any game data", master.Filter{master.AnyGameData("a", "b")}, `\gamedataor\a,b`},
	{"name", master.Filter{master.Name("[EU]*")}, `\name_match\[EU]*`},
	{"name in another script", master.Filter{master.Name("中国*")}, `\name_match\中国*`},
	{"version", master.Filter{master.Version("1.0.*")}, `\version_match\1.0.*`},
	{"one per address", master.Filter{master.OnePerAddress()}, `\collapse_addr_hash\1`},
	{"address", master.Filter{master.Address(netip.MustParseAddr("203.0.113.7"), 0)}, `\gameaddr\203.0.113.7`},
	{"address and port", master.Filter{master.Address(netip.MustParseAddr("203.0.113.7"), 27015)}, `\gameaddr\203.0.113.7:27015`},
	{"type", master.Filter{master.Type('d')}, `\type\d`},
	{"several, in order", master.Filter{master.Dedicated(), master.App(440), master.NotEmpty(), master.Map("cp_dustbowl")},
		`\dedicated\1\appid\440\empty\1\map\cp_dustbowl`},
	{"nor", master.Filter{master.Nor(master.Map("de_dust2"))}, `\nor\1\map\de_dust2`},
	{"nor of two, and more", master.Filter{master.App(240), master.Nor(master.Map("a"), master.Map("b")), master.Linux()},
		`\appid\240\nor\2\map\a\map\b\linux\1`},
	{"nand", master.Filter{master.Nand(master.Empty(), master.NotFull(), master.Secure())},
		`\nand\3\noplayers\1\full\1\secure\1`},
	{"or", master.Filter{master.Or(master.App(440), master.App(240))}, `\or\2\appid\440\appid\240`},
	{"a group in a group is one condition", master.Filter{
		master.Nor(master.Map("a"), master.Nand(master.Empty(), master.Linux()), master.Map("b")), master.App(440)},
		`\nor\3\map\a\nand\2\noplayers\1\linux\1\map\b\appid\440`},
	{"three deep", master.Filter{master.Nor(master.Or(master.Nand(master.App(1), master.App(2))))},
		`\nor\1\or\1\nand\2\appid\1\appid\2`},
	{"nor of two addresses", master.Filter{master.Nor(
		master.Address(netip.MustParseAddr("1.2.3.4"), 0), master.Address(netip.MustParseAddr("1.2.3.5"), 0))},
		`\nor\2\gameaddr\1.2.3.4\gameaddr\1.2.3.5`},
	{"an unknown key", master.Filter{{Key: "newfilter", Value: "a*b"}}, `\newfilter\a*b`},
}

func TestFilterVectors(t *testing.T) {
	for _, test := range filterVectors {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.filter.Append([]byte("x"))
			if err != nil || string(got) != "x"+test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
			if got := test.filter.String(); got != test.want {
				t.Errorf("String: %q, want %q", got, test.want)
			}
			back, err := master.ParseFilter(test.want)
			if err != nil || !reflect.DeepEqual(back, test.filter) {
				t.Errorf("read back: %#v, %v", back, err)
			}
		})
	}
}

func TestFilterRefused(t *testing.T) {
	deep := master.Map("a")
	for range 10 {
		deep = master.Nor(deep)
	}
	tests := []struct {
		name   string
		filter master.Filter
		say    []string
	}{
		{"backslash", master.Filter{master.Map(`a\empty\1`)}, []string{`"map"`, `must not hold \`}},
		{"NUL", master.Filter{master.GameDir("a\x00b")}, []string{`"gamedir"`, "NUL", `\x00`}},
		{"star in a map", master.Filter{master.Map("de_*")}, []string{`"map"`, "*", "name_match"}},
		{"empty value", master.Filter{master.Map("")}, []string{`"map"`, "empty"}},
		{"no tags", master.Filter{master.GameType()}, []string{`"gametype"`, "empty"}},
		{"empty group", master.Filter{master.Nor()}, []string{`"nor"`, "no condition"}},
		{"inside a group", master.Filter{master.Nand(master.Or(master.Map(`\`)))}, []string{`"map"`}},
		{"nor of one address", master.Filter{master.Nor(master.Address(netip.MustParseAddr("1.2.3.4"), 0), master.App(1))},
			[]string{`"nor"`, "return nothing"}},
		{"too deep", master.Filter{deep}, []string{"8"}},
		{"group on a plain key", master.Filter{{Key: "map", Value: "x", Group: []master.Condition{master.App(1)}}}, []string{`"map"`}},
		{"value on a group", master.Filter{{Key: "nor", Value: "1", Group: []master.Condition{master.App(1)}}}, []string{`"nor"`}},
		{"no key", master.Filter{{Value: "x"}}, []string{"no key"}},
		{"backslash in a key", master.Filter{{Key: `a\b`, Value: "x"}}, []string{"key"}},
		{"escape sequence", master.Filter{master.Map("\x1b[31m\\")}, []string{`\x1b`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.filter.Append([]byte("x"))
			if wrong := (*master.FilterError)(nil); !errors.As(err, &wrong) || string(got) != "x" {
				t.Fatalf("%q, %v", got, err)
			}
			wantError(t, err, test.say...)
		})
	}
}

func TestParseFilterBad(t *testing.T) {
	tests := []struct{ raw, say string }{
		{`appid\440`, `must begin with \`},
		{`\appid`, `"appid": has no value`},
		{`\`, "no value"},
		{`\appid\440\map`, `"map": has no value`},
		{`\nor\2\map\a`, "2 conditions announced, 1 there"},
		{`\nor\x\map\a`, `"x" is not the number`},
		{`\nor\-1\map\a`, "not the number"},
		{`\nor\99999999999\map\a`, "not the number"},
		{`\nor\0\map\a`, "no condition"},
		{`\map\\linux\1`, "empty"},
		{strings.Repeat(`\nor\1`, 9) + `\map\a`, "more than 8 groups"},
		{strings.Repeat(`\nor\1`, 100000) + `\map\a`, "not the number"},
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
	f, err := master.ParseFilter(`\appid\440\nappid\10\nor\2\map\a\bots\1`)
	if got := f.Unknown(); err != nil || !reflect.DeepEqual(got, []string{"nappid", "bots"}) {
		t.Errorf("%q, %v", got, err)
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
