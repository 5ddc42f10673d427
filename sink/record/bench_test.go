package record

import (
	"fmt"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

// appendWork returns the results for BenchmarkAppend and TestAppendAllocates, by
// name.
func appendWork() map[string]*scanner.Result {
	info, players, rules := typical(1), typical(1), typical(1)
	info.HasPlayers, info.HasRules = false, false
	players.HasInfo, players.HasRules = false, false
	rules.HasInfo, rules.HasPlayers = false, false
	whole, unseen := typical(1), *rules // rules that may have equal names
	whole.RulesDistinct, rules.RulesDistinct = true, true
	return map[string]*scanner.Result{
		"info": info, "players/12": players, "rules/24": rules, "rules/24/unseen": &unseen, "full": whole,
		"hostile": vicious(), "raw": full(), "no_reply": noReply(),
	}
}

// appender returns a function that appends the record of r to a reused buffer, and
// the length of that record.
func appender(r *scanner.Result) (body func(), size int) {
	e := new(Encoder)
	dst := e.Append(nil, "20261120T030000Z", r)
	return func() { dst = e.Append(dst[:0], "20261120T030000Z", r) }, len(dst)
}

func BenchmarkAppend(b *testing.B) {
	work := appendWork()
	for _, name := range []string{"info", "players/12", "rules/24", "rules/24/unseen", "full", "hostile", "raw", "no_reply"} {
		b.Run(name, func(b *testing.B) {
			body, size := appender(work[name])
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				body()
			}
		})
	}
}

func TestAppendAllocates(t *testing.T) {
	for name, r := range appendWork() {
		body, _ := appender(r)
		if n := testing.AllocsPerRun(100, body); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestAppendAllocatesHostile: an Encoder reuses its scratch memory for many rules.
func TestAppendAllocatesHostile(t *testing.T) {
	r := blank()
	r.HasRules = true
	for i := range 65535 {
		r.Rules = append(r.Rules, rulesOf(fmt.Sprint(i%60000), "\xff")...)
	}
	body, _ := appender(r)
	if n := testing.AllocsPerRun(3, body); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
