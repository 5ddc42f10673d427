package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// claims are the statements of a record about a server.
type claims struct {
	Status       string            `json:"status"`
	Errors       map[string]string `json:"errors"`
	Notes        []string          `json:"notes"`
	Message      *string           `json:"message"`
	MessageHex   *string           `json:"message_hex"`
	Unchallenged []string          `json:"unchallenged"`

	Info map[string]any `json:"info"`

	Players          []any        `json:"players"`
	PlayersAnnounced *json.Number `json:"players_announced"`

	Rules          map[string]any `json:"rules"`
	RulesAnnounced *json.Number   `json:"rules_announced"`
	RulesRaw       []any          `json:"rules_raw"`
}

// dispute checks a record that differs from that of a perfect scan: is what it
// contains correct, and does it give a reason for what it lacks?
type dispute struct {
	j      *judge
	expect *fleet.Expect
}

// excuses are the errors that are accepted for any server, because datagrams may be
// lost.
var excuses = fleet.ErrorsOf(wire.ErrTimeout, wire.ErrIncomplete, wire.ErrUnreachable, wire.ErrSendFailed, wire.ErrExcluded)

// fault returns what is wrong with the record got, or "" if nothing is.
func (d *dispute) fault(got, want fields) (string, error) {
	var g, w claims
	if err := decode(got, &g); err != nil {
		return "not a record: " + err.Error(), nil
	}
	if err := decode(want, &w); err != nil {
		return "", err
	}
	for _, check := range []func(g, w *claims) string{
		d.errors, d.status, d.words, d.info, d.players, d.rules,
	} {
		if why := check(&g, &w); why != "" {
			return why, nil
		}
	}
	return "", nil
}

// decode decodes a record. An unknown key is an error, because it would be a claim
// that cannot be checked.
func decode(f fields, c *claims) error {
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	return dec.Decode(c)
}

// errors checks that each error is possible, and that no error is left out.
func (d *dispute) errors(g, w *claims) string {
	for q := range wire.Question(wire.NumQuestions) {
		word, failed := g.Errors[q.String()]
		truth := w.Errors[q.String()]
		switch {
		case failed && !d.j.asked.Has(q):
			return fmt.Sprintf("an error of %v, which was not asked", q)
		case failed && word != truth && !d.may(q, word):
			return fmt.Sprintf("%v failed by %q, which can't be", q, word)
		case !failed && truth != "" && d.j.asked.Has(q):
			return fmt.Sprintf("%v has no error, but should have %s", q, truth)
		}
	}
	return ""
}

// may reports whether q may have failed with the error that has this word.
func (d *dispute) may(q wire.Question, word string) bool {
	set := d.expect.Allowed[q] | excuses
	for e := range wire.Error(wire.NumErrors) {
		if set.Has(e) && e.String() == word {
			return true
		}
	}
	return false
}

func (d *dispute) status(g, w *claims) string {
	if ok := g.Status == scanner.StatusOK.String(); ok != (len(g.Errors) == 0) {
		return fmt.Sprintf("status %q with %d errors", g.Status, len(g.Errors))
	}
	return ""
}

// words checks the message, the unchallenged questions and the notes. The record
// must have none that the truth lacks and, if no question failed, all notes of the
// truth.
func (d *dispute) words(g, w *claims) string {
	switch {
	case !equal(g.Message, w.Message) || !equal(g.MessageHex, w.MessageHex):
		return "a message that was not sent"
	case !contains(w.Unchallenged, g.Unchallenged):
		return "answers called unchallenged that were not"
	case !contains(w.Notes, g.Notes):
		return "notes of what is not there"
	case len(g.Errors) == 0 && len(g.Notes) < len(w.Notes):
		return "notes are left out"
	}
	return ""
}

func (d *dispute) info(g, w *claims) string {
	_, failed := g.Errors["info"]
	switch {
	case equal(g.Info, w.Info), failed && subset(g.Info, w.Info):
		return ""
	case d.expect.Else != nil && equal(g.Info, without(w.Info, "address")):
		return "" // the 'm' was lost
	case d.expect.Else != nil && equal(g.Info, d.otherInfo()):
		return "" // the 'I' was lost
	}
	return "info is not what the server sends"
}

// otherInfo returns the info of a record for which only the 'm' arrived.
func (d *dispute) otherInfo() map[string]any {
	var c claims
	f, err := parse(record.Append(nil, "", &scanner.Result{HasInfo: true, Info: *d.expect.Else}))
	if err != nil || decode(f, &c) != nil {
		return nil
	}
	return c.Info
}

func (d *dispute) players(g, w *claims) string {
	_, failed := g.Errors["players"]
	switch {
	case !failed && (!equal(g.Players, w.Players) || !equal(g.PlayersAnnounced, w.PlayersAnnounced)):
		return "players are not what the server sends"
	case !prefix(g.Players, w.Players):
		return "players that are not there"
	case !announces(g.PlayersAnnounced, w.PlayersAnnounced, len(w.Players)):
		return "players_announced is not what the server sends"
	}
	return ""
}

func (d *dispute) rules(g, w *claims) string {
	_, failed := g.Errors["rules"]
	switch {
	case !failed && (!equal(g.Rules, w.Rules) || !equal(g.RulesRaw, w.RulesRaw) ||
		!equal(g.RulesAnnounced, w.RulesAnnounced)):
		return "rules are not what the server sends"
	case !subset(g.Rules, w.Rules) || !prefix(g.RulesRaw, w.RulesRaw):
		return "rules that are not there"
	case !announces(g.RulesAnnounced, w.RulesAnnounced, max(len(w.Rules), len(w.RulesRaw))):
		return "rules_announced is not what the server sends"
	}
	return ""
}

// announces reports whether a failed answer may have announced got: the count that
// the complete answer announces or, if want is nil, the length of its list. A
// failed answer need not have announced anything.
func announces(got, want *json.Number, length int) bool {
	if got == nil {
		return true
	}
	if want == nil {
		return got.String() == fmt.Sprint(length)
	}
	return *got == *want
}

// prefix reports whether list begins with p.
func prefix(p, list []any) bool {
	return len(p) <= len(list) && (len(p) == 0 || equal(p, list[:len(p)]))
}

// contains reports whether whole contains every element of part.
func contains(whole, part []string) bool {
	for _, s := range part {
		if !slices.Contains(whole, s) {
			return false
		}
	}
	return true
}

// equal reports whether two decoded JSON values are equal.
func equal[T any](a, b T) bool { return reflect.DeepEqual(a, b) }

// same reports whether two JSON values are equal, regardless of how they are
// formatted.
func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var v, w any
	return unmarshal(a, &v) == nil && unmarshal(b, &w) == nil && equal(v, w)
}

// unmarshal decodes JSON without converting numbers to floats.
func unmarshal(b []byte, v *any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return dec.Decode(v)
}
