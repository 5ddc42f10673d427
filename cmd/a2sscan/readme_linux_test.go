package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// readmePages are the README and the pages that continue it.
var readmePages = []string{"../../README.md", "../../docs/operating.md", "../../docs/watching.md", "../../docs/databases.md"}

// readmeBlocks returns the code blocks of the README and its pages that are marked
// with a language.
func readmeBlocks(t *testing.T, language string) (blocks []string) {
	t.Helper()
	marked := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	for _, page := range readmePages {
		text, err := os.ReadFile(page)
		check(t, err)
		for _, m := range marked.FindAllSubmatch(text, -1) {
			blocks = append(blocks, string(m[1]))
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("no block of %v is marked %s", readmePages, language)
	}
	return blocks
}

// TestReadme runs the README's blocks marked sh, unchanged and all in one shell. It
// omits those that begin with go, which .ci/run runs. Then it reads the resulting
// census in the ways that the README describes.
func TestReadme(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	var script strings.Builder
	for line := range strings.Lines(strings.Join(readmeBlocks(t, "sh"), "")) {
		if !strings.HasPrefix(line, "go ") {
			script.WriteString(line)
		}
	}
	runReadme(t, dir, script.String())
	t.Run("DuckDB", func(t *testing.T) { readmeInDuckDB(t, dir) })
	t.Run("ClickHouse", func(t *testing.T) { readmeInClickHouse(t, dir) })
	t.Run("SQLite", func(t *testing.T) { readmeInSQLite(t, dir) })
	t.Run("Python", func(t *testing.T) { readmeInPython(t, dir) })
}

// readmeInSQLite runs the queries that the README names on the database of its watch.
func readmeInSQLite(t *testing.T, dir string) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "watch.db"))
	check(t, err)
	defer db.Close()
	answered := 0
	for _, query := range strings.SplitAfter(readmeBlocks(t, "sqlite")[0], ";\n") {
		if strings.TrimSpace(query) == "" {
			continue
		}
		rows, err := db.Query(query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if rows.Next() {
			answered++
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	if answered == 0 {
		t.Error("no query has an answer, but servers are up")
	}
}

// readmePrelude is run before the README's commands. Some of its pages name servers on
// the Internet, but here all are on loopback, which a scan queries only with
// --allow-reserved. Scans wait less for silent servers, and the watch ends by itself.
// doctor may find that this machine is not ready. Where the README waits a second for a
// fleet, the prelude waits until the fleet is ready.
const readmePrelude = `
slept=0
sleep() {
	slept=$((slept + 1))
	until [ "$(grep -c "ready: [0-9]* *servers on" fleets)" -ge "$slept" ]; do command sleep 0.01; done
}
a2sscan() {
	case $1 in
	fleet) command a2sscan "$@" 2>>fleets; return ;;
	watch) set -- "$@" --max-runtime 7s ;;
	scan) shift; set -- scan --allow-reserved --cooldown 0 --timeout 300ms "$@" ;;
	esac
	command a2sscan "$@" || [ "$1 $?" = 'doctor 5' ]
}
: >fleets
trap 'cat fleets >&2' EXIT
`

// runReadme runs a script, and terminates the processes that it leaves.
func runReadme(t *testing.T, dir, script string) {
	t.Helper()
	prelude := readmePrelude
	if _, err := exec.LookPath("jq"); err != nil {
		t.Log("NOTHING WAS READ WITH JQ: there is no jq in PATH (Debian: package jq)")
		prelude += "jq() { cat; }\n"
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	check(t, err)
	defer out.Close()
	cmd := exec.Command("sh", "-eux", "-c", prelude+script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	isolate(t, cmd)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	err = cmd.Run()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	said, _ := os.ReadFile(out.Name())
	if err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	t.Logf("%s", said)
}

// isolate makes cmd run in a new network namespace, in which no other program uses the
// ports that the README names. If it can't create one, it logs that and leaves cmd
// unchanged.
func isolate(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	up := []string{"sh", "-c", `ip link set lo up && exec "$@"`, "sh"}
	probe := exec.Command(up[0], append(up[1:], "true")...)
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if out, err := probe.CombinedOutput(); err != nil {
		t.Logf("THE README'S PORTS ARE THOSE OF THIS MACHINE, which other programs may have: "+
			"no network namespace can be made (as root, with ip): %v %s", err, out)
		return
	}
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	cmd.Args = append(up, cmd.Args...)
}

// labelOf matches the beginning of a line of the closing summary.
var labelOf = regexp.MustCompile(`^(a2sscan: |         )(found|targets|written|summary|took) +`)

// TestReadmeSession: the scan that the README shows fits into 80 columns, and its
// last lines have the labels of a real scan.
func TestReadmeSession(t *testing.T) {
	_, port := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.94.0.0/27"), Alive: 0.9,
		Kinds: []fleet.Kind{fleet.Source, fleet.Split, fleet.TruncatedRules},
	})
	shown := readmeBlocks(t, "console")[0]
	command := regexp.MustCompile(`(?m)^\$ a2sscan (scan .*)`).FindStringSubmatch(shown)
	if command == nil {
		t.Fatal("the README shows no scan")
	}
	args := strings.Fields(command[1])
	t.Chdir(t.TempDir()) // the list and the census are there
	check(t, os.WriteFile("servers.txt", []byte("127.94.0.0-127.94.0.31:"+port+"\n"), 0o666))
	var said strings.Builder
	if code := run(append(args, "--cooldown", "0", "--timeout", "100ms"), strings.NewReader(""), io.Discard, &said); code != console.ExitOK {
		t.Fatalf("%q: %d %s", args, code, said.String())
	}
	labels := 0
	for line := range strings.Lines(shown) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
		label := labelOf.FindString(line)
		if label == "" {
			continue
		}
		if labels++; !strings.Contains(said.String(), label) {
			t.Errorf("a scan prints no line %q", label)
		}
	}
	if labels < 5 {
		t.Errorf("%d lines with a label:\n%s", labels, shown)
	}
}

// TestReadmeProgram builds and runs the program in the README as an importer of a
// clone does, with the README's commands. Only the addresses of the servers are
// replaced by simulated ones, and the path of the clone.
func TestReadmeProgram(t *testing.T) {
	skipShort(t)
	t.Parallel()
	blocks := readmeBlocks(t, "go")
	if len(blocks) != 1 {
		t.Fatalf("%d programs in the README", len(blocks))
	}
	cfg, _ := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.78.0.0/29"), Kinds: []fleet.Kind{fleet.Source},
	})
	var servers, want []string
	for addr := range cfg.All() {
		servers = append(servers, strconv.Quote(addr.String()))
		want = append(want, fmt.Sprintf("%v ok %q\n", addr, cfg.Truth(addr, scanner.AskAll).Info.Name))
	}
	list := regexp.MustCompile(`\[\]string\{"127\.43\.0\..*?\}`)
	source := list.ReplaceAllString(blocks[0], "[]string{"+strings.Join(servers, ", ")+"}")
	if strings.Contains(source, "127.43.0.") {
		t.Fatalf("the program does not ask the expected servers:\n%s", source)
	}
	got := slices.Sorted(strings.Lines(runProgram(t, source)))
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// runProgram builds a program in a module of its own, which the README's commands
// create, and returns what it prints. Only modules that this one needs are there.
func runProgram(t *testing.T, source string) string {
	t.Helper()
	clone, err := filepath.Abs("../..")
	check(t, err)
	dir := t.TempDir()
	check(t, os.WriteFile(dir+"/main.go", []byte(source), 0o666))
	commands := ""
	for line := range strings.Lines(strings.Join(readmeBlocks(t, "sh"), "")) {
		if strings.HasPrefix(line, "go mod ") || strings.HasPrefix(line, "go get ") {
			commands += strings.ReplaceAll(line, "../a2sscan", "'"+clone+"'")
		}
	}
	build := exec.Command("sh", "-eux", "-c", commands+"go build -ldflags -w -o program .")
	build.Dir, build.Env = dir, append(os.Environ(), "GOPROXY=off", "GOSUMDB=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, dir+"/program").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestExamples: the examples in every command's help are valid command lines. A line that
// ends with "|" continues on the next one.
func TestExamples(t *testing.T) {
	a := &app{term: console.New(os.Stderr), out: &results{}}
	root := a.rootCommand()
	for _, cmd := range append(root.Commands(), root) {
		lines := strings.Split(strings.ReplaceAll(cmd.Example, "|\n", "|"), "\n")
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

// checkCommandLine parses one command of a pipeline if it runs a2sscan.
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
		args = append(args, strings.Trim(f, "'"))
	}
	a := &app{term: console.New(os.Stderr), out: &results{}}
	cmd, rest, err := a.rootCommand().Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil {
		t.Errorf("%s: %v", strings.TrimSpace(part), err)
	}
}
