package session

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

var rewrite = flag.Bool("rewrite", false,
	"rewrite testdata/session: only for who has understood why a conversation changed")

// TestSession plays the conversations in testdata/session. A line has a time and an
// event. The lines with ">" after it show how the session reacts: what it sends (at once,
// as if there were no rate limit), until when it waits, and how it ends.
func TestSession(t *testing.T) {
	files, err := filepath.Glob("testdata/session/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := playSession(want)
			if err != nil {
				t.Fatal(err)
			}
			if *rewrite {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s:\n%s\nwant\n%s", file, got, want)
			}
		})
	}
}

// player plays one conversation and writes down how the session reacts.
type player struct {
	plan       Plan
	session    Session
	memory     *Memory
	remembered wire.Challenge
	infoOnly   bool
	now        time.Duration
	out        bytes.Buffer
}

func playSession(text []byte) ([]byte, error) {
	p := player{
		plan:   Plan{Questions: wire.AskAll, Schedule: timing.Schedule{Timeout: time.Second, Attempts: 3}},
		memory: NewMemory(math.MaxInt64), remembered: wire.NoChallenge,
	}
	for n, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if strings.HasPrefix(line, "\t>") {
			continue
		}
		fmt.Fprintln(&p.out, line)
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	return p.out.Bytes(), nil
}

func (p *player) line(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] == "#" {
		return nil
	}
	switch words[0] {
	case "fallback":
		p.plan.Fallback = true
		return nil
	case "attempts":
		n, err := strconv.Atoi(words[1])
		p.plan.Schedule.Attempts = n
		return err
	case "try-players":
		p.plan.TryPlayers = true
		return nil
	case "learned": // the scan learned to wait only so long for the first attempt
		d, err := time.ParseDuration(words[1])
		p.plan.Schedule.Learned = d
		return err
	case "remembered":
		n, err := strconv.ParseUint(words[1], 0, 32)
		p.remembered, p.infoOnly = wire.Challenge(n), len(words) > 2
		return err
	case "ask":
		p.plan.Questions = 0
		for _, w := range words[1:] {
			p.plan.Questions |= 1 << question(w)
		}
		return nil
	}
	at, err := time.ParseDuration(words[0])
	if err != nil {
		return err
	}
	if at < p.now {
		return fmt.Errorf("%v is before %v", at, p.now)
	}
	p.now = at
	if err := p.event(words[1], words[2:]); err != nil {
		return err
	}
	p.show()
	return nil
}

func question(w string) wire.Question {
	for q := range wire.Question(wire.NumRequests) {
		if q.String() == w {
			return q
		}
	}
	panic("no such question: " + w)
}

func (p *player) event(name string, args []string) error {
	t := &p.session
	code := wire.Error(0)
	if len(args) > 0 {
		for e := range wire.Error(wire.NumErrors) {
			if e.String() == args[0] {
				code = e
			}
		}
	}
	switch name {
	case "start", "unreachable", "unsent", "tick":
	default:
		if t.Got == nil {
			t.Hear(&p.plan, p.memory.Answer(), p.now, p.remembered)
		}
	}
	switch name {
	case "start":
		t.Start(&p.plan, p.infoOnly, p.remembered != wire.NoChallenge)
	case "challenge":
		n, err := strconv.ParseUint(args[0], 0, 32)
		if err != nil {
			return err
		}
		t.challenged(p.now, wire.Challenge(n))
	case "info", "players", "rules":
		(&incoming{s: t, now: p.now}).reply(question(name), code)
	case "goldsource":
		(&incoming{s: t, now: p.now}).goldReply(code)
	case "fragment":
		t.Fragment()
	case "conflict":
		t.Contradiction()
	case "limited":
		t.Message(p.memory, p.now, wire.AppendText(nil, wire.KindLimited, nil))
	case "banned":
		t.Message(p.memory, p.now, wire.AppendText(nil, wire.KindBanned, []byte("x")))
	case "junk":
		t.Junk(code)
	case "unreachable":
		t.Unreachable()
	case "I", "m", "D", "E": // a complete message with this name in it, or one that is cut
		msg := message(name, args[0])
		if len(args) > 1 {
			msg = msg[:len(msg)-3]
		}
		t.Message(p.memory, p.now, msg)
	case "pong":
		(&incoming{s: t, memory: p.memory, now: p.now}).pong()
	case "app":
		id, err := strconv.ParseUint(args[0], 10, 32)
		if err != nil {
			return err
		}
		(&incoming{s: t}).game(uint32(id))
	case "unsent":
		t.Agenda.Drop(1<<question(args[0]), wire.ErrSendFailed)
	case "tick":
		if t.Clock.Wake() > p.now {
			return fmt.Errorf("tick at %v, wake-up is %v", p.now, t.Clock.Wake())
		}
		t.Tick(&p.plan, p.now)
	default:
		return fmt.Errorf("no event %q", name)
	}
	t.Advance(&p.plan, p.now)
	return nil
}

// message returns a message of a kind that contains a name.
func message(kind, name string) []byte {
	text := []byte(name)
	switch kind {
	case "I":
		return wire.AppendInfo(nil, &wire.Info{Name: text})
	case "m":
		return wire.AppendInfo(nil, &wire.Info{Format: wire.FormatGoldSource, Name: text})
	case "D":
		return wire.AppendPlayers(nil, 1, []wire.Player{{Name: text}})
	}
	return wire.AppendRules(nil, 1, []wire.Rule{{Name: text, Value: []byte("1")}})
}

// kept returns the name in the answer that counts, in parentheses; "" if there is none.
func kept(q wire.Question, a *Answer) string {
	var name []byte
	switch q {
	case wire.QuestionInfo:
		name = a.In.Name
	case wire.QuestionPlayers:
		var ps wire.Players
		if ps.Reset(a.Players, wire.ShipUnknown) == nil && ps.Next() {
			name = ps.Player().Name
		}
	case wire.QuestionRules:
		var rs wire.Rules
		if rs.Reset(a.Rules) == nil && rs.Next() {
			name = rs.Rule().Name
		}
	}
	if len(name) == 0 {
		return ""
	}
	return "(" + string(name) + ")"
}

// show sends what is due and writes down what the step decided.
func (p *player) show() {
	t := &p.session
	if t.Flags.Has(Done) {
		fmt.Fprint(&p.out, "\t> done")
		for q := range (p.plan.Questions & wire.AskAll).Each() {
			word := t.Agenda.Err[q].String()
			if word == "" {
				word = "answered"
			}
			fmt.Fprintf(&p.out, " %v=%s", q, word)
			if t.Got != nil {
				fmt.Fprint(&p.out, kept(q, t.Got))
			}
		}
		if t.Got != nil && t.Got.Conflict {
			fmt.Fprint(&p.out, " conflict")
		}
		fmt.Fprintln(&p.out)
		return
	}
	if t.Due() != 0 {
		fmt.Fprint(&p.out, "\t> send")
		for q := range t.Due().Each() {
			request, c := t.Request(q, p.remembered)
			fmt.Fprintf(&p.out, " %v", request)
			if c != wire.NoChallenge && q != wire.QuestionPing {
				fmt.Fprintf(&p.out, "+%d", c)
			}
			t.Sent(&p.plan, p.now, q)
		}
		fmt.Fprintln(&p.out)
	}
	fmt.Fprintf(&p.out, "\t> wait until %v\n", t.Clock.Wake())
}

// TestSince checks that a round trip is never 0, which would mean that it is unknown, even
// if it is shorter than the clock can tell.
func TestSince(t *testing.T) {
	s := Clock{FirstAt: time.Second}
	sent := time.Second + 5*time.Microsecond
	for now, want := range map[time.Duration]time.Duration{
		sent + 100*time.Microsecond: 100 * time.Microsecond,
		sent + 300*time.Nanosecond:  time.Microsecond,
		sent:                        time.Microsecond,
		time.Second:                 time.Microsecond,
	} {
		if got := s.since(5, now); got != want {
			t.Errorf("at %v: %v, want %v", now, got, want)
		}
	}
}
