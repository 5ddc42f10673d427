package fleet

import (
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// Ordinary is a server of the kind Source without oddities, which demands a
// challenge for all three questions. It has no address.
type Ordinary struct {
	nature  nature
	content content
}

// NewOrdinary returns an Ordinary with the given numbers of players and rules. The
// seed determines its contents.
func NewOrdinary(seed uint64, players, rules int) *Ordinary {
	o := &Ordinary{nature: nature{
		hash: seed, kind: Source, challenged: scanner.AskAll, players: players, rules: rules,
	}}
	r := random.Stream(seed)
	o.nature.game = random.Pick(&r, gamesOf(Source))
	o.content.fill(&o.nature, scanner.AskAll)
	return o
}

// Append appends the reply to a question, including FF FF FF FF.
func (o *Ordinary) Append(dst []byte, q wire.Question) []byte { return o.content.appendMessage(dst, q) }

// Truth returns the result of a perfect scan that asks these questions. The result
// has no address.
func (o *Ordinary) Truth(asked scanner.Questions) *scanner.Result {
	return o.nature.expect(new(content), asked).Result
}

// Readable reports whether all strings that may have odd bytes are UTF-8.
func (o *Ordinary) Readable() bool {
	c := &o.content
	ok := utf8.Valid(c.info.Name)
	for i := range c.players {
		ok = ok && utf8.Valid(c.players[i].Name)
	}
	for i := range c.rules {
		ok = ok && utf8.Valid(c.rules[i].Name) && utf8.Valid(c.rules[i].Value)
	}
	return ok
}
