package scan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/congestion"
	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// TestWatchCounting: a long dry run shows its progress in the chosen kind of status
// line.
func TestWatchCounting(t *testing.T) {
	for kind, want := range map[StatusKind]string{
		StatusText: "counting the targets: 12,345,678 so far (25%)",
		StatusJSON: `"phase":"counting","targets":12345678,"part":0.25}`,
		StatusNone: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			s := Status{Terminal: console.New(&b), Kind: kind}
			stop := s.WatchTargets(Counting, func() (uint64, float64, bool) { return 12345678, 0.25, true })
			time.Sleep((&console.Terminal{}).StatusInterval() + 1) // on the fake clock
			stop()
			if !strings.Contains(b.String(), want) || want == "" && b.Len() > 0 {
				t.Errorf("%s: %q, want %q", kind, &b, want)
			}
		})
	}
}

// TestInLog: in a log, lines come as seldom as a command wants.
func TestInLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := 0
		s := Status{Terminal: console.New(&bytes.Buffer{}), Kind: StatusText, InLog: time.Minute}
		stop := s.Watch(func() string { lines++; return "" }, nil)
		time.Sleep(3*time.Minute + 1)
		stop()
		if lines != 3 {
			t.Errorf("%d lines in three minutes, want 3", lines)
		}
	})
}

func TestStatusLine(t *testing.T) {
	read, known, given := 0.0, false, uint64(0)
	p := NewTracker(TrackerConfig{
		Input: func() (float64, bool) { return read, known },
		Given: func() uint64 { return given },
	})

	var s scanner.Stats
	s.Elapsed = time.Second
	s.Sent[0], s.Received[slices.Index(scanner.Classes[:], "matched")] = 5000, 4000
	s.Open = 700
	s.Wait = scanner.WaitTargets + 1 // too many targets are open
	check := func(want string) {
		t.Helper()
		v := p.Sample(s)
		if got := v.Line(0); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	check("waiting: answers (too many targets are open); 0:01; sent 5k, 5k/s; answered 0 (0%); " +
		"open 700; received 4k, 4k/s")

	// From here on the length of the input is known. Half of the input was read,
	// and half of that is finished.
	read, known = 0.5, true
	s.Taken = 5000
	s.Elapsed = 3 * time.Second
	s.Sent[1], s.Received[slices.Index(scanner.Classes[:], "foreign")] = 3000, 1000
	s.Finished[scanner.StatusOK], s.Finished[scanner.StatusNoReply] = 1500, 1000
	s.Wait = scanner.WaitAddress
	s.Held, s.HeldAddrs, s.HeldFor, s.Socket.KernelDrops = 12, 3, 700*time.Second, 9
	check("waiting: 3 addresses at their limit; DROPS 9; 0:03 25%, 11:40 left; sent 8k, 1.5k/s; " +
		"answered 1.5k (47%); open 700; received 5k, 500/s; 12 held back")

	// A second sample at the same moment has no rates.
	s.Wait, s.Held, s.HeldFor, s.Socket.KernelDrops = scanner.WaitNothing, 0, 0, 0
	check("0:03 25%, 0:03 left; sent 8k; answered 1.5k (47%); open 700; received 5k")

	// Reading the list ahead of the scan is not progress.
	read, given = 1, 10_000
	check("0:03 25%, 0:03 left; sent 8k; answered 1.5k (47%); open 700; received 5k")

	// Silent targets count as three quarters done. They count as queried but not
	// answered, although they may still answer.
	s.Silent = 1000
	check("0:03 32%, 0:03 left; sent 8k; answered 1.5k (36%); open 700; received 5k; 1k silent, waiting for a second pass")

	// An earlier run scanned a fifth of the list. The time of that run does not
	// count here.
	s.Silent, p.silent, p.part, p.cfg.Begun, read = 0, 0, 0, 0.2, 0.6
	check("0:03 30%, 0:09 left; sent 8k; answered 1.5k (47%); open 700; received 5k")
}

// TestStatusWidth: a status line fits the screen. At any width it shows what the
// scan waits for and how far it is. If there is room, it has a bar.
func TestStatusWidth(t *testing.T) {
	var s scanner.Stats
	s.Elapsed = 754 * time.Second
	s.Sent[0], s.Received[slices.Index(scanner.Classes[:], "matched")] = 4_123_456, 3_345_678
	s.Finished[scanner.StatusOK], s.Finished[scanner.StatusNoReply] = 712_345, 123_456
	s.Taken, s.Open = 900_000, 11_234
	waits := s
	waits.Wait, waits.Held, waits.HeldAddrs, waits.HeldFor = scanner.WaitAddress, 4321, 3, 12*time.Minute
	lossy := waits
	lossy.Socket.KernelDrops, lossy.SendErrors = 1234, 5
	full := s
	full.Wait = scanner.WaitTargets + 1 // too many targets are open
	tests := []struct {
		name  string
		stats scanner.Stats
		known bool
		width int
		want  string
	}{
		{"bar", s, true, 79, "[======>  ] 12:34 75%, 2:57 left; sent 4.12M, 5.47k/s; answered 712k (84%)"},
		{"wide", s, true, 199, "[===================================>           ] 12:34 75%, 2:57 left; sent 4.12M, 5.47k/s; " +
			"answered 712k (84%); open 11.2k; received 3.35M, 4.44k/s"},
		{"tiny", s, true, 29, "12:34 75%, 2:57 left"},
		{"narrow", s, true, 39, "12:34 75%, 2:57 left; open 11.2k"},
		{"no end", s, false, 79, "12:34; sent 4.12M, 5.47k/s; answered 712k (84%); open 11.2k"},
		{"waits", waits, true, 79, "waiting: 3 addresses at their limit; [======>  ] 12:34 75%, 12:00 left"},
		{"waits, narrow", waits, true, 39, "3 addresses at their limit; 75%, 12:00 left"},
		{"waits, less", waits, true, 55, "waiting: 3 addresses at their limit; 75%, 12:00 left"},
		{"loses", lossy, true, 79, "3 addresses at …; DROPS 1,234; SEND ERRORS 5; [======>  ] 12:34 75%, 12:00 left"},
		{"waits for answers", full, true, 79, "waiting: answers (too many targets are open); [======>  ] 12:34 75%, 2:57 left"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := NewTracker(TrackerConfig{
				Input: func() (float64, bool) { return 0.81, test.known },
				Given: func() uint64 { return 0 },
			})
			v := p.Sample(test.stats)
			if got := v.Line(test.width); got != test.want {
				t.Errorf("%d columns: got\n%s (%d)\nwant\n%s", test.width, got, console.Columns(got), test.want)
			}
		})
	}
}

// TestStatusEnd: the time left includes the known waits at the end of a scan, and
// is never shown as zero.
func TestStatusEnd(t *testing.T) {
	drained, part := false, 0.99
	p := NewTracker(TrackerConfig{
		Input: func() (float64, bool) { return part, true }, Given: func() uint64 { return 1000 },
		Schedule: timing.Schedule{Timeout: 3 * time.Second, Attempts: 1, Cooldown: 2 * time.Second},
		Draining: func() bool { return drained },
	})
	s := scanner.Stats{Taken: 1000, Open: 500}
	s.Finished[scanner.StatusOK], s.Finished[scanner.StatusNoReply] = 400, 100
	check := func(at time.Duration, why scanner.Wait, want string) {
		t.Helper()
		s.Elapsed, s.Wait = at, why
		v := p.Sample(s)
		if got := v.far(); got != want {
			t.Errorf("%v: got %s, want %s", at, got, want)
		}
	}
	check(10*time.Second, scanner.WaitNothing, "0:10 49%, 0:05 left")
	check(time.Second, scanner.WaitNothing, "0:01 49%, 0:05 left")
	s.HeldFor = 30 * time.Second
	check(10*time.Second, scanner.WaitAddress, "0:10 49%, 0:35 left")
	s.HeldFor, part = 0, 1                                            // all targets have been started
	check(11*time.Second, scanner.WaitNothing, "0:11 50%, 0:05 left") // requests are being repeated
	check(13*time.Second, scanner.WaitReplies, "0:13 50%, 0:03 left")
	check(19*time.Second, scanner.WaitReplies, "0:19 50%, finishing") // some targets are slow
	s.Finished[scanner.StatusNoReply], s.Open = 600, 0
	check(20*time.Second, scanner.WaitCooldown, "0:20 100%, 0:02 left")
	check(21500*time.Millisecond, scanner.WaitCooldown, "0:21 100%, 0:01 left")
	check(22*time.Second, scanner.WaitCooldown, "0:22 100%, finishing")

	// A draining scan only waits for its open targets.
	p.started, p.cooling, drained = 0, 0, true
	s.Finished[scanner.StatusNoReply], s.Open = 100, 1213
	check(10*time.Second, scanner.WaitReplies, "0:10 finishing 1,213 open, 0:03 left")
	check(12500*time.Millisecond, scanner.WaitReplies, "0:12 finishing 1,213 open, 0:01 left")
	check(16*time.Second, scanner.WaitReplies, "0:16 finishing 1,213 open")
}

// TestStatusSecondPass: progress does not go back when the second pass starts.
// Until all silent targets have started it, the scan is not near its end.
func TestStatusSecondPass(t *testing.T) {
	p := NewTracker(TrackerConfig{
		Input: func() (float64, bool) { return 1, true }, Given: func() uint64 { return 1000 },
		Schedule: timing.Schedule{Timeout: time.Second, Attempts: 3, SecondPass: true},
	})
	s := scanner.Stats{Taken: 1000, Elapsed: 9 * time.Second, Silent: 400, Wait: scanner.WaitReplies}
	s.Finished[scanner.StatusOK], s.Sent[0] = 600, 3600
	before := p.Sample(s)
	s.Elapsed += 5 * time.Second
	if v := p.Sample(s); v.left >= 0 {
		t.Errorf("%v left, but the first pass takes longer than it should", v.left)
	}
	s.Elapsed -= 5 * time.Second
	s.Silent, s.Open = 100, 300
	after := p.Sample(s)
	if before.part != 0.9 || after.part != 0.9 || p.started != 0 {
		t.Errorf("%v, then %v, started %v", before.part, after.part, p.started)
	}
	if got := after.Line(0); !strings.Contains(got, "answered 600 (60%)") {
		t.Errorf("%s", got)
	}
	s.Silent, s.Open = 0, 400
	end := p.Sample(s)
	if p.started == 0 {
		t.Error("all targets were started, but the end of the scan is not noticed")
	}
	// Before the second pass, the last silent target takes 4.5 s. To start the second pass of
	// 400 targets takes 1 s, and the last of them takes 2 s.
	for i, v := range []View{before, after, end} {
		if got, want := v.left.Round(100*time.Millisecond).Seconds(), []float64{7.5, 2.3, 2}[i]; got != want {
			t.Errorf("sample %d: %v s left, want %v", i, got, want)
		}
	}
}

// TestStatusBar: the length of the bar does not depend on the rest of the line.
func TestStatusBar(t *testing.T) {
	p := NewTracker(TrackerConfig{Input: func() (float64, bool) { return 0.5, true }, Given: func() uint64 { return 1 }})
	for _, columns := range []int{79, 120, 200} {
		s := scanner.Stats{Elapsed: time.Second, Taken: 1}
		want := barOn(columns) - 1
		for range 12 {
			s.Elapsed *= 2
			s.Sent[0] = s.Sent[0]*7 + 1
			v := p.Sample(s)
			if got := strings.IndexByte(v.Line(columns), ']') + 1; got != want {
				t.Fatalf("%d columns: a bar of %d, want %d:\n%s", columns, got, want, v.Line(columns))
			}
		}
	}
}

// TestStatusBarStays: on a screen of a width, the bar does not come and go while the scan
// waits for this or that, and counts grow.
func TestStatusBarStays(t *testing.T) {
	p := NewTracker(TrackerConfig{Input: func() (float64, bool) { return 0.5, true }, Given: func() uint64 { return 1 }})
	for columns := 30; columns < 220; columns++ {
		bars := map[bool]bool{}
		for i := range uint64(40) {
			s := scanner.Stats{Elapsed: time.Duration(i*i) * time.Second, Taken: 1, Wait: scanner.Wait(i % 7), HeldAddrs: int(i * i)}
			s.Sent[0], s.Finished[scanner.StatusOK], s.Open = 9*i*i*i, i*i*i, int(i)
			v := p.Sample(s)
			line := v.Line(columns)
			bars[strings.Contains(line, "[")] = true
			if console.Columns(line) > columns && columns > 70 {
				t.Errorf("%d columns: %s", columns, line)
			}
		}
		if len(bars) != 1 {
			t.Errorf("%d columns: the bar comes and goes", columns)
		}
	}
}

// TestTimeLeft: from the first tenth of a scan on, the time left is right within a fifth or
// within two seconds, for any even share of targets that stay silent.
func TestTimeLeft(t *testing.T) {
	fixed := timing.Schedule{Timeout: time.Second, Attempts: 3, Cooldown: 2 * time.Second}
	learns, once := fixed, fixed
	learns.Learns, learns.Cools = true, true
	once.Attempts, once.Learns, once.Cools = 1, true, true
	for _, sim := range []simulation{
		{targets: 20_000, rate: 5000, datagrams: 4, schedule: fixed},
		{targets: 60_000, rate: 5000, datagrams: 4, schedule: fixed},
		{targets: 400_000, rate: 5000, datagrams: 4, schedule: fixed},
		{targets: 1000, rate: 80, datagrams: 4, schedule: fixed},
		{targets: 60_000, rate: 5000, datagrams: 4, schedule: learns},
		{targets: 4000, rate: 2000, datagrams: 4, schedule: learns},
		{targets: 4000, rate: 500, datagrams: 4, schedule: learns},
		{targets: 1000, rate: 80, datagrams: 4, schedule: learns},
		{targets: 500, rate: 80, datagrams: 4, schedule: learns},
		{targets: 2000, rate: 60, datagrams: 2, schedule: once},
		{targets: 200, rate: 20, datagrams: 2, schedule: once},
	} {
		for _, silent := range []float64{0, 0.1, 0.3, 0.5, 0.7, 0.9} {
			name := fmt.Sprintf("%d targets at %v/s, learns %v, %v attempts, %v silent",
				sim.targets, sim.rate, sim.schedule.Learns, sim.schedule.Attempts, silent)
			views, end := sim.run(silent)
			for _, v := range views {
				left := end - v.Elapsed
				if v.Elapsed > end/10 && (max(v.left, 0)-left).Abs() > max(left/5, 2*time.Second) {
					t.Errorf("%s: after %v of %v: %v left, want %v", name, v.Elapsed, end, v.left, left)
					break
				}
			}
		}
	}
}

// TestLastWait: the wait at the end of a scan depends on what targets leave open and how
// often, and on the timeouts.
func TestLastWait(t *testing.T) {
	for _, test := range []struct {
		noReply, partial, timeouts uint64
		fixed, learned             time.Duration // in ms
	}{
		{0, 0, 0, 0, 0},
		{1000, 0, 3000, 4400, 1400},
		{50, 0, 150, 2500, 0},          // a silent target every 2 s
		{0, 1000, 0, 0, 0},             // every answer arrives, but some are truncated
		{0, 1000, 1000, 4400, 2100},    // one open question
		{0, 1000, 2000, 7400, 4800},    // two
		{1000, 1000, 4000, 4400, 2100}, // silent targets, and targets with one open question
	} {
		for _, learned := range []bool{false, true} {
			p := NewTracker(TrackerConfig{Questions: wire.AskAll, Schedule: timing.Schedule{Timeout: time.Second, Attempts: 3}})
			s, want := scanner.Stats{Elapsed: 100 * time.Second}, test.fixed
			s.Finished[scanner.StatusOK], s.Finished[scanner.StatusNoReply], s.Finished[scanner.StatusPartial] = 1000, test.noReply, test.partial
			s.Errors[wire.ErrTimeout] = test.timeouts
			if learned {
				s.Timeouts, want = scanner.Timeouts{Learned: true, Now: timing.LeastTimeout}, test.learned
			}
			if got := p.lastWait(&s, 1); got != want*time.Millisecond {
				t.Errorf("%+v, learned %v: %v", test, learned, got)
			}
		}
	}
}

// simulation is a scan of servers that answer after 50 ms. Its unit of time is a tick.
type simulation struct {
	targets   int
	rate      float64
	datagrams int // number of datagrams that a server needs
	schedule  timing.Schedule

	scanner.Stats
	now int
	// due counts follow-ups and repeats[k] counts repeats number k, by the time at which they
	// are due. answers and gone count targets by the time at which they finish.
	due, answers, gone map[int]int
	repeats            [3]map[int]int
}

const (
	tick = 10 * time.Millisecond
	trip = 5 // ticks
)

// run simulates the scan with this share of silent targets, and samples it every second.
func (s simulation) run(silent float64) (views []View, end time.Duration) {
	p := NewTracker(TrackerConfig{
		Input:    func() (float64, bool) { return float64(s.Taken) / float64(s.targets), true },
		Given:    func() uint64 { return s.Taken },
		Schedule: s.schedule,
	})
	s.due, s.answers, s.gone, s.repeats = map[int]int{}, map[int]int{}, map[int]int{}, [3]map[int]int{{}, {}, {}}
	queue, tokens := [3]int{}, 0.0 // queue[0] has follow-ups, the others repeats
	for ; ; s.now++ {
		s.Elapsed = time.Duration(s.now) * tick
		s.learn()
		s.finish()
		tokens = min(tokens+s.rate*tick.Seconds(), max(s.rate/10, 1))
		queue[0] += s.due[s.now]
		for k := range queue {
			queue[k] += s.repeats[k][s.now]
			for ; queue[k] > 0 && tokens >= 1; queue[k]-- {
				tokens--
				s.Sent[0]++
				if k > 0 {
					s.Repeats++
					s.attempt(k + 1)
				}
			}
		}
		for ; int(s.Taken) < s.targets && tokens >= 1; tokens-- {
			before := int(float64(s.Taken) * silent)
			s.Taken++
			s.Sent[0]++
			s.Open++
			if int(float64(s.Taken)*silent) > before {
				s.attempt(1)
			} else {
				s.due[s.now+trip] += s.datagrams - 1
				s.answers[s.now+2*trip]++
			}
		}
		if int(s.Taken) == s.targets {
			s.Wait = scanner.WaitReplies
		}
		if s.now%100 == 0 {
			views = append(views, p.Sample(s.Stats))
		}
		if s.Open == 0 && s.schedule.Early() && s.schedule.Cools {
			return views, s.Elapsed + 2*trip*tick
		} else if s.Open == 0 {
			return views, s.Elapsed + s.schedule.Cooldown
		}
	}
}

// learn learns the shortest timeout. When all targets were started, it also shortens the last
// waits (see session.LastWaits).
func (s *simulation) learn() {
	trips := s.Finished[scanner.StatusOK]
	if !s.schedule.Learns || s.Elapsed < time.Second || trips < timing.LearnTrips {
		return
	}
	s.schedule.Learned = timing.LeastTimeout
	s.Timeouts.Learned, s.Timeouts.Now = true, s.schedule.Learned
	for at, n := range s.gone {
		if int(s.Taken) == s.targets && trips >= timing.LastTrips && at > s.now+2*trip {
			delete(s.gone, at)
			s.gone[s.now+2*trip] += n
		}
	}
}

func (s *simulation) finish() {
	answers, gone := s.answers[s.now], s.gone[s.now]
	s.Finished[scanner.StatusOK] += uint64(answers)
	s.Finished[scanner.StatusNoReply] += uint64(gone)
	s.Timeouts.Listening -= min(gone, s.Timeouts.Listening)
	s.Open -= answers + gone
	delete(s.gone, s.now)
}

// attempt makes attempt number n at a silent target.
func (s *simulation) attempt(n int) {
	wait := s.schedule.Wait(n)
	if s.schedule.Early() {
		wait = s.schedule.EarlyWait(s.schedule.EarlySum(n-1), n, s.schedule.Attempts)
	}
	switch {
	case n < s.schedule.Attempts:
		s.repeats[n][s.now+int(wait/tick)]++
		return
	case s.schedule.Early():
		s.Timeouts.Listening++
		wait = s.schedule.Silence() - s.schedule.EarlySum(n-1)
	}
	s.gone[s.now+int(wait/tick)]++
}

// TestStatusRecord: a status line as JSON has the numbers under the keys that
// scripts use, and omits unknown numbers.
func TestStatusRecord(t *testing.T) {
	known := false
	p := NewTracker(TrackerConfig{Input: func() (float64, bool) { return 0.5, known }, Given: func() uint64 { return 1 }})
	var s scanner.Stats
	s.Rate, s.Sent[0] = scanner.Off, 7
	var b bytes.Buffer
	status := Status{Terminal: console.New(&b), Scan: "\x1b]0;mine\a", tracker: p}
	say := func() string {
		b.Reset()
		status.sayScan("", s)
		return b.String()
	}
	got := say()
	want := `,"scan":"\u001b]0;mine\u0007","phase":"asking","elapsed":0,"finished":0,"answered":0,"open":0,"held":0,` +
		`"silent":0,"sent":7,"received":0,"rate":null,"drops":0,"send_errors":0,"network_away":0,"bytes":0}` + "\n"
	if !strings.HasPrefix(got, `{"time":"20`) || !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s want …\n%s", got, want)
	}

	s.Path = congestion.Path{On: true, Now: 19_400, Carried: 20_000}
	if v := p.Sample(s); !strings.Contains(v.Line(0), "; rate 19.4k/s, path full at 20k/s; ") {
		t.Errorf("%q", v.Line(0))
	}
	if got := say(); !strings.Contains(got, `"rate_found":19400,"path_carried":20000,`) {
		t.Errorf("%s", got)
	}
	s.Path = congestion.Path{}
	known = true
	s.Elapsed, s.Rate, s.Sent[0], s.Taken = 2*time.Second, 5000, 17, 2
	s.Wait, s.HeldFor, s.Socket.KernelDrops = scanner.WaitAddress, time.Minute, 3
	s.Finished[scanner.StatusOK] = 1
	got = say()
	for _, has := range []string{
		`"part":0.25,"left":60,"elapsed":2,`, `"sent":17,"received":0,"sent_rate":5,"received_rate":0,"rate":5000,`,
		`"drops":3,`, `"waiting":"per_address","waiting_for":60}`,
	} {
		if !strings.Contains(got, has) {
			t.Errorf("no %s in\n%s", has, got)
		}
	}
}

// TestForecast checks the forecasts of lists and networks with various settings.
func TestForecast(t *testing.T) {
	tests := []struct {
		name           string
		set            func(f *Forecast)
		listed, spread float64
		want           string
	}{
		{"list", func(*Forecast) {}, 1e6, 0,
			"about 4M to 4.67M datagrams, 13 to 16 min at 5k/s, depending on how many answer"},
		{"few", func(*Forecast) {}, 3, 0, "about 12 to 14 datagrams, 2 to 16 s at 5k/s, depending on how many answer"},
		{"info", func(f *Forecast) { f.Questions = wire.AskInfo }, 1e6, 0,
			"about 2M to 2.67M datagrams, 7 to 9 min at 5k/s, depending on how many answer"},
		{"fast", func(f *Forecast) { f.Rate = 1e5 }, 1e6, 0,
			"about 4M to 4.67M datagrams, 42 to 62 s at 100k/s, depending on how many answer"},
		{"auto", func(f *Forecast) { f.Rate, f.Finds = 1e5, true }, 1e6, 0,
			"about 4M to 4.67M datagrams, 42 s to 16 min at 5k to 100k/s, depending on how many answer"},
		{"no rate", func(f *Forecast) { f.Rate = 0 }, 1e6, 0,
			"about 4M to 4.67M datagrams, as fast as possible, depending on how many answer"},
		{"network", func(*Forecast) {}, 0, 65536,
			"about 197k to 262k datagrams, 46 to 68 s at 5k/s, depending on how many answer"},
		{"network, info", func(f *Forecast) { f.Questions = wire.AskInfo }, 0, 65536,
			"about 131k to 197k datagrams, 33 to 46 s at 5k/s, depending on how many answer"},
		{"one attempt", func(f *Forecast) { f.Schedule.Attempts = 1 }, 0, 65536,
			"about 65.5k to 262k datagrams, 16 to 57 s at 5k/s, depending on how many answer"},
		{"second pass", func(f *Forecast) { f.Schedule.SecondPass = true }, 0, 65536,
			"about 262k datagrams, 61 to 74 s at 5k/s, depending on how many answer"},
		{"second pass, list", func(f *Forecast) { f.Schedule.SecondPass = true }, 1e6, 0,
			"about 4M to 5M datagrams, 13 to 17 min at 5k/s, depending on how many answer"},
		{"fallback", func(f *Forecast) { f.Fallback = true }, 0, 65536,
			"about 262k to 328k datagrams, 59 to 81 s at 5k/s, depending on how many answer"},
		{"fallback without info", func(f *Forecast) { f.Fallback, f.Questions = true, wire.AskRules }, 0, 65536,
			"about 131k to 197k datagrams, 33 to 46 s at 5k/s, depending on how many answer"},
		{"ports", func(f *Forecast) { f.Ports = 1000 }, 0, 1000,
			"about 3k to 4k datagrams, 7 min at 5k/s, depending on how many answer"},
		{"ports, no limit", func(f *Forecast) { f.Ports, f.AddressRate = 1000, 0 }, 0, 1000,
			"about 3k to 4k datagrams, 7 to 16 s at 5k/s, depending on how many answer"},
		{"both", func(*Forecast) {}, 1e6, 65536,
			"about 4.2M to 4.93M datagrams, 14 to 17 min at 5k/s, depending on how many answer"},
		{"learned", func(f *Forecast) { f.Schedule.Learns, f.Schedule.Cools = true, true }, 0, 4096,
			"about 12.3k to 16.4k datagrams, 4 to 19 s at 5k/s, depending on how many answer"},
		{"learned, few", func(f *Forecast) { f.Schedule.Learns, f.Schedule.Cools = true, true }, 3, 0,
			"about 12 to 14 datagrams, 2 to 16 s at 5k/s, depending on how many answer"},
		{"for ever", func(f *Forecast) { f.Rate = 0.001 }, 0, 1 << 48,
			"about 844T to 1126T datagrams, more than 100 years at 0/s, depending on how many answer"},
		{"from days to years", func(f *Forecast) { f.Questions = wire.AskInfo; f.Schedule.Attempts = 1 }, 0, 1e13,
			"about 10T to 20T datagrams, 23148 days to more than 100 years at 5k/s, depending on how many answer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &Forecast{
				Listed: test.listed, InNetworks: test.spread,
				Questions: wire.AskAll, Rate: scanner.DefaultRate, AddressRate: scanner.DefaultAddressRate,
				Schedule: scanner.Config{Timeout: time.Second, Cooldown: 2 * time.Second}.Schedule(),
			}
			test.set(f)
			if got := f.String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
