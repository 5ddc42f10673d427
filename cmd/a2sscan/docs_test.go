package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
	"github.com/a2sscan/a2sscan/wire"
)

const packaging = "../../packaging"

// shipped are the folders of packaging that contain only generated files.
var shipped = []string{"man", "completions"}

// TestDocsShipped: the pages and completions in packaging are up to date with the
// commands.
func TestDocsShipped(t *testing.T) {
	files, err := docs(newTree())
	check(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.name)
		text, err := os.ReadFile(filepath.Join(packaging, f.name))
		if err != nil {
			t.Errorf("%v", err)
		} else if !bytes.Equal(text, f.text) {
			t.Errorf("packaging/%s is out of date: a2sscan docs packaging", f.name)
		}
	}
	for _, folder := range shipped {
		entries, err := os.ReadDir(filepath.Join(packaging, folder))
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			if name := folder + "/" + e.Name(); !slices.Contains(names, name) {
				t.Errorf("packaging/%s does not belong to a command", name)
			}
		}
	}
	if t.Failed() {
		t.Log("to write them anew: go run ./cmd/a2sscan docs packaging")
	}
}

// TestGenerated: programs that read manual pages or completions report no fault in them.
func TestGenerated(t *testing.T) {
	pages, _ := filepath.Glob(packaging + "/man/*.1")
	if len(pages) < 10 {
		t.Fatalf("only %d pages", len(pages))
	}
	for _, command := range [][]string{
		append([]string{"mandoc", "-T", "lint", "-W", "warning"}, pages...),
		append([]string{"groff", "-man", "-ww", "-T", "utf8", "-z"}, pages...),
		{"bash", "-n", packaging + "/completions/a2sscan.bash"},
		{"zsh", "-n", packaging + "/completions/a2sscan.zsh"},
		{"fish", "-n", packaging + "/completions/a2sscan.fish"},
	} {
		t.Run(command[0], func(t *testing.T) {
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skipf("SKIPPED, NOTHING WAS CHECKED BY IT: there is no %s in PATH (Debian: package %[1]s)", command[0])
			}
			out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestCompletions checks what the shells get as completions. The number at the end is an
// instruction for the shell: 0 also complete file names, 4 don't, 6 don't, and add no
// space.
func TestCompletions(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"scan --order ", "random input :4"},
		{"scan --order=i", "input :4"},
		{"scan --query ", "info players rules :6"},
		{"scan --query info,r", "info,rules :6"},
		{"scan --region e", "europe :4"},
		{"scan --status ", "text json none :4"},
		{"scan --rate ", "auto :4"},
		{"scan --timeout ", "auto :4"},
		{"scan -r ", "auto :4"},
		{"scan --checkpoint ", ":0"},
		{"scan -o ", ":0"},
		{"scan --config ", ":0"},
		{"scan ", ":0"},
		{"cat ", ":0"},
		{"decode ", ":0"},
		{"ask ", ":4"},
		{"doctor ", ":4"},
		{"schema d", "duckdb :4"},
		{"schema duckdb ", ":0"},
	} {
		args := append([]string{"__completeNoDesc"}, strings.Split(test.line, " ")...)
		code, out, _ := runIn(args...)
		if got := strings.Join(strings.Fields(out), " "); code != 0 || got != test.want {
			t.Errorf("%s: exit code %d, %s, want %s", test.line, code, got, test.want)
		}
	}
}

// TestExitCodesSaid: the README's table lists all exit codes of the program.
func TestExitCodesSaid(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	check(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| `).FindAllSubmatch(readme, -1)
	var said, are []string
	for _, row := range rows {
		said = append(said, string(row[1]))
	}
	for _, e := range console.Exits {
		are = append(are, fmt.Sprint(e.Code))
	}
	if !slices.Equal(said, are) {
		t.Errorf("the README has the exit codes %v, the program %v", said, are)
	}
}

// TestManualKeys: the page of scan lists every key of a status line and of a summary,
// and every fault, and nothing else. The keys inside an object explain the object.
func TestManualKeys(t *testing.T) {
	want := map[string][]string{
		"STATUS":  append(jsonKeys(reflect.TypeFor[scan.StatusRecord](), ""), "waiting", "waiting_for"),
		"SUMMARY": append(jsonKeys(reflect.TypeFor[ledger.Summary](), ""), jsonKeys(reflect.TypeOf(ledger.Select(scan.Plan{}, "shards")), "plan.")...),
	}
	for i := 1; i < wire.NumErrors; i++ {
		want["FAULTS"] = append(want["FAULTS"], wire.Error(i).String())
	}
	for i := range ledger.Table {
		row := &ledger.Table[i]
		if row.Status != "" {
			want["STATUS"] = append(want["STATUS"], row.Status)
		}
		if object := map[ledger.Section]string{ledger.InTargets: "targets.", ledger.InDatagrams: "datagrams."}[row.Section]; object != "" {
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
