package metrics

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/wire"
)

// sample holds the numbers that one scrape reads.
type sample struct {
	scan     scanner.Stats
	list     list.Stats
	targets  ledger.Ledger
	rates    ledger.Rates
	expected uint64
	known    bool // expected is known

	build   ledger.Build
	found   *population
	records uint64
	resumed uint64 // number of targets that earlier runs finished or excluded
	start   float64
	healthy bool
}

// family is a metric with all values of its labels.
type family struct {
	name, help string
	labels     []string
	kind       prometheus.ValueType
	read       func(*sample, putter)
	desc       *prometheus.Desc
}

// putter receives a value and the values of its labels. Label values are words of
// this program: a string from a server or a list never becomes a label.
type putter func(v float64, labels ...string)

// families are the metrics of a scan. Counters start at zero in each process, as
// Prometheus expects, even in a resumed scan. A new metric also needs a panel in
// packaging/grafana/a2sscan.json: TestDashboard checks that.
var families = []*family{
	counters("targets_total", "Targets by what became of them: all that were read.", "outcome", outcomes),
	gauge("targets_open", "Targets that were asked and are not finished.",
		func(s *sample) float64 { return float64(s.scan.Open) }),
	gauge("targets_listening", "Of the open targets, those given up early and still listened for, with --timeout auto.",
		func(s *sample) float64 { return float64(s.scan.Timeouts.Listening) }),
	gauge("targets_held", "Targets held back by the rate of their address.",
		func(s *sample) float64 { return float64(s.scan.Held) }),
	gauge("targets_silent", "Targets without reply that wait for a second look.",
		func(s *sample) float64 { return float64(s.scan.Silent) }),
	gauge("targets_resumed", "Targets that earlier parts of a resumed scan finished or left out; no counter has them.",
		func(s *sample) float64 { return float64(s.resumed) }),
	{name: "targets_expected", help: "Targets in the lists and networks, each once; absent while that is not known.",
		kind: prometheus.GaugeValue, read: func(s *sample, put putter) {
			if s.known {
				put(float64(s.expected))
			}
		}},

	counters("datagrams_sent_total", "Datagrams sent, by question.", "question",
		byWord[wire.Question](func(s *sample) []uint64 { return s.scan.Sent[:] })),
	{name: "timeout_seconds", help: "How long the first request waits for a reply, with --timeout auto; absent with a fixed timeout.",
		kind: prometheus.GaugeValue, read: func(s *sample, put putter) {
			if now := s.scan.Timeouts.Now; now > 0 {
				put(now.Seconds())
			}
		}},
	counter("targets_reopened_total", "Targets that answered after they were given up early.",
		func(s *sample) uint64 { return s.scan.Timeouts.Reopened }),
	counter("datagrams_repeated_total", "Of the datagrams sent, those that asked again after silence.",
		func(s *sample) uint64 { return s.scan.Repeats }),
	counter("sent_bytes_total", "UDP payload sent.", func(s *sample) uint64 { return s.scan.SentBytes }),
	counters("datagrams_received_total", "Datagrams received, by class.", "class",
		byName(scanner.Classes[:], func(s *sample) []uint64 { return s.scan.Received[:] })),
	counters("replies_total", "Datagrams received of class matched, by kind.", "kind",
		byName(scanner.ReplyKinds[:], func(s *sample) []uint64 { return s.scan.Kinds[:] })),
	counter("received_bytes_total", "UDP payload received.", func(s *sample) uint64 { return s.scan.RecvBytes }),
	counters("faults_total", "Faults of replies and questions, by the word that records have for them.", "fault",
		byWord[wire.Error](func(s *sample) []uint64 { return s.scan.Errors[:] })),
	counters("send_errors_total", "Datagrams that could not be sent, by kind.", "kind",
		byName(scanner.SendFaults[:], func(s *sample) []uint64 { return s.scan.SendFaults[:] })),
	counter("sends_put_off_total", "Sends that the kernel put off, and that were tried again.",
		func(s *sample) uint64 { return s.scan.SendAgain }),
	counter("kernel_drops_total", "Datagrams that arrived but were dropped by the kernel before they were read.",
		func(s *sample) uint64 { return s.scan.Socket.KernelDrops }),

	gauge("receive_buffer_bytes", "Receive buffer of the socket, as the kernel granted it.",
		func(s *sample) float64 { return float64(s.scan.Socket.RecvBuffer) }),
	gauge("receive_buffer_asked_bytes", "Receive buffer of the socket, as it was asked for.",
		func(s *sample) float64 { return float64(s.scan.Socket.RecvBufferAsked) }),
	gauge("receive_buffer_used_bytes", "What waits in the receive buffer (Linux).",
		func(s *sample) float64 { return float64(s.scan.Socket.RecvQueued) }),

	gauge("byte_budget_used_bytes", "Memory held for replies, under the byte budget.",
		func(s *sample) float64 { return float64(s.scan.Bytes) }),
	gauge("byte_budget_limit_bytes", "The byte budget: when it is used up, no new targets start.",
		func(*sample) float64 { return scanner.DefaultByteBudget }),

	gauge("reassembly_groups", "Split replies that wait for fragments.",
		func(s *sample) float64 { return float64(s.scan.Reasm.Groups) }),
	gauge("reassembly_fragments", "Fragments held for them.",
		func(s *sample) float64 { return float64(s.scan.Reasm.Fragments) }),
	gauge("reassembly_used_bytes", "Memory used by the reassembly table, a part of the byte budget.",
		func(s *sample) float64 { return float64(s.scan.Reasm.Bytes) }),
	counters("reassembly_replies_total", "Split replies put together, plain or compressed.", "form",
		func(s *sample, put putter) {
			put(float64(s.scan.Reasm.Whole), "plain")
			put(float64(s.scan.Reasm.Packed), "compressed")
		}),
	counters("reassembly_dropped_fragments_total", "Fragments dropped, by reason.", "reason",
		func(s *sample, put putter) {
			r := &s.scan.Reasm
			put(float64(r.Duplicate), "duplicate")
			put(float64(r.Conflict), "conflict")
			put(float64(r.Malformed), "malformed")
			put(float64(r.TooLarge), "too_large")
		}),
	counters("reassembly_dropped_groups_total", "Incomplete split replies dropped: to make room, for their age, with their target.", "reason",
		func(s *sample, put putter) {
			r := &s.scan.Reasm
			put(float64(r.Evicted), "evicted")
			put(float64(r.Expired), "expired")
			put(float64(r.Forgotten), "forgotten")
		}),

	gauge("rate_asked_datagrams_per_second", "The rate that was asked for; +Inf: as fast as possible.",
		func(s *sample) float64 { return infinite(s.scan.Rate) }),
	gauge("rate_reached_datagrams_per_second", "Datagrams sent per second, a mean of the time with targets to start.",
		func(s *sample) float64 { return s.rates.RateReached }),
	gauge("rate_settled_datagrams_per_second", "Without a rate: what it came to in the last seconds.",
		func(s *sample) float64 { return s.scan.Settled }),
	{name: "rate_found_datagrams_per_second", help: "With --rate auto: the present rate.",
		kind: prometheus.GaugeValue, read: func(s *sample, put putter) {
			if s.scan.Path.On {
				put(s.scan.Path.Now)
			}
		}},
	{name: "path_carried_datagrams_per_second", help: "With --rate auto: what the path carried when it was last full; absent while it never was.",
		kind: prometheus.GaugeValue, read: func(s *sample, put putter) {
			if s.scan.Path.Carried > 0 {
				put(s.scan.Path.Carried)
			}
		}},
	counters("waited_seconds_total", "Time in which the rate would have let datagrams go out and none did, by what was waited for.", "reason",
		func(s *sample, put putter) {
			for w := scanner.WaitNothing + 1; w < scanner.NumWaits; w++ {
				put(float64(s.scan.Waited[w])/1e6, w.Word())
			}
		}),

	counters("players_total", "Players of the servers found by this process: people as their games count them, and bots.", "who",
		func(s *sample, put putter) {
			put(float64(s.found.people.Load()), "people")
			put(float64(s.found.bots.Load()), "bots")
		}),
	counter("servers_counted_elsewhere_total", "Servers whose game counts its players elsewhere than in info.",
		func(s *sample) uint64 { return s.found.elsewhere.Load() }),
	counter("records_written_total", "Records handed to the output.",
		func(s *sample) uint64 { return s.records }),
	gauge("scan_start_time_seconds", "When the scan began, of a resumed one its first part, in seconds since 1970.",
		func(s *sample) float64 { return s.start }),
	gauge("scan_healthy", "1 while /healthz answers 200, else 0.",
		func(s *sample) float64 {
			if s.healthy {
				return 1
			}
			return 0
		}),
	{name: "build_info", help: "1, for the program that the labels tell of.",
		labels: []string{"version", "commit", "goversion"},
		kind:   prometheus.GaugeValue, read: func(s *sample, put putter) {
			put(1, s.build.Version, s.build.Commit, runtime.Version())
		}},
}

func init() {
	for _, f := range families {
		f.desc = prometheus.NewDesc("a2sscan_"+f.name, f.help, f.labels, nil)
	}
}

func counter(name, help string, get func(*sample) uint64) *family {
	return &family{name: name, help: help, kind: prometheus.CounterValue,
		read: func(s *sample, put putter) { put(float64(get(s))) }}
}

func gauge(name, help string, get func(*sample) float64) *family {
	return &family{name: name, help: help, kind: prometheus.GaugeValue,
		read: func(s *sample, put putter) { put(get(s)) }}
}

func counters(name, help, label string, read func(*sample, putter)) *family {
	return &family{name: name, help: help, labels: []string{label}, kind: prometheus.CounterValue, read: read}
}

// byWord returns a function that reads counters with an index of type T. The label
// values are the strings of T.
func byWord[T interface {
	~uint8
	fmt.Stringer
}](get func(*sample) []uint64) func(*sample, putter) {
	return func(s *sample, put putter) {
		for i, n := range get(s) {
			if word := T(i).String(); word != "" {
				put(float64(n), word)
			}
		}
	}
}

// byName returns a function that reads counters whose label values are names.
func byName(names []string, get func(*sample) []uint64) func(*sample, putter) {
	return func(s *sample, put putter) {
		for i, n := range get(s) {
			put(float64(n), names[i])
		}
	}
}

// outcomes reports the counts of the ledger, except those that are part of another
// count.
func outcomes(s *sample, put putter) {
	l := &s.targets
	put(float64(l.Invalid), "invalid")
	put(float64(l.Unscannable), "unscannable")
	put(float64(l.Excluded), "excluded")
	put(float64(l.Duplicate), "duplicate")
	put(float64(l.OtherShard), "other_shard")
	put(float64(l.OverLimit), "over_limit")
	put(float64(l.Unfinished), "unfinished")
	for status, n := range l.By {
		put(float64(n), status)
	}
}

// Describe sends the descriptions of all metrics that Collect may send. It
// implements prometheus.Collector.
func (m *Server) Describe(to chan<- *prometheus.Desc) {
	for _, f := range families {
		to <- f.desc
	}
}

// Collect samples the scan and sends the metrics. It implements
// prometheus.Collector.
func (m *Server) Collect(to chan<- prometheus.Metric) {
	s := m.sample()
	for _, f := range families {
		f.read(s, func(v float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(f.desc, f.kind, v, labels...)
		})
	}
}

// sample reads the current numbers of the scan.
func (m *Server) sample() *sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &sample{build: m.build, found: &m.found}
	_, s.healthy = m.health(time.Now())
	if m.scan != nil {
		s.scan = m.scan.Stats()
	}
	if m.attached {
		s.list = m.source.List()
		s.expected, s.known = m.source.Size()
		s.records = m.source.Records()
		s.resumed = m.source.Resumed
		s.start = float64(m.source.Start.UnixMilli()) / 1e3
		if s.scan.Rate == 0 { // the scanner has not reported its rate yet
			s.scan.Rate = m.source.Rate
		}
	}
	s.targets = ledger.New(s.list, &s.scan)
	s.rates = ledger.NewRates(&s.scan)
	return s
}

// infinite converts a rate of package scanner for Prometheus: it returns +Inf for
// scanner.Off, which means no limit.
func infinite(rate float64) float64 {
	if rate == scanner.Off {
		return math.Inf(1)
	}
	return rate
}
