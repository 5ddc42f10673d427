package scanner

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// TestRecent checks that a finished source stays known for at least one turn and at
// most two.
func TestRecent(t *testing.T) {
	r := newRecent()
	has := func(source uint64) bool {
		_, ok := r.find(source)
		return ok
	}
	r.add(1, mark{})
	r.turn()
	r.add(2, mark{})
	if !has(1) || !has(2) || has(3) {
		t.Error("forgotten too early")
	}
	r.turn()
	if has(1) || !has(2) {
		t.Error("a turn later 1 should be forgotten and 2 known")
	}
	for source := range uint64(5 * maxRecent) {
		r.add(source, mark{})
	}
	if n := len(r.now) + len(r.before); n > 2*maxRecent {
		t.Errorf("%d sources are remembered", n)
	}
}

// TestWheel files, moves and removes slots at random. Each slot must be woken once,
// after its time and at most 30 ms late.
func TestWheel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	s, w := newSlots(), newWheel()
	due := map[int32]time.Duration{}
	for i := range int32(5000) {
		if s.take() != i {
			t.Fatal("slots are not handed out in order")
		}
		s.at(i).session.clock.wakeAt(time.Duration(rng.Int64N(int64(9 * time.Second))))
		w.file(s, i)
		due[i] = s.at(i).session.clock.wake()
	}
	for now := time.Duration(0); now < 20*time.Second; now += time.Duration(rng.Int64N(int64(20 * time.Millisecond))) {
		for range 5 {
			i := int32(rng.IntN(5000))
			if _, waits := due[i]; !waits {
				continue
			}
			switch rng.IntN(3) {
			case 0: // postponed: the wheel need not know
				s.at(i).session.clock.wakeAt(s.at(i).session.clock.wake() + time.Second)
				due[i] = s.at(i).session.clock.wake()
			case 1: // brought forward
				s.at(i).session.clock.wakeAt(max(now+1, s.at(i).session.clock.wake()-time.Second))
				w.file(s, i)
				due[i] = s.at(i).session.clock.wake()
			case 2:
				w.remove(s, i)
				delete(due, i)
			}
		}
		last := now - 30*time.Millisecond
		w.advance(s, now, func(i int32) {
			at, waits := due[i]
			if !waits || at > now || at < last {
				t.Fatalf("slot %d woken at %v, wanted %v, waits %v", i, now, at, waits)
			}
			delete(due, i)
		})
	}
	if len(due) > 0 || w.n != 0 {
		t.Errorf("%d slots were never woken, %d are filed", len(due), w.n)
	}
}

// TestWheelAfterPause checks that no wake-up is lost if the clock jumps ahead, as
// after the machine was suspended.
func TestWheelAfterPause(t *testing.T) {
	s, w := newSlots(), newWheel()
	for i := range int32(2000) {
		s.take()
		s.at(i).session.clock.wakeAt(time.Duration(i) * 5 * time.Millisecond)
		w.file(s, i)
	}
	woken := 0
	w.advance(s, time.Hour, func(int32) { woken++ })
	if woken != 2000-1 { // slot 0 has no wake-up time
		t.Errorf("%d slots were woken", woken)
	}
}

// TestAddrs checks the rate limit of an address: its bucket takes time to fill, a
// refund fills it, and retries empty it.
func TestAddrs(t *testing.T) {
	a := newAddrs(10, Off)
	const one, two = 0x7F000001_0001, 0x7F000001_0002
	if !a.admit(0, entry{addr: one}) {
		t.Fatal("the first server of an address has to wait")
	}
	if a.admit(0, entry{addr: two}) || a.n != 1 || !a.holds(two) {
		t.Fatal("the second server of an address does not wait")
	}
	if _, ok := a.release(399 * time.Millisecond); ok {
		t.Error("released before the bucket is full")
	}
	a.sent(0, one) // a retry
	if _, ok := a.release(450 * time.Millisecond); ok {
		t.Error("released although a repeat was sent")
	}
	if e, ok := a.release(500 * time.Millisecond); !ok || e.addr != two || a.holds(two) {
		t.Error("not released when the bucket is full")
	}
	a.refund(500*time.Millisecond, two, 1)
	if full := a.full[0x7F000001]; full != 600*time.Millisecond {
		t.Errorf("after a server that was sent 1 datagram the bucket is full at %v", full)
	}
	a.forget(2 * time.Second)
	if len(a.full) != 0 {
		t.Errorf("%d full buckets are remembered", len(a.full))
	}
}

// TestPool checks the byte budget: lent and kept buffers together never exceed it.
func TestPool(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	p := pool{budget: 1 << 20}
	var held [][]byte
	refused := 0
	for range 100_000 {
		if i := rng.IntN(200); i < len(held) {
			p.put(held[i])
			held[i] = held[len(held)-1]
			held = held[:len(held)-1]
			continue
		}
		var b []byte
		if !p.grow(&b, 1+rng.IntN(100_000)) {
			refused++
			continue
		}
		held = append(held, b)
		if p.used+p.kept > p.budget || p.used > p.peak {
			t.Fatalf("%d used, %d kept, peak %d", p.used, p.kept, p.peak)
		}
	}
	var sum int64
	for _, b := range held {
		sum += int64(cap(b))
	}
	if refused == 0 || sum != p.used {
		t.Errorf("%d refused, %d held, %d used", refused, sum, p.used)
	}
}

// TestNameSet checks the search for names that occur twice.
func TestNameSet(t *testing.T) {
	var s nameSet
	for _, n := range []int{0, 1, 2, fewRules, fewRules + 1, 300, 65535} {
		rules := make([]wire.Rule, n)
		for i := range rules {
			rules[i].Name = []byte{byte(i), byte(i >> 8), 'x'}
		}
		if s.twice(rules) {
			t.Errorf("%d different names: one counts as a duplicate", n)
		}
		if n > 1 {
			rules[n-1].Name = rules[n/2-1].Name
			if !s.twice(rules) {
				t.Errorf("%d names, one of them twice: not seen", n)
			}
		}
	}
}

// TestAscending checks names in order and out of order: names in order are not
// searched for duplicates.
func TestAscending(t *testing.T) {
	tests := []struct {
		names string
		want  bool
	}{
		{"", true},
		{"a", true},
		{"a b c", true},
		{"a B c", true},
		{"b a", false},
		{"a a", false},
		{"a A", false}, // equal in this order, though different
		{"a a1", true},
		{"a1 a", false},
		{"mp_autokick mp_buytime mp_c4timer", true},
		{"mp_autokick Mp_buytime sv_gravity", true},
		{"mp_autokick mp_autokick2", true},
		{"mp_autokick2 mp_autokick", false},
		{"mp_autokick1 mp_autokick2", true},
		{"mp_autokick2 mp_autokick1", false},
		{"mp_autokick1 mp_autokick1", false},
		{"sv_gravity12345a sv_gravity12345b", true},
		{"sv_gravity12345b sv_gravity12345a", false},
		{"sv_gravity12345a sv_gravity12345a", false},
		{"12345678 123456789", true},
		{"123456789 12345678", false},
		{"12345678 12345678", false},
	}
	for _, test := range tests {
		var rules []wire.Rule
		for _, name := range strings.Fields(test.names) {
			rules = append(rules, wire.Rule{Name: []byte(name)})
		}
		if got := ascending(rules); got != test.want {
			t.Errorf("%s: %v, want %v", test.names, got, test.want)
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
		p := plan{
			questions: Questions(questions) & (AskAll | AskPing), fallback: questions&16 != 0,
			schedule: Schedule{Timeout: time.Second, Retries: 2},
		}
		if p.questions.status() == 0 {
			return
		}
		base := p.schedule.Timeout
		if questions&32 != 0 { // the scan has learned its timeouts
			base, p.last.heard = LeastTimeout, time.Duration(questions>>6)*time.Second
		}
		var tk session
		p.start(&tk, nil)
		now, sent, next := time.Duration(0), 0, wire.Challenge(1)
		for i := 0; tk.flags&flagDone == 0; i++ {
			if i < len(events) {
				fuzzEvent(&tk, &p, now, base, events[i], &next)
			} else {
				now = max(now+time.Millisecond, tk.clock.wake())
				p.tick(&tk, now, base)
			}
			p.advance(&tk, now)
			for q := range each(tk.agenda.due & (tk.agenda.open | aside)) {
				p.sent(&tk, now, base, 1<<q)
				sent++
			}
			now += time.Millisecond
			if i > len(events)+200 {
				t.Fatalf("the session has not ended after %d waits: %+v", i-len(events), tk)
			}
		}
		// The maximum number of datagrams for each question: its attempts and the extra
		// ones, all of them twice because an older challenge may replace the current
		// one; two in each challenge round; one when the challenge turns out to be
		// shared by all questions; and one to verify the answer. A ping may be sent in
		// addition.
		if most := 3*(2*(1+2+extraAsks)+2*maxRounds+2) + 1; sent > most {
			t.Fatalf("%d datagrams sent, at most %d expected", sent, most)
		}
	})
}

func fuzzEvent(t *session, p *plan, now, base time.Duration, b byte, next *wire.Challenge) {
	q := wire.Question(b / 16 % 3)
	if t.got == nil && b%13 != 10 && b%13 != 12 {
		t.begin(new(answer), wire.NoChallenge)
	}
	if b >= 13*16 {
		fuzzAside(t, b)
		return
	}
	switch b % 13 {
	case 0:
		*next++
		t.onChallenge(now, *next)
	case 1:
		t.onChallenge(now, *next)
	case 2:
		t.onReply(now, q, 0)
	case 3:
		t.onReply(now, q, wire.ErrTruncated)
	case 4:
		t.onReply(now, q, wire.ErrMalformed)
	case 5:
		t.onGold(now, 0)
	case 6:
		t.onFragment()
	case 7:
		t.onConflict()
	case 8:
		t.onLimited()
	case 9:
		t.onJunk(wire.ErrUnexpected)
	case 10:
		t.onSendFailed(q)
	case 11:
		t.onBanned()
	case 12:
		p.tick(t, now, base)
	}
}

// fuzzAside plays an event that does not answer an open question.
func fuzzAside(t *session, b byte) {
	if t.got == nil {
		t.begin(new(answer), wire.NoChallenge)
	}
	switch b % 5 {
	case 0:
		t.onPong()
	case 1:
		t.onUnreachable()
	case 2:
		t.got.suspicion.again(wire.QuestionInfo)
	case 3:
		t.got.suspicion.contradicted()
	case 4:
		t.onAppID(17510)
	}
}

// FuzzDatagrams checks the whole path from datagrams to a Result: a Decoder must not
// panic, must count every datagram, must not report StatusOK without an answer, and
// must not list players or rules that were not answered.
func FuzzDatagrams(f *testing.F) {
	s := newServer()
	f.Add(append(append([]byte{byte(len(s.info))}, s.info...), s.players...))
	f.Add([]byte{9, 0xFE, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0x02, 5, 0xFF, 0xFF, 0xFF, 0xFF, 'X'})
	d := NewDecoder()
	f.Fuzz(func(t *testing.T, data []byte) {
		d.Reset()
		n := 0
		for len(data) > 0 {
			size := min(int(data[0]), len(data)-1)
			d.Add(data[1 : 1+size])
			data = data[1+size:]
			n++
		}
		r := d.Result()
		if int(r.Received) != n {
			t.Fatalf("%d datagrams, %d counted", n, r.Received)
		}
		if r.Status == StatusOK && !r.HasInfo && !r.HasPlayers && !r.HasRules {
			t.Fatalf("complete, but without any answer: %+v", r)
		}
		if len(r.Players) > 0 && !r.HasPlayers || len(r.Rules) > 0 && !r.HasRules {
			t.Fatalf("lists without an answer: %+v", r)
		}
	})
}
