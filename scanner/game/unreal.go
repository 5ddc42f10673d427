package game

import "bytes"

// unrealTag returns the value of a tag of the Unreal engine's online subsystem. The
// keywords are "NAME:value,NAME:value"; name includes the colon. Values may contain
// commas, so a comma ends a value only if beginsTag accepts what follows.
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

// beginsTag reports whether b begins with the name of a tag (capital letters,
// digits and underscores) and a colon.
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
