package transcript

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/wire"
)

// observed is what all datagrams together show.
type observed struct {
	strangers  []netip.AddrPort // addresses that sent something although they were not queried
	junk       [][]byte         // datagrams from the target that are not A2S
	speaks     bool             // the target sent A2S
	challenges int
	longest    int // bytes of the longest datagram from the target
	repeats    int // requests that were sent again with the same bytes
}

func (t *Transcript) observe() (o observed) {
	was := map[string]bool{}
	for i := range t.events {
		e := &t.events[i]
		if e.sent {
			if was[string(e.data)] {
				o.repeats++
			}
			was[string(e.data)] = true
			continue
		}
		if e.addr != t.target {
			if !slices.Contains(o.strangers, e.addr) {
				o.strangers = append(o.strangers, e.addr)
			}
			continue
		}
		o.longest = max(o.longest, len(e.data))
		if !wire.IsReply(e.data) {
			o.junk = append(o.junk, e.data)
			continue
		}
		o.speaks = true
		if _, err := wire.DecodeChallenge(e.data); err == nil && wire.IsSingle(e.data) {
			o.challenges++
		}
	}
	return o
}

// strangerList lists a few of the strangers.
func (o *observed) strangerList() string {
	var words []string
	for _, a := range o.strangers[:min(len(o.strangers), 3)] {
		words = append(words, a.String())
	}
	if len(o.strangers) > 3 {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// requestKinds maps each question to the kind of its requests.
var requestKinds = map[wire.Question]wire.Kind{
	wire.QuestionInfo: wire.KindInfoRequest, wire.QuestionPlayers: wire.KindPlayersRequest,
	wire.QuestionRules: wire.KindRulesRequest,
}

// borrowed reports whether all requests of a question carried a challenge. It was that
// of another question, because the server never had a request for a challenge of this
// one.
func (t *Transcript) borrowed(q wire.Question) bool {
	asked := false
	for i := range t.events {
		r, _, err := requestOf(t.events[i].data)
		if !t.events[i].sent || err != nil || r.Kind != requestKinds[q] {
			continue
		}
		if !r.HasChallenge {
			return false
		}
		asked = true
	}
	return asked
}

// layouts lists the layouts of all fragmented replies.
func (s *splits) layouts() string {
	var words []string
	for _, g := range s.replies {
		if w := g.form(); g.layout != wire.LayoutUnknown && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, "; ")
}
