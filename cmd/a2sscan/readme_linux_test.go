package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
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
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/wire"
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
		want = append(want, fmt.Sprintf("%v ok %q\n", addr, cfg.Truth(addr, wire.AskAll).Info.Name))
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
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, dir+"/program").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestExamples: the examples in every command's help are valid command lines. A line that
// ends with "|" or a backslash continues on the next one.
func TestExamples(t *testing.T) {
	a := &app{term: console.New(os.Stderr), out: &results{}}
	root := a.rootCommand()
	for _, cmd := range append(root.Commands(), root) {
		lines := strings.Split(strings.NewReplacer("|\n", "|", "\\\n", " ").Replace(cmd.Example), "\n")
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

// duckScript runs the statements on its standard input, and prints column j of
// their results.
const duckScript = `
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	const all = await db.extractStatements(require('fs').readFileSync(0, 'utf8'));
	for (let i = 0; i < all.count; i++) {
		const rows = (await (await all.prepare(i)).runAndReadAll()).getRowObjectsJson();
		for (const row of rows) if (row.j !== undefined) console.log(row.j);
	}
})().catch(e => { console.error(e); process.exit(1); });
`

// duckDB runs statements in DuckDB, in the folder dir, and returns column j of
// their results. A2SSCAN_DUCKDB names DuckDB's folder, as in the tests of sink.
// Without it, duckDB skips the test.
func duckDB(t *testing.T, dir, statements string) []byte {
	t.Helper()
	return inNode(t, dir, "A2SSCAN_DUCKDB", "@duckdb/node-api", duckScript, statements)
}

// clickScript runs an array of statements in ClickHouse, which is part of package
// chdb. For each statement that returns rows it prints an array of them.
const clickScript = `
const { Session } = require('chdb');
const db = new Session();
for (const statement of JSON.parse(require('fs').readFileSync(0, 'utf8'))) {
	const rows = db.query(statement, 'JSONEachRow').trim();
	if (rows) console.log('[' + rows.split('\n').join(',') + ']');
}
db.close();
`

// clickHouse runs statements in ClickHouse, whose folder A2SSCAN_CHDB names. It
// returns one line per statement that returns rows: an array of them.
func clickHouse(t *testing.T, dir string, statements ...string) []byte {
	t.Helper()
	in, err := json.Marshal(statements)
	check(t, err)
	return inNode(t, dir, "A2SSCAN_CHDB", "chdb", clickScript, string(in))
}

// inNode runs a script in node with a package from the folder that a variable
// names.
func inNode(t *testing.T, dir, variable, pkg, script, stdin string) []byte {
	t.Helper()
	folder := os.Getenv(variable)
	node, err := exec.LookPath("node")
	if folder == "" || err != nil {
		t.Skipf("SKIPPED, NOTHING WAS READ WITH %s: it takes node in PATH (Debian: package nodejs) and the package "+
			"in a folder that is named: npm install --prefix DIR %[1]s, and %s=DIR", pkg, variable)
	}
	cmd := exec.Command(node, "-e", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(folder, "node_modules"))
	cmd.Stdin = strings.NewReader(stdin)
	return printed(t, cmd)
}

// readmeInDuckDB loads a census as docs/databases.md does, with the files that its
// commands have written to dir, and runs its queries: once on the census, and once on the
// table in Parquet.
func readmeInDuckDB(t *testing.T, dir string) {
	queries := ""
	for _, q := range readmeQueries(t) {
		queries += "\nSELECT to_json(list(q))::VARCHAR AS j FROM (" + q + ") q;"
	}
	wantReadmeAnswers(t, dir, duckDB(t, dir, readFile(t, dir, "duckdb.sql")+queries))
	duckDB(t, dir, readFile(t, dir, "parquet.sql"))
	wantReadmeAnswers(t, dir, duckDB(t, dir, "CREATE VIEW census AS FROM 'census.parquet';"+queries))
}

// readmeInClickHouse creates the table as the README does, fills it as the comment
// at the top of that file describes, and runs the README's queries.
func readmeInClickHouse(t *testing.T, dir string) {
	statements := []string{
		strings.TrimSuffix(strings.TrimSpace(readFile(t, dir, "clickhouse.sql")), ";"),
		"INSERT INTO census SETTINGS date_time_input_format = 'best_effort' FORMAT JSONEachRow\n" +
			string(ran(t, "cat", filepath.Join(dir, "census.ndjson.zst"))),
	}
	wantReadmeAnswers(t, dir, clickHouse(t, dir, append(statements, readmeQueries(t)...)...))
}

// TestReadmeFarms: the queries about farms in docs/databases.md have the same answers in DuckDB and
// in ClickHouse as in stats.
func TestReadmeFarms(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "census.ndjson")
	save := func(name string, text []byte) { check(t, os.WriteFile(name, text, 0o666)) }
	save(name, ran(t, "fleet", "--network", "127.143.0.0/22", "-p", "27015", "--alive", "1", "--fakes", "0.5", "--seed", "7", "--truth"))
	save(filepath.Join(dir, "farms.csv"), ran(t, "cat", name, "--fakes", "only", "-f", "addr,farm", "--format", "csv"))
	stats, err := census.ParseStats(ran(t, "stats", name))
	check(t, err)
	blocks := readmeBlocks(t, "sql")
	at := slices.IndexFunc(blocks, func(sql string) bool { return strings.Contains(sql, "farms.csv") })
	queries := strings.Split(strings.TrimSuffix(blocks[at], ";\n"), ";\n")
	wantAnswers := func(t *testing.T, answers []byte) {
		lines := slices.Collect(bytes.Lines(answers))
		if len(lines) != 2 {
			t.Fatalf("%d answers:\n%s", len(lines), answers)
		}
		var farms []census.Farm
		var servers []struct{ Servers uint64 }
		check(t, errors.Join(json.Unmarshal(lines[0], &farms), json.Unmarshal(lines[1], &servers)))
		members := map[string]uint64{}
		for _, f := range stats.Farms.Top {
			members[f.ID] = f.Servers
		}
		for _, f := range farms {
			if members[f.ID] != f.Servers || f.Name == "" {
				t.Errorf("farm %+v, want %d servers", f, members[f.ID])
			}
		}
		want := stats.WithoutFarms.Servers - stats.Flagged.Doubtful.Servers - stats.Flagged.Unusual.Servers
		if len(farms) != min(10, len(members)) || len(farms) < 2 || servers[0].Servers != want || want == 0 {
			t.Errorf("%d farms of %d, %d other servers, want %d", len(farms), len(members), servers[0].Servers, want)
		}
	}
	t.Run("DuckDB", func(t *testing.T) {
		statements := "CREATE TABLE census AS " + string(ran(t, "schema", "duckdb", name))
		for _, q := range queries {
			statements += "\nSELECT to_json(list(q))::VARCHAR AS j FROM (" + q + ") q;"
		}
		wantAnswers(t, duckDB(t, dir, statements))
	})
	t.Run("ClickHouse", func(t *testing.T) {
		text, err := os.ReadFile("../../docs/databases.md")
		check(t, err)
		table := regexp.MustCompile(`file\('farms.csv', [^)]*\)`).FindString(string(text))
		statements := []string{
			strings.TrimSuffix(strings.TrimSpace(string(ran(t, "schema", "clickhouse"))), ";"),
			"INSERT INTO census SETTINGS date_time_input_format = 'best_effort' FORMAT JSONEachRow\n" + string(readFile(t, dir, "census.ndjson")),
		}
		for _, q := range queries {
			statements = append(statements, regexp.MustCompile(`read_csv\([^)]*\)`).ReplaceAllLiteralString(q, table))
		}
		wantAnswers(t, clickHouse(t, dir, statements...))
	})
}

// readmeQueries returns the SQL queries in docs/databases.md.
func readmeQueries(t *testing.T) (queries []string) {
	for q := range strings.SplitSeq(readmeBlocks(t, "sql")[0], ";\n") {
		if q = strings.TrimSpace(q); q != "" {
			queries = append(queries, q)
		}
	}
	return queries
}

// wantReadmeAnswers checks that answers has one line for each query of the README,
// and that the first, the servers and people of the largest games, agrees with the
// census in dir. It does not check the other answers.
func wantReadmeAnswers(t *testing.T, dir string, answers []byte) {
	t.Helper()
	lines := slices.Collect(bytes.Lines(answers))
	if n := len(readmeQueries(t)); len(lines) != n {
		t.Fatalf("%d answers to %d queries:\n%s", len(lines), n, answers)
	}
	type games struct {
		Title           string
		Servers, People int
	}
	var got []games
	if err := json.Unmarshal(lines[0], &got); err != nil {
		t.Fatalf("%v: %s", err, lines[0])
	}
	want := map[string]games{}
	for line := range bytes.Lines(ran(t, "cat", filepath.Join(dir, "census.ndjson.zst"))) {
		var r struct {
			Status string
			Info   struct {
				Game          string
				Type          string `json:"server_type"`
				Players, Bots int
			}
			Game struct {
				Name    string
				Players *int
			}
		}
		check(t, json.Unmarshal(line, &r))
		people := max(r.Info.Players-r.Info.Bots, 0)
		if r.Game.Players != nil {
			people = *r.Game.Players
		}
		if r.Info.Type == "proxy" {
			people = 0 // it watches a game: the people are on another server
		}
		title := cmp.Or(r.Game.Name, r.Info.Game)
		g := want[title]
		if r.Status == "ok" || r.Status == "partial" {
			want[title] = games{title, g.Servers + 1, g.People + people}
		}
	}
	if len(got) == 0 || len(got) != min(10, len(want)) {
		t.Errorf("%d games, want %d", len(got), min(10, len(want)))
	}
	for _, g := range got {
		if g != want[g.Title] {
			t.Errorf("%v, want %v", g, want[g.Title])
		}
	}
}

// readmeInPython reads a census as the README does, but two copies of it in one
// file, because concatenated files must work too. It skips the test without the
// module.
func readmeInPython(t *testing.T, dir string) {
	python := "/usr/bin/python3" // Debian has the module for this one
	if err := exec.Command(python, "-c", "import zstandard").Run(); err != nil {
		t.Skip("SKIPPED, NOTHING WAS READ WITH PYTHON: there is no module zstandard (Debian: package python3-zstandard)")
	}
	twice := strings.Repeat(readFile(t, dir, "census.ndjson.zst"), 2)
	folder := t.TempDir()
	check(t, os.WriteFile(filepath.Join(folder, "census.ndjson.zst"), []byte(twice), 0o666))
	cmd := exec.Command(python, "-c", readmeBlocks(t, "python")[0])
	cmd.Dir = folder
	var want strings.Builder
	for line := range bytes.Lines(ran(t, "cat", filepath.Join(dir, "census.ndjson.zst"))) {
		var r struct {
			IP     string
			Port   int
			Status string
		}
		check(t, json.Unmarshal(line, &r))
		fmt.Fprintln(&want, r.IP, r.Port, r.Status)
	}
	if got := string(printed(t, cmd)); got != strings.Repeat(want.String(), 2) {
		t.Errorf("%s\nwant twice\n%s", got, want.String())
	}
}

// readFile returns the content of a file in dir.
func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	check(t, err)
	return string(b)
}

func printed(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(t, err)
	return out
}
