package metrics

import (
	"net/http"
	"runtime"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

// Value is a number for Prometheus. It is a counter if its name ends with _total.
type Value struct {
	Name, Help string
	Number     float64
	Labels     prometheus.Labels // must not contain text from servers
}

const scrapesAtOnce = 4

// Values returns a handler that serves the values that read() returns, the metrics of the
// Go runtime and of the process, and the metrics of the collectors in others.
func Values(build ledger.Build, read func() []Value, others ...prometheus.Collector) http.Handler {
	return promhttp.HandlerFor(newRegistry(build, read, others...),
		promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce, EnableOpenMetrics: true})
}

func newRegistry(build ledger.Build, read func() []Value, others ...prometheus.Collector) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(values(func() []Value {
		return append(read(), Value{
			Name: "a2sscan_build_info", Help: "Always 1; the labels describe the program.", Number: 1,
			Labels: prometheus.Labels{"version": build.Version, "commit": build.Commit, "goversion": runtime.Version()},
		})
	}), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.MustRegister(others...)
	return r
}

// values implements prometheus.Collector.
type values func() []Value

// Describe sends nothing, because the set of metrics can change between two scrapes.
func (v values) Describe(chan<- *prometheus.Desc) {}

// Collect sends the current values.
func (v values) Collect(to chan<- prometheus.Metric) {
	for _, n := range v() {
		kind := prometheus.GaugeValue
		if strings.HasSuffix(n.Name, "_total") {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(n.Name, n.Help, nil, n.Labels), kind, n.Number)
	}
}
