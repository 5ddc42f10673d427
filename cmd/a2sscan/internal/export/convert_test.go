package export

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/a2sscan/a2sscan/sink"
)

// converted converts records with the packers and workers of a converter, and returns
// the file.
func converted(t *testing.T, lines [][]byte, l limits) []byte {
	t.Helper()
	by, err := newConverter(false, l)
	if err != nil {
		t.Fatal(err)
	}
	defer by.close()
	var out bytes.Buffer
	table, err := newParquet(&out, by)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]byte
	for i, line := range lines {
		row, err := by.packers[i%len(by.packers)].pack(line)
		if err != nil {
			t.Fatalf("%.200s: %v", line, err)
		}
		rows = append(rows, bytes.Clone(row))
	}
	for _, row := range rows {
		if err := table.add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// censusLines returns the lines of a census.
func censusLines(t *testing.T, path string) (all [][]byte) {
	t.Helper()
	r, err := sink.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		line, err := r.Next()
		if err != nil {
			return all
		}
		all = append(all, bytes.Clone(line))
	}
}

// TestLimits: a file with many small row groups and pages has the same rows as a file
// with a single row group.
func TestLimits(t *testing.T) {
	lines := censusLines(t, written(t))[:150]
	large := converted(t, lines, usual)
	want := readRows(t, large, 1)
	for _, l := range []limits{
		{groupBytes: 1, pageSlots: 1, pageBytes: 1},
		{groupBytes: 50_000, pageSlots: 7, pageBytes: 1 << 20},
		{groupBytes: 100_000, pageSlots: 100, pageBytes: 64},
	} {
		got := readRows(t, converted(t, lines, l), 2)
		if len(got) != len(lines) || !reflect.DeepEqual(got, want) {
			at := slices.IndexFunc(want, func(row any) bool { return !reflect.DeepEqual(row, got[slices.Index(want, row)]) })
			t.Errorf("%+v: %d rows, want %d; row %d differs", l, len(got), len(want), at)
		}
	}
}

// readRows reads all rows of a file. It fails the test if the file has fewer row groups
// than groups.
func readRows(t *testing.T, file []byte, groups int) []any {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.RowGroups()); n < groups {
		t.Fatalf("%d row groups", n)
	}
	rows, err := parquet.Read[any](bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestOddRecords: the first of two equal keys counts, a value of another type counts as
// absent, and a line that is not a record is an error.
func TestOddRecords(t *testing.T) {
	table := converted(t, [][]byte{
		[]byte(`{"addr":"127.0.0.1:1","addr":"127.0.0.2:2","info":{"name":5,"players":"7","password":"true","bots":3},"players":{},"rules":[],"flags":"x"}`),
		[]byte(`{ "addr" : "127.0.0.3:3", "other":{"a":[1,{}]}, "info":{"name":"a\u00e9\"","players":7,"password":true},"rules":{"a":"1","a":"2","b":null,"c":3},"rtt_ms":-1.5e3 }`),
	}, usual)
	type row struct {
		Addr string   `parquet:"addr"`
		RTT  *float64 `parquet:"rtt_ms"`
		Info *struct {
			Name     *string `parquet:"name"`
			Players  *uint8  `parquet:"players"`
			Bots     *uint8  `parquet:"bots"`
			Password *bool   `parquet:"password"`
		} `parquet:"info"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(table), int64(len(table)))
	if err != nil || len(rows) != 2 {
		t.Fatal(err, rows)
	}
	a, b := rows[0], rows[1]
	if a.Addr != "127.0.0.1:1" || a.Info.Name != nil || a.Info.Players != nil || a.Info.Password != nil || *a.Info.Bots != 3 {
		t.Errorf("%+v %+v", a, a.Info)
	}
	if b.Addr != "127.0.0.3:3" || *b.Info.Name != "aé\"" || *b.Info.Players != 7 || !*b.Info.Password || b.Info.Bots != nil || *b.RTT != -1500 {
		t.Errorf("%+v %+v", b, b.Info)
	}
	tree := columnTree(false)
	p := newPacker(0, tree, len(tree.schema().Columns()))
	for _, line := range []string{`{"addr":`, `[]`, `{"addr":"a"}}`, `x`} {
		if _, err := p.pack([]byte(line)); err == nil {
			t.Errorf("%s is a record", line)
		}
	}
}

// TestMaps: a map keeps its keys and values, however often they occur, and whether they
// are new, long, escaped or null.
func TestMaps(t *testing.T) {
	var lines [][]byte
	var want []map[string]*string
	for i := range 3 * knownEntries {
		rules := map[string]*string{"": text(""), "sv_gravity": text("800"), "a\"b": text("\\"), "none": nil,
			"new": text(strconv.Itoa(i)), "i" + strconv.Itoa(i): text("0"), "long": text(strings.Repeat("x", longestPair+i%3))}
		for n := range 3 {
			rules["unique"+strconv.Itoa(n)] = text(strings.Repeat("y", longestPair) + strconv.Itoa(3*i+n))
		}
		line, err := json.Marshal(map[string]any{"addr": "127.0.0.1:" + strconv.Itoa(i), "rules": rules})
		if err != nil {
			t.Fatal(err)
		}
		lines, want = append(lines, line), append(want, rules)
	}
	type row struct {
		Rules map[string]*string `parquet:"rules,optional"`
	}
	file := converted(t, lines, limits{groupBytes: 300_000, pageSlots: 1000, pageBytes: 10_000})
	rows, err := parquet.Read[row](bytes.NewReader(file), int64(len(file)))
	if err != nil || len(rows) != len(want) {
		t.Fatal(len(rows), err)
	}
	for i, r := range rows {
		if !reflect.DeepEqual(r.Rules, want[i]) {
			got, _ := json.Marshal(r.Rules)
			t.Fatalf("row %d: %s", i, got)
		}
	}
}

// TestDictionary: strings that differ in one byte, or in length, have different
// entries.
func TestDictionary(t *testing.T) {
	var d dictionary
	d.reset()
	entries := map[string]int32{}
	for size := range 3 * exactBytes {
		for at := range size {
			for _, b := range "\x00ab" {
				text := bytes.Repeat([]byte("a"), size)
				text[at] = byte(b)
				entries[string(text)] = d.find(text, true)
			}
		}
	}
	if len(entries) != d.len() {
		t.Errorf("%d entries for %d texts", d.len(), len(entries))
	}
	for text, i := range entries {
		if string(d.entry(i)) != text || d.find([]byte(text), false) != i {
			t.Errorf("entry %d of %q is %q", i, text, d.entry(i))
		}
	}
	if d.find([]byte("b"+strings.Repeat("a", exactBytes)+"b"), false) >= 0 {
		t.Error("a text that was not added has an entry")
	}
}

func text(s string) *string { return &s }
