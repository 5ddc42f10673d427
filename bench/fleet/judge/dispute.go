package judge

import (
	"bytes"
	"fmt"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// dispute checks a record that differs from that of a perfect scan: is what it
// contains correct, and does it give a reason for what it lacks?
type dispute struct {
	*judge
	expect    *fleet.Expect
	got, want *scanner.Result
}

// excuses are the errors that are accepted for any server, because datagrams may be
// lost.
var excuses = fleet.ErrorsOf(wire.ErrTimeout, wire.ErrIncomplete, wire.ErrUnreachable, wire.ErrSendFailed, wire.ErrExcluded)

// fault returns what is wrong with the record, or "" if nothing is.
func (d *dispute) fault() string {
	g, w := d.got, d.want
	failed := false
	for q := range wire.Question(wire.NumQuestions) {
		e := g.Err[q]
		failed = failed || e != 0
		switch {
		case e != 0 && !d.asked.Has(q):
			return fmt.Sprintf("an error of %v, which was not asked", q)
		case e != 0 && e != w.Err[q] && !(d.expect.Allowed[q] | excuses).Has(e):
			return fmt.Sprintf("%v failed by %q, which can't be", q, e)
		case e == 0 && w.Err[q] != 0 && d.asked.Has(q):
			return fmt.Sprintf("%v has no error, but should have %v", q, w.Err[q])
		}
	}
	// The record must have no note that the truth lacks and, if no question failed,
	// all notes of the truth.
	switch {
	case (g.Status == scanner.StatusOK) == failed:
		return fmt.Sprintf("status %v, but an error is %v", g.Status, failed)
	case !bytes.Equal(g.Message, w.Message):
		return "a message that was not sent"
	case g.HasPing:
		return "a ping that was not asked"
	case g.Unchallenged&^w.Unchallenged != 0:
		return "answers called unchallenged that were not"
	case g.Notes&^w.Notes != 0:
		return "notes of what is not there"
	case !failed && g.Notes != w.Notes:
		return "notes are left out"
	}
	for q := range wire.Question(wire.NumQuestions) {
		if !d.fits(q) {
			return fmt.Sprintf("%v: not what the server sends", q)
		}
	}
	return ""
}

// fits reports whether the answer to q in the record is what the server sends. An answer
// that failed may be a part of that, and need not have announced anything.
func (d *dispute) fits(q wire.Question) bool {
	g, w := part(d.got, q), part(d.want, q)
	if d.got.Err[q] != 0 {
		w.HasInfo, w.HasPlayers, w.HasRules = g.HasInfo, g.HasPlayers, g.HasRules
		w.Info.Has &= g.Info.Has
		if g.PlayersAnnounced < 0 || w.PlayersAnnounced < 0 && g.PlayersAnnounced == len(w.Players) {
			w.PlayersAnnounced = g.PlayersAnnounced
		}
		if g.RulesAnnounced < 0 || w.RulesAnnounced < 0 && g.RulesAnnounced == len(w.Rules) {
			w.RulesAnnounced = g.RulesAnnounced
		}
		w.Players = w.Players[:min(len(g.Players), len(w.Players))]
		w.Rules = w.Rules[:min(len(g.Rules), len(w.Rules))]
	}
	record := d.append(&g)
	if bytes.Equal(record, d.append(&w)) {
		return true
	}
	if q != wire.QuestionInfo || d.expect.Else == nil {
		return false
	}
	w.Info.Has &^= wire.HasAddress // the 'm' was lost
	m := w
	m.Info = *d.expect.Else // or the 'I'
	return bytes.Equal(record, d.append(&w)) || bytes.Equal(record, d.append(&m))
}

// part returns a Result with the answer to q in r, and nothing else.
func part(r *scanner.Result, q wire.Question) scanner.Result {
	p := scanner.Result{PlayersAnnounced: -1, RulesAnnounced: -1}
	switch q {
	case wire.QuestionInfo:
		p.HasInfo, p.Info = r.HasInfo, r.Info
	case wire.QuestionPlayers:
		p.HasPlayers, p.Players, p.PlayersAnnounced = r.HasPlayers, r.Players, r.PlayersAnnounced
	case wire.QuestionRules:
		p.HasRules, p.Rules, p.RulesAnnounced = r.HasRules, r.Rules, r.RulesAnnounced
	}
	return p
}
