package wire

import (
	"encoding/binary"
	"slices"
)

// Rules reads the rules of a RULES reply one after the other, as Players reads
// players. It reads to the end of the message regardless of the count (EC-94).
type Rules struct {
	list
	rule Rule
}

// Reset makes rs read msg, which must not change while the rules are in use. It returns
// ErrEmpty if msg ends after the type byte, ErrTruncated if it ends inside the count,
// ErrUnexpected if the type byte is not KindRules, and ErrMalformed if msg has no type
// byte. Err returns the same error.
func (rs *Rules) Reset(msg []byte) error {
	*rs = Rules{}
	b, err := fields(msg, KindRules)
	if err == 0 && len(b) < 2 {
		err = ErrTruncated
		if len(b) == 0 {
			err = ErrEmpty
		}
	}
	if err != 0 {
		rs.err = err
		return err
	}
	rs.announced = int(binary.LittleEndian.Uint16(b))
	rs.rest = b[2:]
	return nil
}

// Next reads the next rule. It returns false at the end of the list and on an error, which
// Err returns.
func (rs *Rules) Next() bool { return rs.read(&rs.rule) }

// AppendAll reads all remaining rules and appends them to dst. Err and Notes then
// return the same as after a loop over Next. AppendAll is faster than such a loop and
// does not change what Rule returns.
func (rs *Rules) AppendAll(dst []Rule) []Rule {
	for {
		n := len(dst)
		dst = slices.Grow(dst, 1)[:n+1]
		if !rs.read(&dst[n]) {
			return dst[:n]
		}
	}
}

// read reads the next rule into r. If there is no complete rule, it calls rs.finish
// and returns false.
func (rs *Rules) read(r *Rule) bool {
	b := rs.rest
	i, j := indexTwoNULs(b)
	if j < 0 {
		rs.finish()
		return false
	}
	r.Name = b[:i:i]
	r.Value = b[i+1 : j : j]
	rs.rest = b[j+1:]
	rs.count++
	if i == 0 {
		rs.notes |= NoteRulesEmptyName
	}
	return true
}

func (rs *Rules) finish() {
	switch {
	case rs.err != 0:
	case len(rs.rest) > 0:
		rs.err = ErrTruncated
	case rs.count != rs.announced:
		rs.notes |= NoteRulesCount
	}
}

// Rule returns the rule that Next read. The next call of Next overwrites it.
func (rs *Rules) Rule() *Rule { return &rs.rule }

// AppendRules appends a RULES reply. Its second argument, announced, is the value of the
// count field, modulo 65536. Names and values end at their first NUL.
func AppendRules(dst []byte, announced int, rules []Rule) []byte {
	dst = appendHeader(dst, KindRules)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(announced))
	for i := range rules {
		dst = appendText(dst, rules[i].Name)
		dst = appendText(dst, rules[i].Value)
	}
	return dst
}
