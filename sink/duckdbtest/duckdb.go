// Package duckdbtest runs DuckDB for tests.
package duckdbtest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// duckDir names the environment variable with the folder in which npm installed
// @duckdb/node-api.
const duckDir = "A2SSCAN_DUCKDB"

// duckScript prints the version of DuckDB. Then it runs each statement from standard
// input and prints its rows as a line of JSON.
const duckScript = `
const { DuckDBInstance, version } = require('@duckdb/node-api');
(async () => {
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	console.log(JSON.stringify([{ version: version() }]));
	for (const sql of JSON.parse(require('fs').readFileSync(0, 'utf8')))
		console.log(JSON.stringify((await db.runAndReadAll(sql)).getRowObjectsJson()));
})().catch(e => { console.error(e); process.exit(1); });
`

// Query runs statements in DuckDB and returns the rows of each. It skips the test
// if there is no DuckDB.
func Query(t *testing.T, statements ...string) (answers [][]map[string]any) {
	t.Helper()
	in, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	cmd := node(t)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var rows []map[string]any
		if err := json.Unmarshal([]byte(line), &rows); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, rows)
	}
	t.Logf("DuckDB %v", answers[0][0]["version"])
	return answers[1:]
}

// node returns the command that runs duckScript. It skips the test if there is no
// node, or no DuckDB and duckDir is not set.
func node(t *testing.T) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIPPED, NOTHING WAS READ WITH DUCKDB: there is no node in PATH (Debian: package nodejs)")
	}
	env := os.Environ()
	if dir := os.Getenv(duckDir); dir != "" {
		env = append(env, "NODE_PATH="+filepath.Join(dir, "node_modules"))
	}
	probe := exec.Command(path, "-e", `require("@duckdb/node-api")`)
	probe.Env = env
	if err := probe.Run(); err != nil {
		if os.Getenv(duckDir) != "" {
			t.Fatalf("%s is set, and node finds no @duckdb/node-api there: %v", duckDir, err)
		}
		t.Skipf("SKIPPED, NOTHING WAS READ WITH DUCKDB: node finds no @duckdb/node-api; "+
			"npm install --prefix DIR @duckdb/node-api, and %s=DIR", duckDir)
	}
	cmd := exec.Command(path, "-e", duckScript)
	cmd.Env = env
	return cmd
}
