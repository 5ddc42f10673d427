package ledger

import (
	"bytes"
	"encoding/json"
	"flag"
	"log/slog"
	"math"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/congestion"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/wire"
)

// aScan returns the consistent counts of a scan with every kind of event.
func aScan() (list.Stats, scanner.Stats) {
	list := list.Stats{Read: 121, Invalid: 1, Unscannable: 2, Excluded: 3, Duplicate: 4, OtherShard: 6, Given: 105}
	s := scanner.Stats{Elapsed: 2 * time.Second, Rate: 5000, Taken: 105,
		Unscannable: 1, Excluded: 1, Duplicate: 1, OverLimit: 2, Unfinished: 50}
	for st := scanner.StatusOK; st < scanner.NumStatuses; st++ {
		s.Finished[st] = 10
	}
	s.Sent[wire.QuestionInfo], s.Sent[wire.QuestionRules], s.SentBytes, s.Repeats = 60, 40, 1200, 7
	s.Received[slices.Index(scanner.Classes[:], "matched")], s.Received[slices.Index(scanner.Classes[:], "foreign")] = 30, 3
	s.Kinds[slices.Index(scanner.ReplyKinds[:], "info")], s.Kinds[slices.Index(scanner.ReplyKinds[:], "fragment")] = 20, 10
	s.Errors[wire.ErrTimeout], s.Errors[wire.ErrChecksum] = 12, 1
	s.SendErrors, s.SendFaults[slices.Index(scanner.SendFaults[:], "forbidden")] = 2, 2
	s.Socket.Sent, s.Socket.Received, s.Socket.KernelDrops = 100, 33, 5
	s.Socket.RecvBufferAsked, s.Socket.RecvBuffer = 4<<20, 208<<10
	s.Socket.GSO, s.GSOStopped = 12, 1
	return list, s
}

func summaryOf(list list.Stats, s scanner.Stats) *Summary {
	sum := NewSummary(&Source{Scan: &s, List: list}, Build{"1.2", "abc"})
	sum.Ended, sum.Records = EndedComplete, 30
	sum.CheckRecords(false)
	return sum
}

// TestSummaryReported checks all closing lines of a scan with several problems.
func TestSummaryReported(t *testing.T) {
	var b bytes.Buffer
	sum := summaryOf(aScan())
	sum.Say(console.New(&b), Closing{Place: "census.ndjson", Summary: "census.ndjson.summary.json", Verbose: true})
	want := `a2sscan: found           no server
         targets         50 asked: 10 ok, 10 partial, 10 error, 20 silent; 50 not finished; 21 left out: 1 invalid, 3 unscannable, 4 excluded, 5 duplicate, 6 other shard, 2 over limit
         written         30 records to census.ndjson
         summary         census.ndjson.summary.json
         took            2.0 s; sent 100 datagrams at 50/s (limit 5k/s), received 33
         ledger          121 read = 1 invalid + 3 unscannable + 4 excluded + 5 duplicate + 6 other shard + 2 over limit + 50 finished + 50 unfinished
         sent            100 datagrams, 1.2 kB = 60 info + 40 rules; 7 of them repeated
         received        33 datagrams, 0 B = 3 foreign + 30 matched
         finished        50 = 10 ok + 10 partial + 10 error + 10 no_reply + 10 unreachable
         matched         30 = 20 info + 10 fragment
         faults          13 = 12 timeout + 1 bad_checksum
         rate            5k/s set, 50/s reached while querying
         send errors     2 datagrams could not be sent = 2 forbidden
         hint            this machine's firewall forbids these datagrams: check nft list ruleset, or use --exclude
         offload         requests sent with segmentation offload stayed unanswered, so the scan switched the offload off
         hint            the scan lost only time; use --no-gso to disable segmentation offload from the start
         kernel drops    5 datagrams arrived, but did not fit into a receive buffer of 213.0 kB
         receive buffer  the scan asked for 4.2 MB, the kernel granted 213.0 kB
         hint            run as root: sysctl -w net.core.rmem_max=4194304
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestDuration: the closing lines say how much of the time the scan only waited, so
// that the datagrams, the time and the rate agree.
func TestDuration(t *testing.T) {
	for _, test := range []struct {
		seconds, rate float64
		sent          uint64
		want          string
	}{
		{0.25, 4000, 1000, "250 ms"},
		{18.6, 5000, 17_000, "18.6 s, 15.2 s of it waiting for the last replies"},
		{2.5, 5000, 40, "2.5 s, nearly all of it waiting for the last replies"},
		{2.5, 5000, 8500, "2.5 s"}, // it waited for less than a second
		{845.4, 5000, 4_200_000, "14m5s"},
		{5, 0, 0, "5.0 s"},
	} {
		sum := &Summary{Seconds: test.seconds, Counts: Counts{Datagrams: DatagramCounts{Sent: test.sent}}}
		sum.RateReached = test.rate
		if got := sum.duration(); got != test.want {
			t.Errorf("%v: %s", test, got)
		}
	}
}

// oneServer returns the result of a server with one person and one bot.
func oneServer() *scanner.Result {
	r := &scanner.Result{Status: scanner.StatusOK, HasInfo: true, Attempt: 1, RTT: time.Millisecond,
		Addr: netip.MustParseAddrPort("203.0.113.7:27015")}
	r.Info.Players, r.Info.Bots = 2, 1
	return r
}

// aCensus returns the summary of a scan of a million targets without problems.
func aCensus() *Summary {
	list := list.Stats{Read: 1_000_412, Duplicate: 400, Invalid: 12, Given: 1_000_000}
	s := scanner.Stats{Elapsed: 14 * time.Minute, Rate: 5000, Taken: 1_000_000}
	s.Finished = [scanner.NumStatuses]uint64{
		scanner.StatusOK: 655_321, scanner.StatusPartial: 54_321, scanner.StatusError: 1234,
		scanner.StatusNoReply: 280_000, scanner.StatusUnreachable: 9124,
	}
	s.Sent, s.SentBytes, s.Repeats = [wire.NumRequests]uint64{2_000_000, 1_000_000, 1_123_456}, 98_765_432, 612_345
	s.Received[slices.Index(scanner.Classes[:], "matched")], s.RecvBytes = 3_456_789, 3_123_456_789
	s.Kinds[slices.Index(scanner.ReplyKinds[:], "info")], s.Kinds[slices.Index(scanner.ReplyKinds[:], "goldsource")] = 700_000, 10_876
	s.Kinds[slices.Index(scanner.ReplyKinds[:], "players")], s.Kinds[slices.Index(scanner.ReplyKinds[:], "rules")] = 690_000, 600_000
	s.Kinds[slices.Index(scanner.ReplyKinds[:], "challenge")], s.Kinds[slices.Index(scanner.ReplyKinds[:], "fragment")] = 1_300_000, 155_913
	s.Errors[wire.ErrTimeout] = 412_345
	s.Socket.Sent, s.Socket.Received = s.DatagramsSent(), s.DatagramsReceived()
	s.Socket.RecvBuffer = 4 << 20

	var ta Tally
	for i := range 5000 {
		r := oneServer()
		r.Attempt, r.RTT = uint8(1+i%7/6), time.Duration(i)*time.Millisecond/10
		ta.Add(r)
	}
	ta.Servers, ta.Players, ta.Bots = 710_876, 2_345_678, 123_456
	for i := range ta.AtAsk {
		ta.AtAsk[i] *= 142
	}
	sum := NewSummary(&Source{Scan: &s, List: list}, Build{"1.2", "abc"})
	sum.SetAnswers(&ta, 3)
	return sum
}

// TestSummaryScreen: all closing lines of a large scan, and the prompt, fit on a
// screen of 30 lines; those of a scan without trouble are at most six.
func TestSummaryScreen(t *testing.T) {
	for _, width := range []int{80, 200} {
		var written bytes.Buffer
		tm, screen := console.NewScreen(&written, func() int { return width }), written.String
		aCensus().Say(tm, Closing{Place: "census.ndjson.zst", Summary: "census.ndjson.zst.summary.json", Verbose: true})
		rows := 1 // the prompt
		text := screen()
		written.Reset()
		aCensus().Say(tm, Closing{Place: "census.ndjson.zst", Summary: "census.ndjson.zst.summary.json"})
		if n := strings.Count(screen(), "\n"); n > 6 {
			t.Errorf("%d closing lines of %d characters without --verbose:\n%s", n, width, screen())
		}
		for line := range strings.Lines(text) {
			rows += 1 + (utf8.RuneCountInString(strings.TrimRight(line, "\r\n"))-1)/width
		}
		if rows > 30 {
			t.Errorf("%d rows of %d characters:\n%s", rows, width, text)
		}
		text = strings.Join(strings.Fields(text), " ")
		for _, has := range []string{
			"ledger 1,000,412 read = 12 invalid + 400 duplicate + 1,000,000 finished + 0 unfinished",
			"2,345,678 players, 123,456 bots", "at the first request",
		} {
			if !strings.Contains(text, has) {
				t.Errorf("%d characters: no %q in\n%s", width, has, text)
			}
		}
	}
}

// TestSummaryHostile: hostile text can't control a terminal, neither from the closing
// lines nor from the file. The file still has the text.
func TestSummaryHostile(t *testing.T) {
	hostile := "\x1b]0;mine\a\u202e\u009b31m\xff\r\n\t\u2028\u200b"
	sum := aCensus()
	sum.Exclusions = []list.Exclusion{{Network: "203.0.113.0/24", Reason: hostile, Source: hostile}}
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	for _, width := range []int{40, 80, 200} {
		var written bytes.Buffer
		tm, screen := console.NewScreen(&written, func() int { return width }), written.String
		sum.Say(tm, Closing{Verbose: true})
		for line := range strings.Lines(screen()) {
			said := strings.HasPrefix(line, "a2sscan: ") || strings.HasPrefix(line, "         ")
			if !said || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), odd) {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
	path := t.TempDir() + "/summary.json"
	check(t, sum.WriteFile(path))
	text, err := os.ReadFile(path)
	check(t, err)
	if strings.ContainsFunc(strings.ReplaceAll(string(text), "\n", ""), odd) {
		t.Errorf("%q", text)
	}
	var got struct{ Exclusions []list.Exclusion }
	check(t, json.Unmarshal(text, &got))
	want := strings.ToValidUTF8(hostile, "\ufffd")
	if x := got.Exclusions; len(x) != 1 || x[0].Reason != want || x[0].Source != want {
		t.Errorf("%+v", x)
	}
}

// TestContradictions: each sum that does not add up is reported.
func TestContradictions(t *testing.T) {
	tests := []struct {
		name string
		bend func(list *list.Stats, s *scanner.Stats)
		want string // start of the message
	}{
		{"none", func(*list.Stats, *scanner.Stats) {}, ""},
		{"a target is lost", func(l *list.Stats, s *scanner.Stats) { s.Unfinished-- },
			"targets: 121 read, but 120 accounted for"},
		{"a datagram was not sent by us", func(_ *list.Stats, s *scanner.Stats) { s.Socket.Sent++ },
			"datagrams: 100 sent, but 101 counted by the socket"},
		{"a datagram has no class", func(_ *list.Stats, s *scanner.Stats) { s.Socket.Received++ },
			"datagrams: 33 received, but 34 counted by the socket"},
		{"a datagram has no kind", func(_ *list.Stats, s *scanner.Stats) { s.Kinds[0]-- },
			"datagrams: 30 matched, but 29 with a kind"},
		{"a record was not written", func(l *list.Stats, s *scanner.Stats) {
			s.Finished[scanner.StatusOK]++
			s.Unfinished--
		}, "records: 31 expected, but 30 written"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, s := aScan()
			test.bend(&l, &s)
			sum := summaryOf(l, s)
			if got := strings.Join(sum.Wrong, "; "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestSayNobody: the hint after a scan without answers depends on the statuses and
// the foreign datagrams.
func TestSayNobody(t *testing.T) {
	for _, test := range []struct {
		silent, unreachable, broken uint64
		foreign                     [4]uint64
		want                        string
	}{
		{silent: 5, want: "no server answered: is the port wrong, or is there a firewall"},
		{silent: 5, foreign: [...]uint64{1, 0, 0, 0}, want: "replies came from addresses or ports that were not queried"},
		{silent: 5, foreign: [...]uint64{0, 0, 1, 1}, want: "foreign   2 = 1 fragment + 1 other"},
		{silent: 5, foreign: [...]uint64{0, 0, 0, 9}, want: "no server answered: is the port wrong"},
		{unreachable: 5, want: "ICMP reports that nothing listens at the queried ports"},
		{silent: 1, unreachable: 5, want: "no server answered"},
		{silent: 1, broken: 5},
		{},
	} {
		s := scanner.Stats{Foreign: test.foreign}
		s.Finished[scanner.StatusNoReply] = test.silent
		s.Finished[scanner.StatusUnreachable] = test.unreachable
		s.Finished[scanner.StatusError] = test.broken
		var b bytes.Buffer
		summaryOf(list.Stats{}, s).Say(console.New(&b), Closing{Verbose: true})
		if got := b.String(); !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "a2sscan ask") {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestPacingError(t *testing.T) {
	s := &scanner.Stats{Elapsed: 10 * time.Second, Rate: 100}
	s.Waited[scanner.WaitReplies] = 4e6
	s.Sent[0], s.Allowed = 606, 600
	if e := pacingError(s); e == nil || math.Abs(*e-0.01) > 1e-9 {
		t.Errorf("%v, want 1%%", e)
	}
	s.Waited[scanner.WaitReplies] = 9.95e6
	if e := pacingError(s); e != nil {
		t.Errorf("%v measured over too short a time", *e)
	}
	if s.Rate, s.Waited[scanner.WaitReplies] = scanner.Off, 0; pacingError(s) != nil {
		t.Error("a scan without a rate has a pacing error")
	}
}

// TestSayConflicts: the closing lines show servers that contradicted themselves.
func TestSayConflicts(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "",
		1: "conflicts  1 server gave two different answers to one request; the records have the flag \"conflict\"",
		2: "conflicts  2 servers gave two different answers to one request; the records have the flag \"conflict\"",
	} {
		var b bytes.Buffer
		summaryOf(list.Stats{}, scanner.Stats{Conflicts: n}).Say(console.New(&b), Closing{})
		text := strings.Join(strings.Fields(b.String()), " ")
		if want = strings.Join(strings.Fields(want), " "); n > 0 && !strings.Contains(text, want) || n == 0 && strings.Contains(text, "conflict") {
			t.Errorf("%d: %s", n, text)
		}
	}
}

var update = flag.Bool("update", false, "write the golden file anew")

// TestSummaryKeys: scripts rely on the keys of the summary.
func TestSummaryKeys(t *testing.T) {
	list, s := aScan()
	s.Stopped, s.Conflicts = 3, 9
	s.Path = congestion.Path{On: true, Most: 50_000, Now: 40_000, Raised: 3, Carried: 1e4, Lost: 0.5}
	s.Timeouts = scanner.Timeouts{Learned: true, Now: time.Second, Least: time.Second, Most: time.Second}
	s.Settled, s.Slowed = 5, 6
	s.Waited[waitOutput] = 1e6
	sum := summaryOf(list, s)
	var ta Tally
	ta.Add(oneServer())
	sum.SetAnswers(&ta, 3)
	sum.Go, sum.PeakRSS = "", 1
	b, err := json.Marshal(sum)
	check(t, err)
	var sorted map[string]any
	check(t, json.Unmarshal(b, &sorted))
	b, _ = json.MarshalIndent(sorted, "", "  ")
	const golden = "testdata/summary.json"
	if *update {
		check(t, os.WriteFile(golden, b, 0o666))
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(b) != string(want) {
		t.Errorf("%v; got\n%s", err, b)
	}
}

// TestTallyJSON: a tally keeps its counts when it is encoded and decoded. Servers that are
// counted later do not change a clone. Only a server that answered counts.
func TestTallyJSON(t *testing.T) {
	var ta Tally
	for _, r := range []*scanner.Result{
		oneServer(), oneServer(), {Status: scanner.StatusError, Attempt: 2, Received: 1}, {Status: scanner.StatusError},
		{Status: scanner.StatusNoReply}, {Status: scanner.StatusUnreachable},
	} {
		ta.Add(r)
	}
	saved := ta.Clone()
	ta.Add(oneServer())
	b, err := json.Marshal(&saved)
	check(t, err)
	var got Tally
	check(t, json.Unmarshal(b, &got))
	if got.Servers != 3 || got.Players != 2 || got.Bots != 2 || !slices.Equal(got.AtAsk, []uint64{2, 1}) || got.Trips.Quantiles().Servers != 2 {
		t.Errorf("%+v", got)
	}
	got.Add(oneServer())
	if got.Servers != 4 || got.Trips.Quantiles().Servers != 3 {
		t.Errorf("a restored tally counts wrongly: %+v", got)
	}
}

// TestPeople: people and bots are counted separately. If the game reports its own
// number of players, that number counts.
func TestPeople(t *testing.T) {
	own := oneServer()
	own.Game = &game.Game{Players: 547, Has: 1 << game.KeyPlayers}
	other := oneServer()
	other.Game = &game.Game{Queue: 9, Has: 1 << game.KeyQueue}
	odd := oneServer()
	odd.Info.Players, odd.Info.Bots = 1, 5
	var ta Tally
	for _, r := range []*scanner.Result{own, other, odd} {
		ta.Add(r)
	}
	if ta.Players != 547+1+0 || ta.Bots != 1+1+5 || ta.Corrected != 1 {
		t.Errorf("%d people, %d bots, %d corrected", ta.Players, ta.Bots, ta.Corrected)
	}
}

// TestEstimateEdges: there is an estimate only if the counts allow one.
func TestEstimateEdges(t *testing.T) {
	tests := []struct {
		atAsk []uint64
		lost  float64 // -1: no estimate
	}{
		{nil, -1},
		{[]uint64{0, 0, 0}, -1},
		{[]uint64{1000}, -1},
		{[]uint64{1000, 0, 0}, 0},
		{[]uint64{10, 10, 10}, -1},
		{[]uint64{1, 10, 100}, -1},
		{[]uint64{0, 0, 5}, -1},
		{[]uint64{750, 187, 47}, 15.6},
	}
	for _, test := range tests {
		_, lost, ok := estimateMissed(test.atAsk)
		if ok != (test.lost >= 0) || ok && math.Abs(lost-test.lost) > 0.5 {
			t.Errorf("%v: %v, %v; want %v", test.atAsk, lost, ok, test.lost)
		}
	}
	var sum Summary
	sum.SetAnswers(&Tally{AtAsk: []uint64{750, 187, 47}}, 3)
	if s := sum.FirstAnswers.String(); s != "750 at the first request, 187 at the second, 47 at the third; about 16 more seemed silent because datagrams were lost" {
		t.Error(s)
	}
	sum.SetAnswers(&Tally{AtAsk: []uint64{7}}, 1)
	if s := sum.FirstAnswers.String(); s != "7 at the first request" || sum.FirstAnswers.Missed != nil {
		t.Error(s)
	}
}

func TestRoundTrips(t *testing.T) {
	var rt roundTrips
	if rt.Quantiles() != nil {
		t.Error("an empty histogram has quantiles")
	}
	for i := range 10_000 {
		rt.add(time.Duration(i+1) * 10 * time.Microsecond)
	}
	rt.add(time.Hour)
	rt.add(time.Nanosecond)
	b, err := json.Marshal(rt)
	check(t, err)
	var back roundTrips
	check(t, json.Unmarshal(b, &back))
	for _, q := range []*Quantiles{rt.Quantiles(), back.Quantiles()} {
		near := func(got, want float64) bool { return math.Abs(got-want) <= want*0.011 }
		if q.Servers != 10_002 || q.Min > 0.0011 || !near(q.P50, 50) || !near(q.P90, 90) || !near(q.P99, 99) || !near(q.Max, 600e3) {
			t.Errorf("%+v", q)
		}
	}
	if len(b) > 8<<10 {
		t.Errorf("%d bytes in a checkpoint", len(b))
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestObserver: a problem that persists is logged when it begins, and then at most
// once a minute.
func TestObserver(t *testing.T) {
	var b bytes.Buffer
	o := &Observer{Log: slog.New(console.NewLogHandler(&b)), Rate: 1000}
	var s scanner.Stats
	for second := range 361 {
		s.Elapsed, s.Rate = time.Duration(second)*time.Second, 1000
		switch {
		case second >= 250:
			s.Rate = 1100
		case second >= 100:
			s.Socket.KernelDrops += 2
			s.SendErrors++
			s.SendFaults[slices.Index(scanner.SendFaults[:], "forbidden")]++
		}
		o.sample(&s)
	}
	want := []string{
		`level=WARN msg="kernel drops" datagrams=2 in_all=2 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=1 in_all=1 kinds="1 forbidden"`,
		`level=WARN msg="kernel drops" datagrams=120 in_all=122 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=60 in_all=61 kinds="61 forbidden"`,
		`level=WARN msg="kernel drops" datagrams=120 in_all=242 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=60 in_all=121 kinds="121 forbidden"`,
		`level=INFO msg="rate changed" from=1k to=1.1k`,
		`level=WARN msg="kernel drops" datagrams=58 in_all=300 receive_buffer=0`,
		`level=WARN msg="send errors" datagrams=29 in_all=150 kinds="150 forbidden"`,
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		got = append(got, line)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
