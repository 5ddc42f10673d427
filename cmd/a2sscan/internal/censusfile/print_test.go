package censusfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// TestSortFaults: with -n, cat prints that many records even if the first ones are faulty, and
// reports all faults.
func TestSortFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.ndjson")
	var lines strings.Builder
	for i := range 100 {
		name := `"a"`
		if i >= 90 || i == 0 {
			name = `"\ud800"`
		}
		fmt.Fprintf(&lines, `{"schema":1,"addr":"203.0.113.7:%d","info":{"name":%s,"players":%[1]d}}`+"\n", i, name)
	}
	put(t, path, lines.String())
	order, err := ParseOrder("-people", 2)
	check(t, err)
	var out, errs bytes.Buffer
	err = Print(console.New(&errs), &out, []string{path}, &Printing{Order: order, Table: table(t, CSV, "addr,info.name", 0)})
	if want := "addr,info.name\n203.0.113.7:89,a\n203.0.113.7:88,a\n"; out.String() != want || err == nil || !strings.Contains(errs.String(), "ignored 11 lines") {
		t.Errorf("%s, %v\n%s", &out, err, &errs)
	}
}

// TestProcessors checks that Print and Check return the same on 1, 2 and 8 processors, also
// for damaged files.
func TestProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var files []string
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		writeCensus(t, path, 250)
		text, err := os.ReadFile(path)
		check(t, err)
		text[len(text)/2] ^= 0xFF
		put(t, path, string(text[:len(text)-9]))
		files = append(files, path)
	}
	var lines strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&lines, `{"schema":1,"ip":"203.0.113.%d","port":%d,"addr":"203.0.113.%[1]d:%[2]d","status":"ok","info":{"name":"%d","players":%d}}`+"\n", i%250, i, i%1000, i%77)
		if i%2000 == 1000 {
			lines.WriteString("junk\n[]\n")
		}
	}
	files = append(files, filepath.Join(t.TempDir(), "many.ndjson"))
	put(t, files[len(files)-1], lines.String())
	for _, how := range []struct {
		fields, order string
		most          int
	}{{"", "", 0}, {"addr,people,info.name", "", 0}, {"addr,people", "-people", 0}, {"addr,info.name", "info.name", 3000}, {"addr", "", 4321}} {
		want := ""
		for _, n := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(n)
			var out, err bytes.Buffer
			order, fault := ParseOrder(how.order, how.most)
			check(t, fault)
			printing := &Printing{Order: order}
			if how.fields != "" {
				printing.Table = table(t, CSV, how.fields, 0)
			}
			term := console.New(&err)
			fault = Print(term, &out, files, printing)
			_, problems, checked := Check(files, nil, nil)
			got := fmt.Sprint(out.String(), fault, problems, checked)
			if want == "" {
				want = got
			}
			if got != want || out.Len() == 0 {
				t.Errorf("%+v, %d processors: %d bytes, want %d", how, n, len(got), len(want))
			}
		}
	}
}
