package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// derived holds the keys of a record that follow from the bytes of the answers, or
// from ip and port.
type derived struct {
	Addr   string            `json:"addr"`
	Status string            `json:"status"`
	Errors map[string]string `json:"errors"`
	Hashes map[string]string `json:"hashes"`
	Game   json.RawMessage   `json:"game"`
	Flags  []string          `json:"flags"`

	Info    json.RawMessage `json:"info"`
	Players json.RawMessage `json:"players"`
	Rules   json.RawMessage `json:"rules"`
}

// meaning compares the keys that a record derives from its answers with the model:
// addr and hashes of every server, game and flags of servers whose game the model
// knows. It returns what is wrong, or "" if nothing is.
func (j *judge) meaning(addr netip.AddrPort, line []byte, e *fleet.Expect) (string, error) {
	var got derived
	if err := json.Unmarshal(line, &got); err != nil {
		return "not a record: " + err.Error(), nil
	}
	if got.Addr != "" && got.Addr != addr.String() {
		return fmt.Sprintf("addr is %q", got.Addr), nil
	}
	if why := wrongHash(&got, e); why != "" {
		return why, nil
	}
	if !e.Meaning {
		return "", nil
	}
	return j.wrongMeaning(addr, &got)
}

// wrongHash returns what is wrong with the hashes in a record, or "" if nothing is.
// It skips INFO of a server that sends two answers to it: either may have arrived.
func wrongHash(got *derived, e *fleet.Expect) string {
	for q, want := range e.Result.Hashes {
		if e.Else != nil && wire.Question(q) == wire.QuestionInfo {
			continue
		}
		word := wire.Question(q).String()
		hash, there := got.Hashes[word]
		if there && want != 0 && hash != fmt.Sprintf("%016x", want) {
			return "hashes." + word + " is not that of the answer"
		}
	}
	return ""
}

// wrongMeaning compares game and flags with those of a scan that asked only the
// questions that have a complete answer in got. It returns what is wrong, or "" if
// nothing is.
func (j *judge) wrongMeaning(addr netip.AddrPort, got *derived) (string, error) {
	e := j.truth.Expect(addr, got.answered())
	if e.Result == nil {
		return "", nil
	}
	var want derived
	if err := json.Unmarshal(j.enc.Append(nil, "", e.Result), &want); err != nil {
		return "", err
	}
	switch {
	case !bytes.Equal(got.Game, want.Game):
		return fmt.Sprintf("game is %s, truth %s", short(got.Game, want.Game), short(want.Game, got.Game)), nil
	case !slices.Equal(lasting(got.Flags), lasting(want.Flags)):
		return fmt.Sprintf("flags are %q, truth %q", got.Flags, want.Flags), nil
	}
	return "", nil
}

// answered returns the questions that have a complete answer.
func (d *derived) answered() (qs scanner.Questions) {
	for q, value := range [wire.NumQuestions]json.RawMessage{d.Info, d.Players, d.Rules} {
		if _, failed := d.Errors[wire.Question(q).String()]; value != nil && !failed {
			qs |= 1 << q
		}
	}
	return qs
}

// lasting returns the words of flags except those that a scan sets because of what
// it measures.
func lasting(words []string) (all []string) {
	for i := range game.NumFlags {
		if fleet.TimingFlags&(1<<i) == 0 && slices.Contains(words, game.FlagWord(i)) {
			all = append(all, game.FlagWord(i))
		}
	}
	return all
}
