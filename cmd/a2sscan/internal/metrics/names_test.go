package metrics

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

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

const dashboardFolder = "../../../../packaging/grafana/"

// exported returns the names of all metrics that a scan may export.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	m := newServer()
	m.Begin(new(scanner.Monitor), nil)
	families, err := newRegistry(ledger.Build{}, m.counters, m.trips).Gather()
	check(t, err)
	names := map[string]bool{
		"a2sscan_targets_expected": true, // exported only when the size of the list is known
		"a2sscan_timeout_seconds":  true, // exported only when the scan learns its timeouts
	}
	for _, f := range families {
		names[f.GetName()] = true
		if f.GetType() == dto.MetricType_HISTOGRAM {
			for _, end := range []string{"_bucket", "_sum", "_count"} {
				names[f.GetName()+end] = true
			}
		}
	}
	return names
}

// metricName matches the names of metrics in a query, by the prefixes of the
// exported metrics.
var metricName = regexp.MustCompile(`\b(a2sscan|go|process)_\w+`)

// TestDashboard: the dashboard uses only metrics that a scan exports, and shows
// every metric of a2sscan.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(dashboardFolder + "a2sscan.json")
	check(t, err)
	var whole any
	check(t, json.Unmarshal(text, &whole))
	names, asked := exported(t), map[string]bool{}
	var queries int
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for key, e := range v {
				walk(e)
				if query, ok := e.(string); ok && (key == "expr" || key == "definition") {
					queries++
					checkQuery(t, query, names, asked)
				}
			}
		}
	}
	walk(whole)
	if queries < 20 {
		t.Errorf("only %d queries", queries)
	}
	for name := range names {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count"), "_bucket")
		if strings.HasPrefix(name, "a2sscan_") && !asked[name] && !asked[base+"_bucket"] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// checkQuery checks that the metrics of a query are exported, and that its brackets
// match. It adds the metrics to asked.
func checkQuery(t *testing.T, query string, names, asked map[string]bool) {
	t.Helper()
	found := metricName.FindAllString(query, -1)
	if len(found) == 0 {
		t.Errorf("no metric in %s", query)
	}
	for _, name := range found {
		if strings.HasPrefix(name, "a2sscan_watch_") {
			continue // package livepage checks these
		}
		asked[name] = true
		if !names[name] {
			t.Errorf("%s is not exported: %s", name, query)
		}
	}
	for _, pair := range []string{"()", "[]", "{}"} {
		if strings.Count(query, pair[:1]) != strings.Count(query, pair[1:]) {
			t.Errorf("%s: not closed: %s", pair, query)
		}
	}
}

// TestDashboardWords: the README of the dashboard names only metrics that a scan
// exports.
func TestDashboardWords(t *testing.T) {
	text, err := os.ReadFile(dashboardFolder + "README.md")
	check(t, err)
	names := exported(t)
	for _, name := range metricName.FindAllString(string(text), -1) {
		if !names[name] {
			t.Errorf("%s is not exported", name)
		}
	}
}
