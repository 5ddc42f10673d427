package masterlist

import (
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/master"
)

// parse sets flags as a command line does and returns the resulting region and
// filter.
func parse(args []string) (Region, master.Filter, error) {
	region, filter := Region(master.World), master.Filter{}
	flags := map[string]Flag{}
	for _, f := range FilterFlags(&region, &filter) {
		flags["--"+f.Name] = f
	}
	for len(args) > 0 {
		f, value := flags[args[0]], "true"
		if args = args[1:]; !f.Switch {
			value, args = args[0], args[1:]
		}
		if err := f.Value.Set(value); err != nil {
			return region, filter, err
		}
	}
	return region, filter, nil
}

// TestFilterFlags compares the filter that each flag sets with the bytes that
// masters read.
func TestFilterFlags(t *testing.T) {
	tests := []struct{ args, want string }{
		{"", ``},
		{"--app 440", `\appid\440`},
		{"--not-app 10 --not-app 20", `\napp\10\napp\20`},
		{"--game-dir cstrike", `\gamedir\cstrike`},
		{"--map cp_dustbowl", `\map\cp_dustbowl`},
		{"--name [EU]*", `\name_match\[EU]*`},
		{"--game-version 1.0.*", `\version_match\1.0.*`},
		{"--address 203.0.113.7", `\gameaddr\203.0.113.7`},
		{"--address 203.0.113.7:27015", `\gameaddr\203.0.113.7:27015`},
		{"--dedicated", `\dedicated\1`},
		{"--type d", `\type\d`},
		{"--secure", `\secure\1`},
		{"--linux", `\linux\1`},
		{"--no-password", `\password\0`},
		{"--not-empty", `\empty\1`},
		{"--empty", `\noplayers\1`},
		{"--not-full", `\full\1`},
		{"--proxy", `\proxy\1`},
		{"--whitelisted", `\white\1`},
		{"--game-type alltalk,nocrits", `\gametype\alltalk,nocrits`},
		{"--game-data a,b", `\gamedata\a,b`},
		{"--any-game-data a,b", `\gamedataor\a,b`},
		{"--one-per-address", `\collapse_addr_hash\1`},
		{"--nor map=cp_dustbowl,empty,app=10", `\nor\3\map\cp_dustbowl\noplayers\1\appid\10`},
		{"--nand empty,linux", `\nand\2\noplayers\1\linux\1`},
		{"--or app=440,app=730", `\or\2\appid\440\appid\730`},
		{`--filter \nor\1\map\a`, `\nor\1\map\a`},
		{"--not-empty --app 440 --nor map=a --dedicated", `\empty\1\appid\440\nor\1\map\a\dedicated\1`},
	}
	tested := map[string]bool{}
	for _, test := range tests {
		args := strings.Fields(test.args)
		_, filter, err := parse(args)
		if err != nil {
			t.Errorf("%s: %v", test.args, err)
		}
		if got := filter.String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.args, got, test.want)
		}
		for _, a := range args {
			tested[strings.TrimPrefix(a, "--")] = true
		}
	}
	for _, c := range conditions {
		if !tested[c.name] {
			t.Errorf("--%s is not tested", c.name)
		}
	}
}

// TestRegionFlag: the world is the default, and --region accepts the name of every
// region.
func TestRegionFlag(t *testing.T) {
	for args, want := range map[string]master.Region{
		"": master.World, "--region eu": master.Europe, "--region Us-East": master.USEast,
		"--region us-west": master.USWest, "--region sa": master.SouthAmerica, "--region asia": master.Asia,
		"--region australia": master.Australia, "--region middle-east": master.MiddleEast,
		"--region africa": master.Africa, "--region 255": master.World,
	} {
		region, _, err := parse(strings.Fields(args))
		if err != nil || master.Region(region) != want {
			t.Errorf("%s: %v, %v", args, master.Region(region), err)
		}
	}
}

// TestLimitsFlag: String formats limits as Set parses them, and Set rejects other
// strings.
func TestLimitsFlag(t *testing.T) {
	for text, want := range map[string]string{
		"15/1m,60/5m": "15/1m,60/5m", "0": "", "1/1.5s": "1/1.5s", "2/90s": "2/1m30s", "1/10s": "1/10s",
	} {
		var l Limits
		if err := l.Set(text); err != nil || l.String() != want || l == nil {
			t.Errorf("%s: %s, %v", text, l.String(), err)
		}
	}
	for _, bad := range []string{"", "15", "15/", "/1m", "0/1m", "-1/1m", "15/0s", "15/1m,", "15/-1m"} {
		if err := new(Limits).Set(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
