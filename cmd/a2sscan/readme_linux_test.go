package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"net/netip"

	"github.com/a2sscan/a2sscan/bench/fleet"
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
