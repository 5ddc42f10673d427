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
	case !d.infoFits():
		return "info is not what the server sends"
	}
	if why := d.players(); why != "" {
		return why
	}
	return d.rules()
}

// infoFits reports whether the record has the INFO that the server sends. A failed
// answer may lack fields.
func (d *dispute) infoFits() bool {
	g, w := d.got, d.want
	if g.Err[wire.QuestionInfo] != 0 && !g.HasInfo {
		return true
	}
	same := func(info wire.Info) bool {
		a := d.append(&scanner.Result{HasInfo: g.HasInfo, Info: g.Info})
		return bytes.Equal(a, d.append(&scanner.Result{HasInfo: w.HasInfo, Info: info}))
	}
	part, gold := w.Info, w.Info
	part.Has &= g.Info.Has
	gold.Has &^= wire.HasAddress
	switch {
	case same(w.Info), g.Err[wire.QuestionInfo] != 0 && same(part):
		return true
	case d.expect.Else == nil:
		return false
	}
	return same(gold) || same(*d.expect.Else) // the 'm' was lost, or the 'I'
}

func (d *dispute) players() string {
	g, w := d.got, d.want
	same := func(n, announced int) bool {
		a := d.append(&scanner.Result{HasPlayers: g.HasPlayers, Players: g.Players, PlayersAnnounced: g.PlayersAnnounced, RulesAnnounced: -1})
		b := &scanner.Result{HasPlayers: g.HasPlayers, Players: w.Players[:n], PlayersAnnounced: announced, RulesAnnounced: -1}
		return bytes.Equal(a, d.append(b))
	}
	switch failed := g.Err[wire.QuestionPlayers] != 0; {
	case !failed && (g.HasPlayers != w.HasPlayers || len(g.Players) != len(w.Players) || !same(len(w.Players), w.PlayersAnnounced)):
		return "players are not what the server sends"
	case len(g.Players) > len(w.Players) || !same(len(g.Players), g.PlayersAnnounced):
		return "players that are not there"
	case failed && !announces(g.PlayersAnnounced, w.PlayersAnnounced, len(w.Players)):
		return "players_announced is not what the server sends"
	}
	return ""
}

func (d *dispute) rules() string {
	g, w := d.got, d.want
	same := func(n int) bool {
		for i, rule := range g.Rules[:n] {
			if !bytes.Equal(rule.Name, w.Rules[i].Name) || !bytes.Equal(rule.Value, w.Rules[i].Value) {
				return false
			}
		}
		return true
	}
	switch failed := g.Err[wire.QuestionRules] != 0; {
	case !failed && (g.HasRules != w.HasRules || len(g.Rules) != len(w.Rules) || !same(len(w.Rules)) ||
		g.RulesAnnounced != w.RulesAnnounced):
		return "rules are not what the server sends"
	case len(g.Rules) > len(w.Rules) || !same(len(g.Rules)):
		return "rules that are not there"
	case failed && !announces(g.RulesAnnounced, w.RulesAnnounced, len(w.Rules)):
		return "rules_announced is not what the server sends"
	}
	return ""
}

// announces reports whether a failed answer may have announced got: the count that
// the complete answer announces or, if want is -1, the length of its list. A failed
// answer need not have announced anything.
func announces(got, want, length int) bool {
	if want < 0 {
		want = length
	}
	return got < 0 || got == want
}
