package record

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// clickDir names the environment variable with the folder in which npm installed chdb:
// ClickHouse as a library.
const clickDir = "A2SSCAN_CHDB"

// clickScript runs each statement of the list on standard input and prints its
// rows, one per line.
const clickScript = `
const { Session } = require('chdb');
const db = new Session();
for (const statement of JSON.parse(require('fs').readFileSync(0, 'utf8')))
	process.stdout.write(db.query(statement, 'JSONEachRow'));
db.close();
`

// TestClickHouse loads records that have every key into the table that the schema
// defines, and reads them back.
func TestClickHouse(t *testing.T) {
	node, err := exec.LookPath("node")
	if dir := os.Getenv(clickDir); dir == "" || err != nil {
		t.Skipf("SKIPPED, NOTHING WAS READ WITH CLICKHOUSE: it takes node in PATH (Debian: package nodejs), "+
			"npm install --prefix DIR chdb, and %s=DIR", clickDir)
	}
	last := writeLong(t, filepath.Join(t.TempDir(), "census.ndjson"), 0)
	in, err := json.Marshal([]string{
		strings.TrimSuffix(strings.TrimSpace(ClickHouse()), ";"),
		"INSERT INTO census SETTINGS date_time_input_format = 'best_effort' FORMAT JSONEachRow\n" +
			string(bytes.Join(last, nil)),
		"SELECT * FROM census SETTINGS output_format_json_quote_64bit_integers = 0",
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "-e", clickScript)
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(os.Getenv(clickDir), "node_modules"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	rows := bytes.SplitAfter(bytes.TrimSpace(out), []byte("\n"))
	if len(rows) != len(golden) {
		t.Fatalf("%d records of %d", len(rows), len(golden))
	}
	for i, row := range rows {
		got, want := withoutZero(clickForm(t, row)), withoutZero(duckForm(t, last[i]))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", golden[i].name, got, want)
		}
	}
}

// clickForm returns a decoded row in a form that can be compared. ClickHouse
// returns the master's data as a string of JSON; clickForm decodes it.
func clickForm(t *testing.T, row []byte) any {
	t.Helper()
	v := duckForm(t, row)
	object := v.(map[string]any)
	if text, ok := object["master"].(string); ok {
		object["master"] = duckForm(t, []byte(text))
	}
	return v
}

// withoutZero removes empty and zero values: in columns that can't be null,
// ClickHouse stores these for absent keys.
func withoutZero(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, part := range v {
			if v[key] = withoutZero(part); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = withoutZero(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	default:
		if v == nil || reflect.ValueOf(v).IsZero() {
			return nil
		}
	}
	return v
}
