package manual

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/wire"
)

// TestStatusKeys: the page of scan lists the keys of a status line, in their order.
func TestStatusKeys(t *testing.T) {
	var listed, want []string
	for _, f := range StatusKeys {
		listed = append(listed, strings.Split(f.What, ", ")...)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[progress.Record]()) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
			want = append(want, key)
		}
	}
	if !slices.Equal(listed, want) {
		t.Errorf("the page has the keys %q, a line has %q", listed, want)
	}
}

// TestSummaryKeys: the page of scan lists every key of a summary and every fault,
// and nothing else.
func TestSummaryKeys(t *testing.T) {
	listed, want := map[string]bool{}, map[string]bool{}
	for _, f := range SummaryKeys {
		for _, key := range strings.Split(f.What, ", ") {
			listed[key] = true
		}
	}
	jsonKeys(reflect.TypeFor[ledger.Summary](), "", want)
	for _, like := range []string{"maps", "environments", "versions", "countries"} { // they have the same keys as games
		for _, key := range []string{"name", "name_hex", "servers", "over"} {
			delete(want, like+"."+key)
		}
	}
	for key := range want {
		if !listed[key] && !isExplained(key, listed) {
			t.Errorf("the page lacks %s", key)
		}
	}
	for key := range listed {
		if !want[key] {
			t.Errorf("the page has %s, but a summary has no such key", key)
		}
	}
	if len(want) < 100 || len(FaultWords) != wire.NumErrors-1 {
		t.Errorf("%d keys, %d faults", len(want), len(FaultWords))
	}
	for i, f := range FaultWords {
		if want := wire.Error(i + 1).String(); f.What != want {
			t.Errorf("the page has the fault %s, want %s", f.What, want)
		}
	}
}

// isExplained reports whether the page explains keys of the object under this key.
func isExplained(key string, listed map[string]bool) bool {
	for s := range listed {
		if strings.HasPrefix(s, key+".") {
			return true
		}
	}
	return false
}

// jsonKeys adds the JSON keys of a struct, and of the structs in its fields, to
// keys.
func jsonKeys(of reflect.Type, prefix string, keys map[string]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(of) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
			keys[prefix+key] = true
			jsonKeys(f.Type, prefix+key+".", keys)
		}
	}
}

// TestExits: the pages list only exit codes that exist.
func TestExits(t *testing.T) {
	for name, of := range facts {
		for code := range of.exits {
			if !strings.Contains(console.ExitHelp(), fmt.Sprintf("\n  %d  ", code)) {
				t.Errorf("the page of %s lists %d, which is not an exit code", name, code)
			}
		}
	}
}
