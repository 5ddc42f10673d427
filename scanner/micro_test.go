package scanner

import (
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
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
	p := session.Plan{Questions: AskAll, Schedule: Schedule{Timeout: time.Second, Attempts: 3}}
	m := session.NewMemory(1 << 20)
	n := newFlatNet(24, wire.LayoutUnknown)
	messages := [][]byte{wire.AppendChallenge(nil, 77), n.info, n.players, n.rules[0]}
	var s session.Session
	return micro{"step/challenged", len(n.info) + len(n.players) + len(n.rules[0]), func() {
		const now = time.Millisecond
		s.Start(&p, false, false)
		s.Advance(&p, now)
		s.Sent(&p, now, time.Second, wire.QuestionInfo)
		s.Hear(&p, m.Answer(), now, wire.NoChallenge)
		for _, msg := range messages {
			s.Message(m, now, msg)
			s.Advance(&p, now)
			for q := range session.Each(s.Due()) {
				s.Sent(&p, now, time.Second, q)
			}
		}
		if !s.Done() {
			panic("all was answered")
		}
		m.Recycle(s.Got)
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
