package wire

import (
	"encoding/binary"
	"slices"
)

// Rules reads the rules of a RULES reply one after the other, as Players reads
// players. It reads on to the end of the message whatever the count says
// (EC-94).
type Rules struct {
	rest      []byte // pairs not yet read
	rule      Rule
	announced int
	count     int
	notes     Notes
	err       Error
}

// Reset makes rs read msg, which must stay as it is as long as the rules are in
// use. The error, which Err returns too, is ErrEmpty where there is only the
// type byte, ErrTruncated where the count is not there whole, ErrUnexpected for
// another type byte, ErrMalformed for none.
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

// Next reads the next rule, and reports false at the end of the list or where
// something is wrong; Err tells which.
func (rs *Rules) Next() bool { return rs.read(&rs.rule) }

// AppendAll reads all rules that follow and appends them to dst; Err and Notes
// then tell what Next would have stopped at. It is quicker than Next; Rule knows
// nothing of it.
func (rs *Rules) AppendAll(dst []Rule) []Rule {
	for {
		n := len(dst)
		dst = slices.Grow(dst, 1)[:n+1]
		if !rs.read(&dst[n]) {
			return dst[:n]
		}
	}
}

// read reads the next rule into r.
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

// finish decides what the end of the list means.
func (rs *Rules) finish() {
	switch {
	case rs.err != 0:
	case len(rs.rest) > 0:
		rs.err = ErrTruncated
	case rs.count != rs.announced:
		rs.notes |= NoteRulesCount
	}
}

// Rule returns the rule that Next read; the next Next overwrites it.
func (rs *Rules) Rule() *Rule { return &rs.rule }

// Rest returns what follows the last rule that was read: after the end of a
// truncated list, the part of a rule that was there (EC-92). It aliases the
// message.
func (rs *Rules) Rest() []byte { return rs.rest[:len(rs.rest):len(rs.rest)] }

// Err returns what Reset returned, or ErrTruncated after the end of a list
// that ends inside a name or a value, or between them (EC-92). The rules read
// before are good.
func (rs *Rules) Err() error {
	if rs.err == 0 {
		return nil
	}
	return rs.err
}

// Announced returns the count of the reply, which is a hint (EC-94).
func (rs *Rules) Announced() int { return rs.announced }

// Count returns how many rules were read so far.
func (rs *Rules) Count() int { return rs.count }

// Notes returns the oddities, which are complete after the end of the list.
// NoteRulesCount is there only where Err is nil. Rules never notes
// NoteRulesDuplicate, which takes memory to see.
func (rs *Rules) Notes() Notes { return rs.notes }

// AppendRules appends a RULES reply with the count announced, modulo 65536,
// and the rules. Names and values are written as far as their first NUL.
func AppendRules(dst []byte, announced int, rules []Rule) []byte {
	dst = appendHeader(dst, KindRules)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(announced))
	for i := range rules {
		dst = appendText(dst, rules[i].Name)
		dst = appendText(dst, rules[i].Value)
	}
	return dst
}
