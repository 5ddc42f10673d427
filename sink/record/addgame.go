package record

import (
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
)

// AddGame appends the record in line to dst. If the record has neither game nor
// flags, AddGame inserts what i derives from the answers; all other bytes stay the
// same. A record without info, players and message, or one that would become longer
// than MaxSize, is appended unchanged. If line is not a record, AddGame returns dst
// and an error.
func AddGame(dst, line []byte, i *scanner.Interpreter) ([]byte, error) {
	rec, err := NewReader().Read(line)
	if err != nil {
		return dst, err
	}
	if rec.Has("game") || rec.Has("flags") || !rec.Has("info") && !rec.Has("players") && !rec.Has("message") {
		return append(dst, line...), nil
	}
	r := &rec.Result
	i.Interpret(r)
	at := endOfAnswers(line)
	start := len(dst)
	dst = append(dst, line[:at]...)
	dst = appendMeaning(append(dst, ','), r)
	dst = append(dst[:len(dst)-1], line[at:]...)
	if len(dst)-start >= MaxSize {
		dst = append(dst[:start], line...)
	}
	return dst, nil
}

// appendMeaning appends game and flags, which are next to each other in a record.
func appendMeaning(dst []byte, r *scanner.Result) []byte {
	if r.Game != nil {
		dst = appendGame(dst, r.Game)
	}
	return appendFlags(dst, r.Flags)
}

// endOfAnswers returns the index at which game and flags belong in a record: after
// the last key before raw, geo, master and origins.
func endOfAnswers(line []byte) (at int) {
	eachMember(line, func(m member) bool {
		switch strings.Trim(string(m.key), `"`) {
		case "raw", "geo", "master", "origins":
			return false
		}
		at = m.end
		return true
	})
	return at
}
