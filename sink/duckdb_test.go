package sink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

// duckDir names the folder in which npm install @duckdb/node-api was run.
const duckDir = "A2SSCAN_DUCKDB"

// duckScript answers each statement of standard input with a line of JSON.
const duckScript = `
const { DuckDBInstance, version } = require('@duckdb/node-api');
(async () => {
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	console.log(JSON.stringify([{ version: version() }]));
	for (const sql of JSON.parse(require('fs').readFileSync(0, 'utf8')))
		console.log(JSON.stringify((await db.runAndReadAll(sql)).getRowObjectsJson()));
})().catch(e => { console.error(e); process.exit(1); });
`

// duck runs statements in DuckDB and returns the rows of each. It skips the
// test where there is no DuckDB.
func duck(t *testing.T, statements ...string) (answers [][]map[string]any) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIPPED, NOTHING WAS READ WITH DUCKDB: there is no node in PATH (Debian: package nodejs)")
	}
	env := os.Environ()
	if dir := os.Getenv(duckDir); dir != "" {
		env = append(env, "NODE_PATH="+filepath.Join(dir, "node_modules"))
	}
	probe := exec.Command(node, "-e", `require("@duckdb/node-api")`)
	probe.Env = env
	if err := probe.Run(); err != nil {
		if os.Getenv(duckDir) != "" {
			t.Fatalf("%s is set, and node finds no @duckdb/node-api there: %v", duckDir, err)
		}
		t.Skipf("SKIPPED, NOTHING WAS READ WITH DUCKDB: node finds no @duckdb/node-api; "+
			"npm install --prefix DIR @duckdb/node-api, and %s=DIR", duckDir)
	}
	in, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "-e", duckScript)
	cmd.Env, cmd.Stdin, cmd.Stderr = env, bytes.NewReader(in), os.Stderr
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

// TestDuckDB loads a census whose rare keys come last: whole, with the columns
// that DuckDB is told, and rule names that differ in case only.
func TestDuckDB(t *testing.T) {
	const records = 50_000
	path := filepath.Join(t.TempDir(), "census.ndjson")
	last := writeLong(t, path, records-len(golden))
	census := strings.TrimSuffix(strings.TrimSpace(DuckDB(path)), ";")
	answers := duck(t,
		"SELECT count(*)::INTEGER AS n, "+
			"sum((rules['case'] = 'lower' AND rules['CASE'] = 'UPPER')::INTEGER)::INTEGER AS cases FROM ("+census+")",
		fmt.Sprintf("SELECT to_json(c)::VARCHAR AS j FROM (%s) c OFFSET %d", census, records-len(golden)))
	n := records - len(golden)
	want := map[string]any{"n": float64(records), "cases": float64(n)}
	if got := answers[0][0]; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
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

// TestOtherPrograms: DuckDB and zstd read a census of 50 frames to its end.
func TestOtherPrograms(t *testing.T) {
	const frames, each = 50, 20
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	w := create(t, path, Options{})
	for i := range frames {
		write(t, w, i*each, (i+1)*each)
		if err := w.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	closeWriter(t, w)
	file, err := os.ReadFile(path)
	if n := countFrames(file); n != frames || err != nil {
		t.Fatalf("%d frames: %v", n, err)
	}
	wantWhole(t, path, frames*each)
	t.Run("zstd", func(t *testing.T) {
		zstd, err := exec.LookPath("zstd")
		if err != nil {
			t.Skip("SKIPPED, NOTHING WAS READ WITH ZSTD: there is no zstd in PATH (Debian: package zstd)")
		}
		text, err := exec.Command(zstd, "-dc", path).Output()
		if want := strings.Join(lines(0, frames*each), "\n") + "\n"; string(text) != want || err != nil {
			t.Errorf("%d bytes of %d: %v", len(text), len(want), err)
		}
	})
	t.Run("DuckDB", func(t *testing.T) {
		census := strings.TrimSuffix(strings.TrimSpace(DuckDB(path)), ";")
		answers := duck(t, "SELECT count(*)::INTEGER AS n, count(DISTINCT ip)::INTEGER AS ips, "+
			"sum(len(players))::INTEGER AS players FROM ("+census+")")
		const n = float64(frames * each)
		want := map[string]any{"n": n, "ips": n, "players": 12 * n}
		if got := answers[0][0]; !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// writeLong writes a census of n plain records and then the golden ones, which
// have every key, and returns those.
func writeLong(t *testing.T, path string, n int) (last [][]byte) {
	t.Helper()
	var b []byte
	var e Encoder
	for i := range n {
		r := blank()
		r.Addr = typical(i).Addr
		r.Status = scanner.StatusOK
		r.HasRules, r.Rules = true, rules("case", "lower", "CASE", "UPPER")
		b = e.Append(b, "", r)
	}
	for _, g := range golden {
		start := len(b)
		b = e.Append(b, g.scan, g.result)
		last = append(last, b[start:len(b):len(b)])
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return last
}

// duckForm is a record as it can be compared: DuckDB says null for an absent
// key, has a space in times, and holds a float32 in another decimal.
func duckForm(t *testing.T, line []byte) any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	if s, ok := v["time"].(string); ok {
		v["time"] = strings.TrimSuffix(strings.Replace(s, "T", " ", 1), "Z")
	}
	return withoutNull(v)
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
