package session

import (
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// TestMemory checks the byte budget: lent and kept buffers together never exceed it.
func TestMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	m := NewMemory(1 << 20)
	var held [][]byte
	refused := 0
	for range 100_000 {
		if i := rng.IntN(200); i < len(held) {
			m.put(held[i])
			held[i] = held[len(held)-1]
			held = held[:len(held)-1]
			continue
		}
		var b []byte
		if !m.grow(&b, 1+rng.IntN(100_000)) {
			refused++
			continue
		}
		held = append(held, b)
		if m.Used+m.spare > m.budget || m.Used > m.Peak {
			t.Fatalf("%d used, %d spare, peak %d", m.Used, m.spare, m.Peak)
		}
	}
	var sum int64
	for _, b := range held {
		sum += int64(cap(b))
	}
	if refused == 0 || sum != m.Used {
		t.Errorf("%d refused, %d held, %d used", refused, sum, m.Used)
	}
}

// TestAnswerSize checks that an answer takes at most a kilobyte in addition to its
// messages, and that the fields that every datagram changes lie in its first four
// cache lines.
func TestAnswerSize(t *testing.T) {
	var a Answer
	if n := unsafe.Sizeof(a); n > 1024 {
		t.Errorf("an answer takes %d bytes, which the runtime rounds up to 1152", n)
	}
	if n := unsafe.Offsetof(a.challenges) + unsafe.Offsetof(a.challenges.values); n > 4*64 {
		t.Errorf("what every datagram changes takes %d bytes", n)
	}
}

// TestOverdueUnpacking checks that a session that waits for a slow decompressor is not
// overdue, unless the decompressor makes no progress.
func TestOverdueUnpacking(t *testing.T) {
	p := &Plan{Questions: wire.AskAll, Schedule: timing.Schedule{Timeout: time.Second, Attempts: 3}}
	const late = 10 * time.Minute
	for _, test := range []struct {
		packed     uint8
		unpackedAt time.Duration
		want       bool
	}{
		{1, late - time.Second, false},
		{1, 0, true},
		{0, late - time.Second, true},
	} {
		s := &Session{Got: &Answer{packed: test.packed}}
		if got := s.Overdue(p, late, test.unpackedAt); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// FuzzSession plays arbitrary events in any order: a session must end after a
// bounded number of datagrams and waits, whatever the server does.
func FuzzSession(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, uint8(7))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9}, uint8(7))
	f.Add([]byte{5, 6, 0, 5, 6, 12, 12, 12, 7, 12}, uint8(3))
	f.Add([]byte{0, 1, 2, 3, 12, 12}, uint8(7|32))
	f.Fuzz(func(t *testing.T, events []byte, questions uint8) {
		p := Plan{
			Questions: wire.Questions(questions) & (wire.AskAll | wire.AskPing), Fallback: questions&16 != 0,
			Schedule: timing.Schedule{Timeout: time.Second, Attempts: 3},
		}
		if p.Questions&wire.AskAll == 0 {
			return
		}
		if questions&32 != 0 { // the scan has learned its timeouts
			p.Schedule.Learned, p.Last.Heard = timing.LeastTimeout, time.Duration(questions>>6)*time.Second
		}
		var tk Session
		m := NewMemory(1 << 20)
		tk.Start(&p, false, false)
		now, sent, next := time.Duration(0), 0, wire.Challenge(1)
		for i := 0; !tk.Flags.Has(Done); i++ {
			if i < len(events) {
				fuzzEvent(&tk, m, &p, now, events[i], &next)
			} else {
				now = max(now+time.Millisecond, tk.Clock.Wake())
				tk.Tick(&p, now)
			}
			tk.Advance(&p, now)
			for q := range tk.Due().Each() {
				tk.Sent(&p, now, q)
				sent++
			}
			now += time.Millisecond
			if i > len(events)+200 {
				t.Fatalf("the session has not ended after %d waits: %+v", i-len(events), tk)
			}
		}
		// The maximum number of datagrams for each question: its attempts and the extra
		// ones, all of them twice because an older challenge may replace the current
		// one; two in each challenge round; and one when the challenge turns out to be
		// shared by all questions. A ping may be sent in addition.
		if most := 3*(2*(1+2+extraAttempts)+2*maxRounds+1) + 1; sent > most {
			t.Fatalf("%d datagrams sent, at most %d expected", sent, most)
		}
	})
}

func fuzzEvent(t *Session, m *Memory, p *Plan, now time.Duration, b byte, next *wire.Challenge) {
	q := wire.Question(b / 16 % 3)
	if t.Got == nil && b%13 != 10 && b%13 != 12 {
		t.Hear(p, new(Answer), now, wire.NoChallenge)
	}
	if b >= 13*16 {
		fuzzAside(t, m, p, now, b)
		return
	}
	x := incoming{s: t, memory: m, now: now}
	switch b % 13 {
	case 0:
		*next++
		t.challenged(now, *next)
	case 1:
		t.challenged(now, *next)
	case 2:
		x.reply(q, 0)
	case 3:
		x.reply(q, wire.ErrTruncated)
	case 4:
		x.reply(q, wire.ErrMalformed)
	case 5:
		x.goldReply(0)
	case 6:
		t.Fragment()
	case 7:
		t.Contradiction()
	case 8:
		t.Message(m, now, wire.AppendText(nil, wire.KindLimited, nil))
	case 9:
		t.Junk(wire.ErrUnexpected)
	case 10:
		t.Agenda.Drop(1<<q, wire.ErrSendFailed)
	case 11:
		t.Message(m, now, wire.AppendText(nil, wire.KindBanned, nil))
	case 12:
		t.Tick(p, now)
	}
}

// fuzzAside plays an event that does not answer an open question.
func fuzzAside(t *Session, m *Memory, p *Plan, now time.Duration, b byte) {
	if t.Got == nil {
		t.Hear(p, new(Answer), now, wire.NoChallenge)
	}
	x := incoming{s: t, memory: m, now: now}
	switch b % 4 {
	case 0:
		x.pong()
	case 1:
		t.Unreachable()
	case 2:
		x.game(17510)
	case 3:
		t.Message(m, now, message([]string{"I", "m", "D", "E"}[b/4%4], string(rune('a'+b/16))))
	}
}
