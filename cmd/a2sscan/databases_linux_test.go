package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
		Game            string
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
			Game struct{ Players *int }
		}
		check(t, json.Unmarshal(line, &r))
		people := max(r.Info.Players-r.Info.Bots, 0)
		if r.Game.Players != nil {
			people = *r.Game.Players
		}
		if r.Info.Type == "proxy" {
			people = 0 // it watches a game: the people are on another server
		}
		g := want[r.Info.Game]
		if r.Status == "ok" || r.Status == "partial" {
			want[r.Info.Game] = games{r.Info.Game, g.Servers + 1, g.People + people}
		}
	}
	if len(got) == 0 || len(got) != min(10, len(want)) {
		t.Errorf("%d games, want %d", len(got), min(10, len(want)))
	}
	for _, g := range got {
		if g != want[g.Game] {
			t.Errorf("%v, want %v", g, want[g.Game])
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
