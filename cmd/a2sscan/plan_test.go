package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
)

// TestPlanTags: each setting that runs or shards must share has a key of its own and a
// name, and names of flags are those of scan. A typo in a tag would let a resumed scan or
// merge accept a changed setting.
func TestPlanTags(t *testing.T) {
	cmd := new(app).scanCommand()
	var keys []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[scan.Plan]()) {
		flag, same := f.Tag.Get("flag"), f.Tag.Get("same")
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case (flag != "") != (same != "") || (key != "") != (same != ""):
			t.Errorf("%s: the tags are %s", f.Name, f.Tag)
		case same == "":
			continue
		case slices.Contains(keys, key):
			t.Errorf("%s: another setting has the key %s", f.Name, key)
		case !slices.Contains([]string{"resume", "shards", "resume,shards"}, same):
			t.Errorf("%s: the tag same is %s", f.Name, same)
		}
		keys = append(keys, key)
		if name, ok := strings.CutPrefix(flag, "--"); ok && !strings.Contains(name, " ") && cmd.Flags().Lookup(name) == nil {
			t.Errorf("%s: scan has no flag %s", f.Name, flag)
		}
	}
	if len(keys) < 15 {
		t.Errorf("only %d settings must stay the same: %v", len(keys), keys)
	}
}

// TestFleetSpan: all events of a fleet begin before the fleet ends.
func TestFleetSpan(t *testing.T) {
	for _, test := range []struct{ ends, want time.Duration }{
		{0, 10 * time.Minute}, {time.Hour, 10 * time.Minute}, {time.Minute, time.Minute}, {time.Millisecond, time.Second},
	} {
		f := &fleetFlags{}
		f.add(pflag.NewFlagSet("", pflag.ContinueOnError))
		life, err := fleet.ParseLife("outages=9")
		check(t, err)
		f.Fleet.Life, f.Span = life, test.ends
		check(t, f.check())
		if life.Span != test.want {
			t.Errorf("--for %v: the span is %v, want %v", test.ends, life.Span, test.want)
		}
	}
}
