package masterlist

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// TestValvesMaster (EC-158): the error for Valve's master server, which does not answer any
// more, says so and names the Web API. Other masters get other advice.
func TestValvesMaster(t *testing.T) {
	silent := fmt.Errorf("master x: %w: asked 4 times", master.ErrNoReply)
	o := Options{UDP: "hl2master.steampowered.com:27011"}
	err := o.failure(t.Context(), &master.Stats{Requests: 4}, silent)
	f, ok := err.(*console.Failure)
	if !ok || f.Code != console.ExitInput || !strings.Contains(err.Error(), "since October 2025") || !strings.Contains(f.Hint, "Web API") {
		t.Errorf("EC-158: %v (%+v)", err, f)
	}
	o.UDP = "192.0.2.1:27011"
	if err := o.failure(t.Context(), &master.Stats{Requests: 4}, silent); strings.Contains(err.Error(), "October") {
		t.Error(err)
	}
}

// TestConditions: the flags for conditions come before those of --filter.
func TestConditions(t *testing.T) {
	o := Options{App: 440, NotEmpty: true}
	for _, text := range []string{`\map\a`, `\nor\1\linux\1`} {
		if err := o.Filter.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := o.Conditions().String(), `\appid\440\empty\1\map\a\nor\1\linux\1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
