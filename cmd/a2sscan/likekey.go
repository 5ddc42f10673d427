package main

import (
	"regexp"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// A key of the Web API is 32 hexadecimal digits. People type it where the name
// of a file or an address belongs, and paste URLs with "key=" in them: what may
// be a key is repeated to no screen, log or file.
var likeKey = regexp.MustCompile(`(?i)(\bkey=)[^&\s]*|\b[0-9a-f]{32}\b`)

// withoutKeys is s with [key] in the place of what may be one.
func withoutKeys(s string) string { return likeKey.ReplaceAllString(s, "${1}[key]") }

// bearsKey reports whether a part of s may be a key.
func bearsKey(s string) bool { return likeKey.MatchString(s) }

// besideKeys are the flags of which people think that they take the key.
var besideKeys = []string{"key-file", "master", "udp", "url"}

// noKeyIn is the error of a flag that names what may be a key.
func noKeyIn(flag string, texts []string) error {
	if !slices.Contains(besideKeys, flag) || !slices.ContainsFunc(texts, bearsKey) {
		return nil
	}
	return console.Fail(console.ExitUsage, "--%s: there is a key in it, or what looks like one, which is not shown", flag).
		WithHint("put the key into a file that --key-file names, or into the variable %s", keyVariable)
}
