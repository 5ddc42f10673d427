package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/wire"
)

// TestStatusKeys: the page of scan lists the keys of a status line, in their order.
func TestStatusKeys(t *testing.T) {
	var listed, want []string
	for _, tag := range tags(t, "STATUS") {
		listed = append(listed, strings.Split(tag, ", ")...)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[progress.Record]()) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
			want = append(want, key)
		}
	}
	for i := range ledger.Table {
		if key := ledger.Table[i].Status; key != "" {
			want = append(want, key)
		}
	}
	want = append(want, "waiting", "waiting_for")
	if !slices.Equal(listed, want) {
		t.Errorf("the page has the keys %q, a line has %q", listed, want)
	}
}

// TestSummaryKeys: the page of scan lists every key of a summary and every fault,
// and nothing else.
func TestSummaryKeys(t *testing.T) {
	listed, want := map[string]bool{}, map[string]bool{}
	for _, tag := range tags(t, "SUMMARY") {
		for _, key := range strings.Split(tag, ", ") {
			listed[key] = true
		}
	}
	jsonKeys(reflect.TypeFor[ledger.Summary](), "", want)
	for i := range ledger.Table {
		switch row := &ledger.Table[i]; row.Section {
		case ledger.Targets:
			want["targets."+row.Name] = true
		case ledger.Traffic:
			want["datagrams."+row.Name] = true
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
	var faults []string
	for i := 1; i < wire.NumErrors; i++ {
		faults = append(faults, wire.Error(i).String())
	}
	if got := tags(t, "FAULTS"); len(want) < 100 || !slices.Equal(got, faults) {
		t.Errorf("%d keys; the page has the faults %q, want %q", len(want), got, faults)
	}
}

// tags returns the tags of the list in a section of scan's page.
func tags(t *testing.T, section string) (all []string) {
	t.Helper()
	text, err := manualTexts.ReadFile("manual/scan.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "# "+section+"\n")
	list, _, _ := strings.Cut(after, "\n# ")
	for _, m := range regexp.MustCompile(`(?m)^\*\*(.+)\*\*\n: `).FindAllStringSubmatch(list, -1) {
		all = append(all, strings.ReplaceAll(m[1], `\_`, "_"))
	}
	return all
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
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && key != "-" {
			keys[prefix+key] = true
			jsonKeys(f.Type, prefix+key+".", keys)
		}
	}
}
