package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/wire"
)

// TestManualKeys: the page of scan lists every key of a status line and of a summary,
// and every fault, and nothing else. The keys inside an object explain the object.
func TestManualKeys(t *testing.T) {
	want := map[string][]string{
		"STATUS":  append(jsonKeys(reflect.TypeFor[progress.Record](), ""), "waiting", "waiting_for"),
		"SUMMARY": jsonKeys(reflect.TypeFor[ledger.Summary](), ""),
	}
	for i := 1; i < wire.NumErrors; i++ {
		want["FAULTS"] = append(want["FAULTS"], wire.Error(i).String())
	}
	for i := range ledger.Table {
		row := &ledger.Table[i]
		if row.Status != "" {
			want["STATUS"] = append(want["STATUS"], row.Status)
		}
		if object := map[ledger.Section]string{ledger.Targets: "targets.", ledger.Traffic: "datagrams."}[row.Section]; object != "" {
			want["SUMMARY"] = append(want["SUMMARY"], object+row.Name)
		}
	}
	page, err := manualTexts.ReadFile("manual/scan.md")
	check(t, err)
	for section, keys := range want {
		_, after, _ := strings.Cut(string(page), "# "+section+"\n")
		list, _, _ := strings.Cut(after, "\n# ")
		var listed []string
		for _, m := range regexp.MustCompile(`(?m)^\*\*(.+)\*\*\n: `).FindAllStringSubmatch(list, -1) {
			listed = append(listed, strings.Split(strings.ReplaceAll(m[1], `\_`, "_"), ", ")...)
		}
		keys = slices.DeleteFunc(keys, func(key string) bool {
			inside := func(s string) bool { return strings.HasPrefix(s, key+".") }
			return !slices.Contains(listed, key) && slices.ContainsFunc(listed, inside)
		})
		slices.Sort(keys)
		slices.Sort(listed)
		if diff := cmp.Diff(slices.Compact(keys), listed); diff != "" || len(keys) < 10 {
			t.Errorf("%s (- keys, + the page):\n%s", section, diff)
		}
	}
}

// jsonKeys returns the JSON keys of a struct, and of the structs in its fields.
func jsonKeys(of reflect.Type, prefix string) (keys []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(of) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && key != "-" {
			keys = append(keys, prefix+key)
			keys = append(keys, jsonKeys(f.Type, prefix+key+".")...)
		}
	}
	return keys
}
