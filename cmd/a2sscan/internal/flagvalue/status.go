package flagvalue

import (
	"errors"
	"slices"
)

// StatusKind is the value of a flag for the kind of status lines. The zero value
// means text.
type StatusKind struct {
	word  string
	Given bool
}

var statusModes = []string{"text", "json", "none"}

// Set parses text, json or none.
func (m *StatusKind) Set(s string) error {
	if !slices.Contains(statusModes, s) {
		return errors.New("want text, json or none")
	}
	*m = StatusKind{s, true}
	return nil
}

func (m *StatusKind) String() string {
	if m.word == "" {
		return statusModes[0]
	}
	return m.word
}

func (m *StatusKind) Type() string { return "KIND" }
