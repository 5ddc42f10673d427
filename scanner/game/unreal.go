package game

import "bytes"

// unrealTag returns the value of a tag of the Unreal engine's online subsystem:
// NAME:value, and a comma before the next NAME. Values may hold commas, so the
// next tag is where capital letters, digits or underscores end with a colon.
func unrealTag(keywords []byte, name string) ([]byte, bool) {
	at := bytes.Index(keywords, []byte(name))
	if at < 0 || at > 0 && keywords[at-1] != ',' {
		return nil, false
	}
	v := keywords[at+len(name):]
	for i := range v {
		if v[i] == ',' && beginsTag(v[i+1:]) {
			return v[:i:i], true
		}
	}
	return v, true
}

// beginsTag reports whether b begins with the name of a tag and its colon.
func beginsTag(b []byte) bool {
	for i, c := range b {
		switch {
		case c == ':':
			return i > 0
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
		default:
			return false
		}
	}
	return false
}
