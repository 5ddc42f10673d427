package scanner

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/wire"
)

// wakeAt sets the wake-up time of a slot.
func wakeAt(sl *slot, at time.Duration) {
	wait := at - sl.session.Clock.FirstAt
	sl.session.Start(&session.Plan{Questions: AskInfo}, false, false)
	sl.session.Sent(&session.Plan{Schedule: Schedule{Timeout: wait, Attempts: 1}}, at-wait, wait, wire.QuestionInfo)
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
		wakeAt(s.at(i), time.Duration(rng.Int64N(int64(9*time.Second))))
		w.file(s, i)
		due[i] = s.at(i).session.Clock.Wake()
	}
	for now := time.Duration(0); now < 20*time.Second; now += time.Duration(rng.Int64N(int64(20 * time.Millisecond))) {
		for range 5 {
			i := int32(rng.IntN(5000))
			if _, waits := due[i]; !waits {
				continue
			}
			switch rng.IntN(3) {
			case 0: // postponed: the wheel need not know
				wakeAt(s.at(i), s.at(i).session.Clock.Wake()+time.Second)
				due[i] = s.at(i).session.Clock.Wake()
			case 1: // brought forward
				wakeAt(s.at(i), max(now+1, s.at(i).session.Clock.Wake()-time.Second))
				w.file(s, i)
				due[i] = s.at(i).session.Clock.Wake()
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
		wakeAt(s.at(i), time.Duration(i)*5*time.Millisecond)
		w.file(s, i)
	}
	woken := 0
	w.advance(s, time.Hour, func(int32) { woken++ })
	if woken != 2000-1 { // slot 0 has no wake-up time
		t.Errorf("%d slots were woken", woken)
	}
}

// TestNameSet checks the search for names that occur twice.
func TestNameSet(t *testing.T) {
	var s nameSet
	for _, n := range []int{0, 1, 2, 32, 33, 300, 65535} {
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
