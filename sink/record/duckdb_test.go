package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/scanner"
)

// duckDir names the environment variable with the folder in which npm installed
// @duckdb/node-api.
const duckDir = "A2SSCAN_DUCKDB"

// duckScript runs each statement from standard input, and prints its rows as a line of
// JSON.
const duckScript = `
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	for (const sql of JSON.parse(require('fs').readFileSync(0, 'utf8')))
		console.log(JSON.stringify((await db.runAndReadAll(sql)).getRowObjectsJson()));
})().catch(e => { console.error(e); process.exit(1); });
`

// query runs statements in DuckDB and returns the rows of each. It skips the test if
// duckDir is not set.
func query(t *testing.T, statements ...string) (answers [][]map[string]any) {
	t.Helper()
	dir := os.Getenv(duckDir)
	node, err := exec.LookPath("node")
	if dir == "" || err != nil {
		t.Skipf("SKIPPED, NOTHING WAS READ WITH DUCKDB: it takes node in PATH (Debian: package nodejs), "+
			"npm install --prefix DIR @duckdb/node-api, and %s=DIR", duckDir)
	}
	in, err := json.Marshal(statements)
	check(t, err)
	cmd := exec.Command(node, "-e", duckScript)
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	check(t, err)
	for line := range bytes.Lines(out) {
		var rows []map[string]any
		check(t, json.Unmarshal(line, &rows))
		answers = append(answers, rows)
	}
	return answers
}

// TestDuckDB loads a census of several frames whose rare keys come last, and in which some
// rule names differ only in case. DuckDB must return all records, with every value of the
// last ones. A Parquet file that DuckDB makes of the census must have the same values.
func TestDuckDB(t *testing.T) {
	query(t, "SELECT 1")   // without DuckDB it skips the test before the long work
	const records = 25_000 // more than DuckDB looks at to find the columns
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	last := writeLong(t, path, records-len(golden))
	census := strings.TrimSuffix(strings.TrimSpace(DuckDB(path)), ";")
	parquet := "'" + filepath.Join(t.TempDir(), "census.parquet") + "'"
	answers := query(t,
		"SELECT count(*)::INTEGER AS n, "+
			"sum((rules['case'] = 'lower' AND rules['CASE'] = 'UPPER')::INTEGER)::INTEGER AS cases FROM ("+census+")",
		fmt.Sprintf("SELECT to_json(c)::VARCHAR AS j FROM (%s) c OFFSET %d", census, records-len(golden)),
		"COPY ("+census+") TO "+parquet+" (FORMAT parquet)",
		fmt.Sprintf("SELECT to_json(c)::VARCHAR AS j FROM %s c OFFSET %d", parquet, records-len(golden)))
	n := records - len(golden)
	want := map[string]any{"n": float64(records), "cases": float64(n)}
	if got := answers[0][0]; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !reflect.DeepEqual(answers[3], answers[1]) {
		t.Errorf("Parquet has\n%v\nand the census\n%v", answers[3], answers[1])
	}
	if len(answers[1]) != len(golden) {
		t.Fatalf("%d of the last records", len(answers[1]))
	}
	for i, row := range answers[1] {
		got, want := duckForm(t, []byte(row["j"].(string))), duckForm(t, last[i])
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", golden[i].name, got, want)
		}
	}
}

// writeLong writes a census of n plain records, followed by the golden records. It
// returns the golden records.
func writeLong(t *testing.T, path string, n int) (last [][]byte) {
	t.Helper()
	var b []byte
	var e Encoder
	for i := range n {
		r := blank()
		r.Addr = typical(i).Addr
		r.Status = scanner.StatusOK
		r.HasRules, r.Rules = true, rulesOf("case", "lower", "CASE", "UPPER")
		b = e.Append(b, "", r)
	}
	for _, g := range golden {
		start := len(b)
		b = e.Append(b, g.scan, g.result)
		last = append(last, b[start:len(b):len(b)])
	}
	z, err := zstd.NewWriter(nil)
	check(t, err)
	var frames []byte
	for chunk := range slices.Chunk(b, 1<<20) {
		frames = z.EncodeAll(chunk, frames)
	}
	check(t, os.WriteFile(path, frames, 0o666))
	return last
}

// duckForm returns a decoded record in a form that can be compared: without null,
// which DuckDB has for an absent key, with times as DuckDB writes them, and with
// numbers as float32, which DuckDB prints with other decimals.
func duckForm(t *testing.T, line []byte) any {
	t.Helper()
	var v map[string]any
	check(t, json.Unmarshal(line, &v))
	duckTime(v, "time")
	if game, ok := v["game"].(map[string]any); ok {
		duckTime(game, "started")
	}
	return withoutNull(v)
}

// duckTime changes the time at key to the form in which DuckDB writes it.
func duckTime(v map[string]any, key string) {
	if s, ok := v[key].(string); ok {
		v[key] = strings.TrimSuffix(strings.Replace(s, "T", " ", 1), "Z")
	}
}

func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, part := range v {
			if part == nil {
				delete(v, key)
				continue
			}
			v[key] = withoutNull(part)
		}
	case []any:
		for i := range v {
			v[i] = withoutNull(v[i])
		}
	case float64:
		return float32(v)
	}
	return v
}
