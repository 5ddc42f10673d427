package metrics

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestNames: dashboards and alerts rely on the names, types, help texts and labels of
// the metrics, which follow the conventions of Prometheus. Label values are words of this
// program.
func TestNames(t *testing.T) {
	m := newServer()
	m.Begin(new(scanner.Monitor), nil)
	m.Attach(Source{Fill: func(to *ledger.Source) { to.Expected = 9 }})
	registry := newRegistry(ledger.Build{}, m.counters, m.trips)
	families, err := registry.Gather()
	check(t, err)
	problems, err := testutil.GatherAndLint(registry)
	for _, p := range problems {
		t.Errorf("%s: %s: %v", p.Metric, p.Text, err)
	}
	var b strings.Builder
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "a2sscan_") {
			continue
		}
		fmt.Fprintf(&b, "%s %s %s\n", f.GetName(), f.GetType(), f.GetHelp())
		for _, metric := range f.GetMetric() {
			for _, l := range metric.GetLabel() {
				if l.GetName() != "goversion" {
					fmt.Fprintf(&b, "\t%s=%q\n", l.GetName(), l.GetValue())
				}
			}
		}
	}
	const golden = "testdata/names.txt"
	if *update {
		check(t, os.WriteFile(golden, []byte(b.String()), 0o666))
	}
	want, err := os.ReadFile(golden)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v; got\n%s", err, &b)
	}
}
