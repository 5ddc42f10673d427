// This file keeps keys of the Steam Web API out of messages and files. A key is 32
// hexadecimal digits. Users type keys where a file name or an address belongs, and paste
// URLs that contain "key=".

package console

import "regexp"

var webKey = regexp.MustCompile(`(?i)(\bkey=)[^&\s]*|\b[0-9a-f]{32}\b`)

// WithoutKeys returns s with everything that looks like a key replaced by [key].
func WithoutKeys(s string) string { return webKey.ReplaceAllString(s, "${1}[key]") }

// LooksLikeKey reports whether a part of s looks like a key.
func LooksLikeKey(s string) bool { return webKey.MatchString(s) }
