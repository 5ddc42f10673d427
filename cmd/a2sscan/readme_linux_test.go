package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
)

// TestReadme runs the commands of the README as they stand: the blocks marked
// sh, one shell for all of them. Those that start with go are .ci/run's.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Fatal("no commands in the README")
	}
	var script strings.Builder
	for _, b := range blocks {
		for line := range strings.Lines(string(b[1])) {
			if !strings.HasPrefix(line, "go ") {
				script.WriteString(line)
			}
		}
	}

	serve(t, fleet.Config{Network: netip.MustParsePrefix("127.66.0.0/28"), Ports: []uint16{27107}})
	dir := t.TempDir()
	servers := "127.66.0.1:27107\n127.66.0.2:27107 with a tag\n127.66.0.3:27107\n"
	if err := os.WriteFile(dir+"/servers.txt", []byte(servers), 0o666); err != nil {
		t.Fatal(err)
	}
	// The README's servers are on the net. Ours are on loopback, which is asked
	// only if that is said.
	prelude := `a2sscan() {
		if [ "$1" = scan ]; then shift; set -- scan --allow-reserved --cooldown 0 "$@"; fi
		command a2sscan "$@"
	}
`
	cmd := exec.Command("sh", "-eux", "-c", prelude+script.String())
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestReadmeProgram builds the program of the README as it stands but for the
// servers that it asks, which are simulated ones, and runs it.
func TestReadmeProgram(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllSubmatch(text, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d programs in the README", len(blocks))
	}
	cfg := fleet.Config{
		Network: netip.MustParsePrefix("127.78.0.0/29"), Ports: []uint16{27403}, Kinds: []fleet.Kind{fleet.Source},
	}
	serve(t, cfg)
	var servers, want []string
	for addr := range cfg.All() {
		servers = append(servers, strconv.Quote(addr.String()))
		want = append(want, fmt.Sprintf("%v ok %q\n", addr, cfg.Truth(addr, scanner.AskAll).Info.Name))
	}
	list := regexp.MustCompile(`\[\]string\{"203\.0\.113\..*?\}`)
	source := list.ReplaceAllString(string(blocks[0][1]), "[]string{"+strings.Join(servers, ", ")+"}")
	if strings.Contains(source, "203.0.113.") {
		t.Fatalf("the program asks others than ours:\n%s", source)
	}
	got := slices.Sorted(strings.Lines(runProgram(t, source)))
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// runProgram builds a program in this module and returns what it prints.
func runProgram(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/main.go", []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", dir+"/program", dir+"/main.go").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, dir+"/program").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestExamples: the examples of every command's help are command lines that
// the program understands.
func TestExamples(t *testing.T) {
	a := &app{terminal: newTerminal(os.Stderr), out: &results{}}
	root := a.rootCommand()
	for _, cmd := range append(root.Commands(), root) {
		lines := strings.Split(cmd.Example, "\n")
		if len(lines) != 3 {
			t.Errorf("%s has %d examples, want 3", cmd.Name(), len(lines))
		}
		for _, line := range lines {
			for _, part := range strings.Split(line, "|") {
				checkCommandLine(t, part)
			}
		}
	}
}

// checkCommandLine parses the part of a pipeline if it is a call of ours.
func checkCommandLine(t *testing.T, part string) {
	t.Helper()
	fields := strings.Fields(part)
	if len(fields) == 0 || fields[0] != "a2sscan" {
		return
	}
	var args []string
	for _, f := range fields[1:] {
		if strings.HasPrefix(f, ">") {
			break
		}
		args = append(args, f)
	}
	a := &app{terminal: newTerminal(os.Stderr), out: &results{}}
	cmd, rest, err := a.rootCommand().Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil {
		t.Errorf("%s: %v", strings.TrimSpace(part), err)
	}
}
