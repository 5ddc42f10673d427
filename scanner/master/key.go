package master

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Key is a Steam Web API key. It shows itself to nobody: whatever prints it,
// prints "[key]".
type Key struct{ secret string }

// maxKey bounds what is taken for a key; Steam's have 32 characters.
const maxKey = 256

// ParseKey reads a key, as from a file or an environment variable: white space
// around it is left out. Its errors never quote it.
func ParseKey(text []byte) (Key, error) {
	s := strings.TrimSpace(string(text))
	switch {
	case s == "":
		return Key{}, errors.New("the key is empty")
	case len(s) > maxKey:
		return Key{}, fmt.Errorf("the key is longer than %d characters; is it another file?", maxKey)
	case strings.ContainsFunc(s, func(r rune) bool { return !isKeyRune(r) }):
		return Key{}, errors.New("the key is not letters and digits alone; is it another file?")
	}
	return Key{s}, nil
}

func isKeyRune(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' ||
		r == '-' || r == '_'
}

const hidden = "[key]"

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k.secret == "" }

// String returns "[key]".
func (Key) String() string { return hidden }

// GoString returns "[key]".
func (Key) GoString() string { return hidden }

// Format prints "[key]" for every verb.
func (Key) Format(f fmt.State, _ rune) { f.Write([]byte(hidden)) }

// LogValue returns "[key]".
func (Key) LogValue() slog.Value { return slog.StringValue(hidden) }

// hide removes the key from a text that others have made.
func (k Key) hide(text string) string {
	if k.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, k.secret, hidden)
}
