// Package ledger has the counts of a scan: datagrams, targets, and the answers of
// servers. It turns these counts into the summary, the closing lines and the log.
package ledger

import (
	"math"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/wire"
)

// Counter describes one number of a scan or, if it has Words, one number for each word. Its
// fields determine where the number appears: in the summary, the closing lines, the
// metrics, the status lines in JSON and the log. The merge command adds up the counters of
// several scans.
type Counter struct {
	Name    string  // key in the summary and in the log
	Section Section // section of the summary
	Kind    Kind
	Micros  bool   // the number is in microseconds, and the metric in seconds
	Metric  string // name of the metric without a2sscan_; "": no metric
	Help    string // help text of the metric
	// Label is the label of the metric. Its values are Words or, if there are no words,
	// Name.
	Label  string
	Words  []string // nil: the counter is a single number
	Status string   // key in a status line; "": not in status lines
	// Text is the name in the closing lines of --verbose. It is "" if these lines do not
	// list the counter by its name.
	Text string
	Log  bool // log the number when the scan has finished

	// One of the functions Count, Value and Parts returns the number. NaN means unknown, and
	// +Inf means no limit. Parts returns a number for each of Words; if a word is empty, its
	// number is ignored. A counter with a Section reads a field of Counts.
	Count func(*Source) *uint64
	Value func(*Source) float64
	Parts func(*Source) []uint64
}

// Section is an object of the summary.
type Section uint8

// The sections of the summary that consist of counters.
const (
	NoSection   Section = iota // not in a section
	InTargets                  // a field of TargetCounts
	InDatagrams                // a field of DatagramCounts
)

// Kind describes how a number changes over time and between shards.
type Kind uint8

// The kinds of counters.
const (
	Sum    Kind = iota // it only grows; the numbers of all shards are added up
	Shared             // each shard of a scan has the same number
	Own                // each shard counts the targets of the other shards
	Flag               // 1 if something happened
)

// Source has the numbers that counters read.
type Source struct {
	Counts // set by Source.count

	Scan   *scanner.Stats
	List   list.Stats
	Unread uint64 // list entries that were not read; 0 if the size of the list is unknown

	SentRate, ReceivedRate float64 // datagrams per second; NaN: unknown

	// The fields below are only for the metrics.
	Expected                float64 // targets in the lists and networks; NaN: unknown
	Resumed, Records        uint64
	People, Bots, Elsewhere uint64
	Start                   time.Time
	Healthy                 bool
}

func orUnknown(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

func oneIf(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// The words for statuses and for questions, by the number of the status or question.
var (
	statuses  = console.Words(scanner.NumStatuses, scanner.Status.String)
	questions = console.Words(wire.NumRequests, wire.Question.String)
)

// outcomes is the help text of the metric targets_total, which all outcomes share.
const outcomes = "All targets that were read, by outcome."

func outcome(name string, kind Kind, count func(*Source) *uint64) Counter {
	return Counter{
		Name: name, Section: InTargets, Kind: kind, Count: count, Log: name == "unfinished",
		Metric: "targets_total", Help: outcomes, Label: "outcome",
	}
}

// Table has all counters. Their metrics start at zero in each process, even in a resumed
// scan, because Prometheus expects this. Label values are words of this program, and never
// strings from a server or a list. A new metric also needs a panel in
// packaging/grafana/a2sscan.json (TestDashboard).
var Table = []Counter{
	// Targets: read = invalid + unscannable + excluded + duplicate + other_shard +
	// over_limit + finished + unfinished.
	{Name: "read", Section: InTargets, Kind: Shared, Log: true,
		Count: func(s *Source) *uint64 { return &s.Targets.Read }},
	outcome("invalid", Shared, func(s *Source) *uint64 { return &s.Targets.Invalid }),
	outcome("unscannable", Sum, func(s *Source) *uint64 { return &s.Targets.Unscannable }),
	{Name: "no_port", Section: InTargets, Count: func(s *Source) *uint64 { return &s.Targets.NoPort }},
	{Name: "bad_port", Section: InTargets, Count: func(s *Source) *uint64 { return &s.Targets.BadPort }},
	{Name: "default_port", Section: InTargets, Kind: Shared,
		Count: func(s *Source) *uint64 { return &s.Targets.DefaultPort }},
	outcome("excluded", Sum, func(s *Source) *uint64 { return &s.Targets.Excluded }),
	outcome("duplicate", Shared, func(s *Source) *uint64 { return &s.Targets.Duplicate }),
	outcome("other_shard", Own, func(s *Source) *uint64 { return &s.Targets.OtherShard }),
	outcome("over_limit", Sum, func(s *Source) *uint64 { return &s.Targets.OverLimit }),
	{Name: "stopped", Section: InTargets, Count: func(s *Source) *uint64 { return &s.Targets.Stopped }},
	{Name: "overdue", Section: InTargets, Count: func(s *Source) *uint64 { return &s.Targets.Overdue }},
	{Name: "elapsed", Status: "elapsed",
		Value: func(s *Source) float64 { return s.Scan.Elapsed.Seconds() }},
	{Name: "finished", Section: InTargets, Status: "finished", Log: true,
		Count: func(s *Source) *uint64 { return &s.Targets.Finished }},
	outcome("unfinished", Sum, func(s *Source) *uint64 { return &s.Targets.Unfinished }),
	{Name: "unread", Section: InTargets, Count: func(s *Source) *uint64 { return &s.Targets.Unread }},
	{Name: "by_status", Section: InTargets, Log: true, Text: "finished", Metric: "targets_total", Help: outcomes, Label: "outcome",
		Words: statuses, Parts: func(s *Source) []uint64 { return s.Targets.ByStatus[:] }},
	{Name: "answered", Status: "answered", Value: func(s *Source) float64 { return float64(s.Scan.Answered()) }},
	{Name: "open", Status: "open", Metric: "targets_open", Help: "Targets that were queried and are not finished.",
		Value: func(s *Source) float64 { return float64(s.Scan.Open) }},
	{Name: "held", Status: "held", Metric: "targets_held", Help: "Targets held back by the rate limit of their address.",
		Value: func(s *Source) float64 { return float64(s.Scan.Held) }},
	{Name: "silent", Status: "silent", Metric: "targets_silent", Help: "Silent targets that wait for the second pass of --second-look.",
		Value: func(s *Source) float64 { return float64(s.Scan.Silent) }},
	{Name: "listening", Metric: "targets_listening",
		Help:  "With --timeout auto: open targets that timed out early but may still answer.",
		Value: func(s *Source) float64 { return float64(s.Scan.Timeouts.Listening) }},
	{Name: "reopened", Metric: "targets_reopened_total", Help: "With --timeout auto: targets that answered after they had timed out early.",
		Value: func(s *Source) float64 { return float64(s.Scan.Timeouts.Reopened) }},
	{Name: "resumed", Metric: "targets_resumed",
		Help:  "Targets that earlier runs of a resumed scan finished or skipped; no counter includes them.",
		Value: func(s *Source) float64 { return float64(s.Resumed) }},
	{Name: "expected", Metric: "targets_expected",
		Help:  "Distinct targets in the lists and networks; absent while their number is unknown.",
		Value: func(s *Source) float64 { return s.Expected }},
	{Name: "players", Metric: "players_total", Label: "who", Words: []string{"people", "bots"},
		Help:  "People (as the games count them) and bots on the servers that this process found.",
		Parts: func(s *Source) []uint64 { return []uint64{s.People, s.Bots} }},
	{Name: "elsewhere", Metric: "servers_counted_elsewhere_total",
		Help:  "Servers whose player count comes from the game's own data, not from the answer to info.",
		Value: func(s *Source) float64 { return float64(s.Elsewhere) }},
	{Name: "records", Metric: "records_written_total", Help: "Records handed to the output.",
		Value: func(s *Source) float64 { return float64(s.Records) }},

	// Datagrams.
	{Name: "sent", Section: InDatagrams, Status: "sent", Log: true,
		Count: func(s *Source) *uint64 { return &s.Datagrams.Sent }},
	{Name: "sent_bytes", Section: InDatagrams, Metric: "sent_bytes_total", Help: "UDP payload sent.",
		Count: func(s *Source) *uint64 { return &s.Datagrams.SentBytes }},
	{Name: "sent_by_question", Section: InDatagrams, Metric: "datagrams_sent_total", Help: "Datagrams sent, by question.",
		Label: "question", Words: questions, Parts: func(s *Source) []uint64 { return s.Datagrams.SentByQuestion[:] }},
	{Name: "repeats", Section: InDatagrams, Metric: "datagrams_repeated_total",
		Help:  "Datagrams that repeated a request after a timeout.",
		Count: func(s *Source) *uint64 { return &s.Datagrams.Repeats }},
	{Name: "sent_pairs", Section: InDatagrams, Count: func(s *Source) *uint64 { return &s.Datagrams.SentPairs }},
	{Name: "pairs_lost", Section: InDatagrams, Kind: Flag,
		Count: func(s *Source) *uint64 { return &s.Datagrams.PairsLost }},
	{Name: "received", Section: InDatagrams, Status: "received", Log: true,
		Count: func(s *Source) *uint64 { return &s.Datagrams.Received }},
	{Name: "received_bytes", Section: InDatagrams, Metric: "received_bytes_total", Help: "UDP payload received.",
		Count: func(s *Source) *uint64 { return &s.Datagrams.ReceivedBytes }},
	{Name: "received_by_class", Section: InDatagrams, Metric: "datagrams_received_total", Help: "Datagrams received, by class.",
		Label: "class", Words: scanner.Classes[:], Parts: func(s *Source) []uint64 { return s.Datagrams.ReceivedByClass[:] }},
	{Name: "matched_by_kind", Section: InDatagrams, Text: "matched", Metric: "replies_total",
		Help: "Datagrams received that match a request, by kind.", Label: "kind", Words: scanner.ReplyKinds[:],
		Parts: func(s *Source) []uint64 { return s.Datagrams.MatchedByKind[:] }},
	{Name: "foreign_by_cause", Section: InDatagrams, Text: "foreign", Words: scanner.ForeignCauses[:],
		Parts: func(s *Source) []uint64 { return s.Datagrams.ForeignByCause[:] }},
	{Name: "sent_rate", Status: "sent_rate", Value: func(s *Source) float64 { return s.SentRate }},
	{Name: "received_rate", Status: "received_rate", Value: func(s *Source) float64 { return s.ReceivedRate }},
	{Name: "rate", Status: "rate", Metric: "rate_asked_datagrams_per_second",
		Help: "The requested rate; +Inf: as fast as possible.",
		Value: func(s *Source) float64 {
			if s.Scan.Rate == scanner.Off {
				return math.Inf(1)
			}
			return s.Scan.Rate
		}},
	{Name: "rate_reached", Metric: "rate_reached_datagrams_per_second",
		Help:  "Datagrams sent per second, on average, while the scan had targets to start.",
		Value: func(s *Source) float64 { return NewRates(s.Scan).RateReached }},
	{Name: "rate_settled", Metric: "rate_settled_datagrams_per_second",
		Help:  "Without a rate limit: the rate reached in the last seconds.",
		Value: func(s *Source) float64 { return s.Scan.Settled }},
	{Name: "rate_found", Status: "rate_found", Metric: "rate_found_datagrams_per_second",
		Help:  "With --rate auto: the current rate.",
		Value: func(s *Source) float64 { return orUnknown(s.Scan.Path.Now) }},
	{Name: "path_carried", Status: "path_carried", Metric: "path_carried_datagrams_per_second",
		Help:  "With --rate auto: the rate that the path carried when it was last saturated; absent if it was never saturated.",
		Value: func(s *Source) float64 { return orUnknown(s.Scan.Path.Carried) }},
	{Name: "kernel_drops", Section: InDatagrams, Status: "drops", Log: true, Metric: "kernel_drops_total",
		Help:  "Datagrams that arrived but were dropped by the kernel before they were read.",
		Count: func(s *Source) *uint64 { return &s.Datagrams.KernelDrops }},
	{Name: "send_errors", Section: InDatagrams, Status: "send_errors", Log: true,
		Count: func(s *Source) *uint64 { return &s.Datagrams.SendErrors }},
	{Name: "send_errors_by_kind", Section: InDatagrams, Metric: "send_errors_total", Help: "Datagrams that could not be sent, by kind.",
		Label: "kind", Words: scanner.SendFaults[:],
		Parts: func(s *Source) []uint64 { return s.Datagrams.SendErrorsByKind[:] }},
	{Name: "away", Status: "network_away", Metric: "network_away_seconds",
		Help:  "How long the network of this machine has been away; 0: the network is not away.",
		Value: func(s *Source) float64 { return s.Scan.AwayFor.Seconds() }},
	{Name: "outages", Section: InDatagrams, Log: true, Metric: "network_outages_total",
		Help:  "How often the network of this machine was away.",
		Count: func(s *Source) *uint64 { return &s.Datagrams.Outages }},
	{Name: "outage_ms", Section: InDatagrams, Count: func(s *Source) *uint64 { return &s.Datagrams.OutageMS }},
	{Name: "send_put_off", Section: InDatagrams, Metric: "sends_put_off_total",
		Help:  "How often the kernel temporarily refused a datagram, so that the scan tried again.",
		Count: func(s *Source) *uint64 { return &s.Datagrams.SendPutOff }},
	{Name: "conflicts", Section: InDatagrams, Count: func(s *Source) *uint64 { return &s.Datagrams.Conflicts }},
	{Name: "faults", Text: "faults", Metric: "faults_total", // questions without a complete answer, by error; only those of finished targets count
		Help:  "Faults in replies and questions, by the fault's name in records.",
		Label: "fault", Words: console.Words(wire.NumErrors, wire.Error.String),
		Parts: func(s *Source) []uint64 { return s.Scan.Errors[:] }},
	{Name: "timeout", Metric: "timeout_seconds",
		Help:  "With --timeout auto: the current timeout of the first request; absent with a fixed timeout.",
		Value: func(s *Source) float64 { return orUnknown(s.Scan.Timeouts.Now.Seconds()) }},
	{Name: "waited", Micros: true, Metric: "waited_seconds_total",
		Help:  "Time in which the rate permitted datagrams but the scan sent none, by the reason for waiting.",
		Label: "reason", Words: console.Words(scanner.NumWaits, scanner.Wait.Word),
		Parts: func(s *Source) []uint64 { return s.Scan.Waited[:] }},

	// Memory.
	{Name: "bytes", Status: "bytes", Metric: "byte_budget_used_bytes",
		Help:  "Part of the byte budget in use: memory held for replies and fragments.",
		Value: func(s *Source) float64 { return float64(s.Scan.Bytes) }},
	{Name: "budget", Metric: "byte_budget_limit_bytes",
		Help:  "Size of the byte budget: when it is used up, no new targets start.",
		Value: func(*Source) float64 { return float64(scanner.DefaultByteBudget) }},
	{Name: "buffer", Metric: "receive_buffer_bytes",
		Help:  "Size of the socket's receive buffer that the kernel granted.",
		Value: func(s *Source) float64 { return float64(s.Scan.Socket.RecvBuffer) }},
	{Name: "buffer_asked", Metric: "receive_buffer_asked_bytes",
		Help:  "Size of the socket's receive buffer that the scan requested.",
		Value: func(s *Source) float64 { return float64(s.Scan.Socket.RecvBufferAsked) }},
	{Name: "buffer_used", Metric: "receive_buffer_used_bytes",
		Help:  "Bytes that wait in the receive buffer (Linux).",
		Value: func(s *Source) float64 { return float64(s.Scan.Socket.RecvQueued) }},
	{Name: "groups", Metric: "reassembly_groups", Help: "Split replies that wait for fragments.",
		Value: func(s *Source) float64 { return float64(s.Scan.Reasm.Groups) }},
	{Name: "fragments", Metric: "reassembly_fragments", Help: "Fragments held for incomplete split replies.",
		Value: func(s *Source) float64 { return float64(s.Scan.Reasm.Fragments) }},
	{Name: "fragment_bytes", Metric: "reassembly_used_bytes",
		Help:  "Memory used by the reassembly table, a part of the byte budget.",
		Value: func(s *Source) float64 { return float64(s.Scan.Reasm.Bytes) }},
	{Name: "reassembled", Metric: "reassembly_replies_total", Help: "Split replies reassembled, plain or compressed.",
		Label: "form", Words: []string{"plain", "compressed"},
		Parts: func(s *Source) []uint64 { return []uint64{s.Scan.Reasm.Whole, s.Scan.Reasm.Packed} }},
	{Name: "dropped_fragments", Metric: "reassembly_dropped_fragments_total", Help: "Fragments dropped, by reason.",
		Label: "reason", Words: []string{"duplicate", "conflict", "malformed", "too_large"},
		Parts: func(s *Source) []uint64 {
			r := &s.Scan.Reasm
			return []uint64{r.Duplicate, r.Conflict, r.Malformed, r.TooLarge}
		}},
	{Name: "dropped_groups", Metric: "reassembly_dropped_groups_total",
		Help:  "Incomplete split replies dropped: evicted to make room, expired, or forgotten with their target.",
		Label: "reason", Words: []string{"evicted", "expired", "forgotten"},
		Parts: func(s *Source) []uint64 {
			r := &s.Scan.Reasm
			return []uint64{r.Evicted, r.Expired, r.Forgotten}
		}},

	{Name: "start", Metric: "scan_start_time_seconds",
		Help: "Start of the scan, or of the first run of a resumed scan, in seconds since 1970.",
		Value: func(s *Source) float64 {
			if s.Start.IsZero() { // the scan has not started: it reads its lists
				return math.NaN()
			}
			return float64(s.Start.UnixMilli()) / 1e3
		}},
	{Name: "healthy", Metric: "scan_healthy", Help: "1 while /healthz answers 200, else 0.",
		Value: func(s *Source) float64 { return float64(oneIf(s.Healthy)) }},
}
