package main

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/wire"
)

// This file is what a transcript tells about the server as a whole.

// replies yields what came from the target.
func (t *transcript) replies(yield func([]byte) bool) {
	for i := range t.events {
		if e := &t.events[i]; !e.sent && e.addr == t.target && !yield(e.data) {
			return
		}
	}
}

// strangers are the addresses that something came from without being asked.
func (t *transcript) strangers() (all []netip.AddrPort) {
	for i := range t.events {
		if e := &t.events[i]; !e.sent && e.addr != t.target && !slices.Contains(all, e.addr) {
			all = append(all, e.addr)
		}
	}
	return all
}

// strangerList names a few of the strangers.
func (t *transcript) strangerList() string {
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

// junk are the datagrams that are neither message nor fragment nor of a kind
// that A2S has.
func (t *transcript) junk() (all [][]byte) {
	for b := range t.replies {
		if !wire.IsReply(b) {
			all = append(all, b)
		}
	}
	return all
}

// speaksA2S reports whether anything of A2S came.
func (t *transcript) speaksA2S() bool {
	for b := range t.replies {
		if wire.IsReply(b) {
			return true
		}
	}
	return false
}

// challenges is how many challenges came.
func (t *transcript) challenges() (n int) {
	for b := range t.replies {
		if _, err := wire.DecodeChallenge(b); err == nil && wire.IsSingle(b) {
			n++
		}
	}
	return n
}

// longest is the length of the longest datagram that came.
func (t *transcript) longest() (n int) {
	for b := range t.replies {
		n = max(n, len(b))
	}
	return n
}

// repeats is how many requests were sent more than once with the same bytes.
func (t *transcript) repeats() (n int) {
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

// layouts are the layouts of the fragments that came.
func (s *splits) layouts() string {
	var words []string
	for _, g := range s.replies {
		if w := g.form(); g.layout != wire.LayoutUnknown && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, "; ")
}
