package master

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Key is a Steam Web API key. It is never shown: a Key that is formatted or logged
// becomes "[key]".
type Key struct{ secret string }

// maxKey is the maximum length of a key in bytes; Steam's keys have 32.
const maxKey = 256

// ParseKey reads a key from the contents of a file or an environment variable. It
// ignores white space around the key. Its errors never quote the key.
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

// IsZero reports whether the key is empty.
func (k Key) IsZero() bool { return k.secret == "" }

// String returns "[key]".
func (Key) String() string { return hidden }

// GoString returns "[key]".
func (Key) GoString() string { return hidden }

// Format prints "[key]" for every verb.
func (Key) Format(f fmt.State, _ rune) { f.Write([]byte(hidden)) }

// LogValue returns "[key]".
func (Key) LogValue() slog.Value { return slog.StringValue(hidden) }

// hide replaces the key with "[key]" in a text from another package.
func (k Key) hide(text string) string {
	if k.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, k.secret, hidden)
}
