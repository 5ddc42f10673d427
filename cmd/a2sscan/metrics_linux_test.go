package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
)

// observed is a command that serves metrics, and runs in this process.
type observed struct {
	url   string
	said  strings.Builder
	last  scraped // at the first line "summary", while the program waits
	ended string  // the answer of /healthz then
}

// observe runs a command until its end. It calls served, if not nil, when the metrics are
// served.
func observe(t *testing.T, code int, in io.Reader, served func(url string), args ...string) *observed {
	t.Helper()
	o := &observed{}
	var mu sync.Mutex
	hear := writer(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		o.said.Write(b)
		for line := range strings.Lines(string(b)) {
			at, isURL := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "a2sscan: metrics: http")
			switch {
			case isURL && o.url == "":
				if o.url = "http" + at; served != nil {
					served(o.url)
				}
			case strings.HasPrefix(line, "         summary ") && o.url != "":
				o.last, o.ended = scrape(t, o.url), probe(t, o.url)
			}
		}
		return len(b), nil
	})
	if got := run(args, in, io.Discard, hear); got != code {
		t.Fatalf("%q: exit code %d, want %d: %s", args, got, code, &o.said)
	}
	return o
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// scraped has the metrics of a scrape, by name.
type scraped map[string]*dto.MetricFamily

// scrape fetches metrics and reads them with Prometheus' own parser.
func scrape(t *testing.T, url string) scraped {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %v", resp.Status, err)
	}
	return families
}

// value returns the value of a metric whose only label has the value label, or -1 if
// there is none. If label is empty, it takes the first value of the metric.
func (s scraped) value(name, label string) float64 {
	for _, m := range s["a2sscan_"+name].GetMetric() {
		if label != "" && (len(m.Label) != 1 || m.Label[0].GetValue() != label) {
			continue
		}
		switch {
		case m.Counter != nil:
			return m.Counter.GetValue()
		case m.Gauge != nil:
			return m.Gauge.GetValue()
		case m.Histogram != nil:
			return float64(m.Histogram.GetSampleCount())
		}
	}
	return -1
}

// sum adds the values of all labels.
func (s scraped) sum(name string) (n float64) {
	for _, m := range s["a2sscan_"+name].GetMetric() {
		n += m.Counter.GetValue()
	}
	return n
}

// probe returns the status code and the body of /healthz.
func probe(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(strings.Replace(url, "/metrics", "/healthz", 1))
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(body)))
}

// TestMetrics scrapes a scan of a small fleet while it runs and when it has ended,
// and compares the last scrape with the summary. The list comes in two halves: the second
// when the first is finished and was scraped.
func TestMetrics(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix("127.80.0.0/26"),
		Alive: 0.8, Loss: 0.02, Kinds: []fleet.Kind{fleet.Source, fleet.GoldSource, fleet.Split}})
	halves := [2]string{"no server\n127.80.0.0:" + port + "\n127.80.0.0:0\n"}
	for i := range 64 {
		halves[i/32] += fmt.Sprintf("127.80.0.%d:%s\n", i, port)
	}
	in, list := io.Pipe()
	var half scraped
	var well []string // the answers of /healthz
	out := filepath.Join(t.TempDir(), "out.ndjson")
	o := observe(t, console.ExitOK, in, func(url string) {
		well = append(well, probe(t, url))
		go func() {
			defer list.Close()
			io.WriteString(list, halves[0])
			for half.sum("targets_total") < 35 {
				time.Sleep(20 * time.Millisecond)
				half = scrape(t, url)
			}
			well = append(well, probe(t, url))
			io.WriteString(list, halves[1])
		}()
	}, "scan", "-", "--order", "input", "--allow-reserved", "--exclude", "127.80.0.9", "--timeout", "100ms",
		"--retries", "1", "--cooldown", "0", "--metrics", "127.0.0.1:0", "-o", out)
	last := o.last
	for name, want := range map[string]float64{"invalid": 1, "unscannable": 1, "excluded": 1, "duplicate": 1} {
		if got := half.value("targets_total", name); got != want {
			t.Errorf("halfway: %v %s", got, name)
		}
	}
	for _, name := range []string{"datagrams_sent_total", "datagrams_received_total", "targets_total"} {
		if half := half.sum(name); half <= 0 || half >= last.sum(name) {
			t.Errorf("%s: %v halfway, and %v at the end", name, half, last.sum(name))
		}
	}
	if rate := half.value("rate_asked_datagrams_per_second", ""); rate != scanner.DefaultRate {
		t.Errorf("rate asked: %v", rate)
	}
	if got := strings.Join(append(well, o.ended), ", "); got != "200 loading, 200 scanning, 503 ended" {
		t.Errorf("healthz: %s", got)
	}
	sum := readSummary(t, out+".summary.json")
	same := func(name, label string, want float64) {
		t.Helper()
		if got := last.value(name, label); got != want {
			t.Errorf("%s %s: %v, and %v in the summary", name, label, got, want)
		}
	}
	l, from := sum.Targets, &ledger.Source{Counts: sum.Counts}
	for i := range ledger.Table {
		row := &ledger.Table[i]
		if row.Section == ledger.NoSection || row.Metric == "" {
			continue
		}
		for word, n := range row.Counts(from) {
			if row.Words == nil && row.Label != "" {
				word = row.Name
			}
			same(row.Metric, word, float64(*n))
		}
	}
	if last.sum("targets_total") != float64(l.Read) || l.Invalid != 1 || l.Unscannable != 1 || l.Excluded != 1 || l.Duplicate != 1 {
		t.Errorf("%v targets of %+v", last.sum("targets_total"), l)
	}
	for word, n := range sum.Faults {
		same("faults_total", word, float64(n))
	}
	same("records_written_total", "", float64(sum.Records))
	same("players_total", "people", float64(sum.Players))
	same("players_total", "bots", float64(sum.Bots))
	same("servers_counted_elsewhere_total", "", float64(sum.Elsewhere))
	same("round_trip_seconds", "", float64(sum.RoundTrips.Servers))
	same("rate_reached_datagrams_per_second", "", sum.RateReached)
	same("receive_buffer_bytes", "", float64(sum.RecvBuffer))
	same("targets_open", "", 0)
	if _, err := http.Get(o.url); err == nil {
		t.Error("the metrics are still served after the scan")
	}
}

func readSummary(t *testing.T, path string) *ledger.Summary {
	t.Helper()
	text, err := os.ReadFile(path)
	sum := &ledger.Summary{}
	if err == nil {
		err = json.Unmarshal(text, sum)
	}
	check(t, err)
	return sum
}

// TestMetricsResumed: in a resumed scan the counters cover only this process. What
// earlier runs finished has a metric of its own.
func TestMetricsResumed(t *testing.T) {
	t.Parallel()
	network := netip.MustParsePrefix("127.80.6.0/25")
	_, port := serve(t, fleet.Config{Network: network, Kinds: []fleet.Kind{fleet.Source}})
	dir := t.TempDir()
	out := filepath.Join(dir, "out.ndjson")
	scan := func(code int, more ...string) (*ledger.Summary, scraped) {
		t.Helper()
		o := observe(t, code, strings.NewReader(""), nil, append([]string{"scan", network.String(), "-p", port, "--allow-reserved",
			"--exclude", "127.80.6.0/27", "--cooldown", "0", "-o", out, "--checkpoint", filepath.Join(dir, "checkpoint"), "--metrics", "0"}, more...)...)
		if _, err := os.Stat(out + ".summary.json"); err != nil {
			return nil, nil // nobody was asked
		}
		return readSummary(t, out+".summary.json"), o.last
	}
	var first *ledger.Summary
	for most := time.Second; first == nil; most *= 2 { // a busy machine asks nobody in a second
		first, _ = scan(console.ExitGuard, "-r", "20", "--max-runtime", most.String())
	}
	whole, last := scan(console.ExitOK)
	before, now := first.Targets.Finished, last.value("targets_total", "ok")
	if before == 0 || now != float64(whole.Targets.Finished-before) {
		t.Errorf("%v targets now, after %d, of %d", now, before, whole.Targets.Finished)
	}
	if sent := last.sum("datagrams_sent_total"); sent != float64(whole.Datagrams.Sent-first.Datagrams.Sent) {
		t.Errorf("%v datagrams now, after %d, of %d", sent, first.Datagrams.Sent, whole.Datagrams.Sent)
	}
	behind, expected := last.value("targets_resumed", ""), last.value("targets_expected", "")
	if now += last.value("targets_total", "excluded"); behind+now != expected || expected != 128 {
		t.Errorf("%v targets before and %v now, of %v", behind, now, expected)
	}
	if start := last.value("scan_start_time_seconds", ""); start != float64(whole.Start.UnixMilli())/1e3 {
		t.Errorf("it began at %v, and at %v", start, whole.Start)
	}
}

// TestNewCounter: only the table of counters has their names. If a copy of the table has
// another row for a count, the count is under the names of that row in the summary, in the
// closing lines, in the metrics, in the status lines, in the log, and in a merged summary.
func TestNewCounter(t *testing.T) {
	table := ledger.Table
	defer func() { ledger.Table = table }()
	ledger.Table = slices.Clone(table)
	row := &ledger.Table[slices.IndexFunc(table, func(row ledger.Counter) bool { return row.Name == "sent_bytes" })]
	*row = ledger.Counter{
		Name: "invented", Section: ledger.InDatagrams, Metric: "invented_total", Help: "Invented.",
		Status: "devised", Text: "contrived", Log: true, Count: row.Count,
	}
	network := netip.MustParsePrefix("127.80.7.0/28")
	_, port := serve(t, fleet.Config{Network: network, Kinds: []fleet.Kind{fleet.Source}})
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	var all []string
	var metrics scraped
	command := func(args ...string) {
		t.Helper()
		o := observe(t, console.ExitOK, strings.NewReader(""), nil, args...)
		all = append(all, o.said.String())
		if o.last != nil {
			metrics = o.last
		}
	}
	for shard, kind := range map[string]string{"0/2": "text", "1/2": "json"} {
		command("scan", network.String(), "-p", port, "--allow-reserved", "--cooldown", "0", "--shard", shard, "-v", "--status", kind,
			"--metrics", "0", "--log-file", log, "-o", filepath.Join(dir, shard[:1]+".ndjson"))
	}
	merged := filepath.Join(dir, "all.ndjson")
	command("merge", filepath.Join(dir, "0.ndjson"), filepath.Join(dir, "1.ndjson"), "-o", merged)

	said := strings.Join(all, "\n")
	lines, err := os.ReadFile(log)
	check(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "0.ndjson.summary.json"))
	check(t, err)
	n := readSummary(t, filepath.Join(dir, "0.ndjson.summary.json")).Datagrams.SentBytes
	more := readSummary(t, filepath.Join(dir, "1.ndjson.summary.json")).Datagrams.SentBytes
	for where, has := range map[string]bool{
		"summary":       strings.Contains(string(text), fmt.Sprintf(`"invented": %d,`, n)) && !strings.Contains(string(text), "sent_bytes"),
		"closing lines": strings.Contains(strings.Join(strings.Fields(said), " "), " contrived "+console.Grouped(n)+" "),
		"metrics":       metrics.value("invented_total", "") == float64(n),
		"status":        strings.Contains(said, fmt.Sprintf(`,"devised":%d`, more)),
		"log":           strings.Contains(string(lines), fmt.Sprintf(" invented=%d ", n)),
		"merged":        readSummary(t, merged+".summary.json").Datagrams.SentBytes == n+more && n*more > 0,
	} {
		if !has {
			t.Errorf("no new counter in: %s\n%s", where, said)
		}
	}
}
