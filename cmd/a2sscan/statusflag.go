package main

import (
	"errors"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
)

// statusMode is a flag's kind of status lines. The zero value is text.
type statusMode struct {
	word string
	said bool
}

var statusModes = []string{"text", "json", "none"}

// Set reads text, json or none.
func (m *statusMode) Set(s string) error {
	if !slices.Contains(statusModes, s) {
		return errors.New("want text, json or none")
	}
	*m = statusMode{s, true}
	return nil
}

func (m *statusMode) String() string {
	if m.word == "" {
		return statusModes[0]
	}
	return m.word
}

// Type is the word that stands for the value in the help.
func (m *statusMode) Type() string { return "KIND" }

// statusKind is how status lines are shown: --quiet means none, unless
// --status says otherwise.
func (f *scanFlags) statusKind() progress.Kind {
	if f.quiet && !f.status.said {
		return progress.None
	}
	return progress.Kind(f.status.String())
}
