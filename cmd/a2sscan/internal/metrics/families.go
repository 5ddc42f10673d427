package metrics

import (
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
)

// collector exports the counters of ledger.Table, and the build.
type collector struct {
	server *Server
	descs  map[string]*prometheus.Desc // by the Metric of a counter
	build  *prometheus.Desc
}

func newCollector(m *Server) *collector {
	c := &collector{m, map[string]*prometheus.Desc{}, prometheus.NewDesc("a2sscan_build_info",
		"1, for the program that the labels tell of.", []string{"version", "commit", "goversion"}, nil)}
	for i := range ledger.Table {
		row := &ledger.Table[i]
		if row.Metric == "" || c.descs[row.Metric] != nil {
			continue
		}
		var labels []string
		if row.Label != "" {
			labels = []string{row.Label}
		}
		c.descs[row.Metric] = prometheus.NewDesc("a2sscan_"+row.Metric, row.Help, labels, nil)
	}
	return c
}

// Describe sends the descriptions of all metrics that Collect may send. It implements
// prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	to <- c.build
	for _, desc := range c.descs {
		to <- desc
	}
}

// Collect samples the scan and sends the metrics. It implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	from := c.server.sample()
	for i := range ledger.Table {
		row := &ledger.Table[i]
		if row.Metric == "" {
			continue
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(row.Metric, "_total") {
			kind = prometheus.CounterValue
		}
		row.Each(from, func(v float64, word string) {
			var labels []string
			switch {
			case word != "":
				labels = []string{word}
			case row.Label != "":
				labels = []string{row.Name}
			}
			if row.Unit == ledger.Microseconds {
				v /= 1e6
			}
			to <- prometheus.MustNewConstMetric(c.descs[row.Metric], kind, v, labels...)
		})
	}
	b := c.server.build
	to <- prometheus.MustNewConstMetric(c.build, prometheus.GaugeValue, 1, b.Version, b.Commit, runtime.Version())
}

// sample reads the current numbers of the scan.
func (m *Server) sample() *ledger.Source {
	m.mu.Lock()
	defer m.mu.Unlock()
	from := &ledger.Source{Scan: &scanner.Stats{}, Expected: math.NaN(), Start: time.UnixMilli(0)}
	_, from.Healthy = m.health(time.Now())
	if m.scan != nil {
		*from.Scan = m.scan.Stats()
	}
	if m.attached {
		from.List = m.source.List()
		if n, known := m.source.Size(); known {
			from.Expected = float64(n)
		}
		from.Records, from.Resumed, from.Start = m.source.Records(), m.source.Resumed, m.source.Start
		if from.Scan.Rate == 0 { // the scanner has not reported its rate yet
			from.Scan.Rate = m.source.Rate
		}
	}
	from.People, from.Bots, from.Elsewhere = m.people.Load(), m.bots.Load(), m.elsewhere.Load()
	return from
}
