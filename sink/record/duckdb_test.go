package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/duckdbtest"
)

// TestDuckDB loads a census whose rare keys come last, and in which some rule names
// differ only in case. DuckDB must return all records, with every value of the last
// ones. A Parquet file that DuckDB makes of the census must have the same values.
func TestDuckDB(t *testing.T) {
	duckdbtest.Query(t, "SELECT 1") // without DuckDB it skips the test before the long work
	const records = 25_000          // more than DuckDB looks at to find the columns
	path := filepath.Join(t.TempDir(), "census.ndjson")
	last := writeLong(t, path, records-len(golden))
	census := strings.TrimSuffix(strings.TrimSpace(DuckDB(path)), ";")
	parquet := "'" + filepath.Join(t.TempDir(), "census.parquet") + "'"
	answers := duckdbtest.Query(t,
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
	check(t, os.WriteFile(path, b, 0o666))
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
