package transcript

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/wire"
)

// This file derives facts about the server from all datagrams.

// replies yields the datagrams that came from the target.
func (t *Transcript) replies(yield func([]byte) bool) {
	for i := range t.events {
		if e := &t.events[i]; !e.sent && e.addr == t.target && !yield(e.data) {
			return
		}
	}
}

// strangers returns the addresses that sent something although they were not
// queried.
func (t *Transcript) strangers() (all []netip.AddrPort) {
	for i := range t.events {
		if e := &t.events[i]; !e.sent && e.addr != t.target && !slices.Contains(all, e.addr) {
			all = append(all, e.addr)
		}
	}
	return all
}

// strangerList lists a few of the strangers.
func (t *Transcript) strangerList() string {
	var words []string
	for _, a := range t.strangers() {
		if len(words) == 3 {
			words = append(words, "…")
			break
		}
		words = append(words, a.String())
	}
	return strings.Join(words, ", ")
}

// junk returns the datagrams from the target that are not A2S.
func (t *Transcript) junk() (all [][]byte) {
	for b := range t.replies {
		if !wire.IsReply(b) {
			all = append(all, b)
		}
	}
	return all
}

// speaksA2S reports whether the target sent any A2S datagram.
func (t *Transcript) speaksA2S() bool {
	for b := range t.replies {
		if wire.IsReply(b) {
			return true
		}
	}
	return false
}

// challenges counts the challenges.
func (t *Transcript) challenges() (n int) {
	for b := range t.replies {
		if _, err := wire.DecodeChallenge(b); err == nil && wire.IsSingle(b) {
			n++
		}
	}
	return n
}

// longest returns the length of the longest datagram from the target.
func (t *Transcript) longest() (n int) {
	for b := range t.replies {
		n = max(n, len(b))
	}
	return n
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

// repeats counts the requests that were sent again with the same bytes.
func (t *Transcript) repeats() (n int) {
	was := map[string]bool{}
	for i := range t.events {
		if e := &t.events[i]; e.sent {
			if was[string(e.data)] {
				n++
			}
			was[string(e.data)] = true
		}
	}
	return n
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
