package scanner

import (
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// micro is a small piece of the loop's work: benchmarks time it, and a test checks
// that it allocates nothing.
type micro struct {
	name string
	size int // bytes that it reads
	run  func()
}

// micros returns the benchmarks of the session step and the assembler.
func micros() []micro {
	return []micro{stepMicro(), assembleMicro(), gameMicro()}
}

// stepMicro returns a benchmark of the usual session: a challenge and three replies.
func stepMicro() micro {
	p := plan{questions: AskAll, schedule: Schedule{Timeout: time.Second, Retries: 2}}
	var t session
	var a answer
	return micro{"step/challenged", 4, func() {
		now := time.Millisecond
		t, a = session{}, answer{}
		p.start(&t, nil)
		p.advance(&t, now)
		p.sent(&t, now, time.Second, AskInfo)
		t.begin(&a, wire.NoChallenge)
		t.onChallenge(0, 77)
		p.advance(&t, now)
		p.sent(&t, now, time.Second, AskAll)
		for q := range wire.Question(wire.NumQuestions) {
			t.onReply(now, q, 0)
			p.advance(&t, now)
		}
		if t.flags&flagDone == 0 {
			panic("all was answered")
		}
	}}
}

// fromMessages makes Results from complete messages, with the assembler of a scan.
type fromMessages struct {
	asm assembler
	r   Result
}

func (a *fromMessages) result(info, players, rules []byte) *Result {
	a.r = Result{Asked: AskAll, Received: 3}
	m := replies{info: info, decoded: &a.r.Info, players: players, rules: rules}
	m.infoErr, _ = a.r.Info.Decode(info).(wire.Error)
	a.asm.assemble(&a.r, &m)
	return &a.r
}

// assembleMicro returns a benchmark that makes a Result from three messages.
func assembleMicro() micro {
	n := newFlatNet(24, wire.LayoutUnknown)
	var a fromMessages
	return micro{"assemble", len(n.info) + len(n.players) + len(n.rules[0]), func() {
		if r := a.result(n.info, n.players, n.rules[0]); r.Status != StatusOK || !r.RulesDistinct {
			panic("all was answered")
		}
	}}
}

// gameMicro returns the same benchmark for a server whose keywords contain more than
// its INFO.
func gameMicro() micro {
	n := newFlatNet(24, wire.LayoutUnknown)
	info := rustServer().info
	var a fromMessages
	return micro{"assemble/rust", len(info) + len(n.players) + len(n.rules[0]), func() {
		if r := a.result(info, n.players, n.rules[0]); r.Game == nil || r.Game.Players != 547 {
			panic("the keywords were not read")
		}
	}}
}

func BenchmarkMicro(b *testing.B) {
	for _, m := range micros() {
		b.Run(m.name, func(b *testing.B) {
			b.SetBytes(int64(m.size))
			b.ReportAllocs()
			for b.Loop() {
				m.run()
			}
		})
	}
}

func TestMicroAllocates(t *testing.T) {
	for _, m := range micros() {
		if n := testing.AllocsPerRun(1000, m.run); n != 0 {
			t.Errorf("%s: %v allocations", m.name, n)
		}
	}
}
