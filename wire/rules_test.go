package wire_test

import (
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// rules returns a RULES reply.
func rules(announced byte, rest string) string {
	return single + "E" + string([]byte{announced, 0}) + rest
}

func TestRulesOutcome(t *testing.T) {
	const count, empty = wire.NoteRulesCount, wire.NoteRulesEmptyName
	for _, test := range []struct {
		name, msg string
		count     int
		err       error
		notes     wire.Notes
	}{
		{"only the type byte", single + "E", 0, wire.ErrEmpty, 0},
		{"EC-6 half a count", single + "E\x01", 0, wire.ErrTruncated, 0},
		{"another kind", single + "D\x00", 0, wire.ErrUnexpected, 0},
		{"no kind", single, 0, wire.ErrMalformed, 0},
		{"none", rules(0, ""), 0, nil, 0},
		{"one", rules(1, "a\x001\x00"), 1, nil, 0},
		{"EC-113 no header", "E\x01\x00a\x001\x00", 1, nil, 0},
		{"EC-114 two headers", single + rules(1, "a\x001\x00"), 1, nil, 0},
		{"EC-92 cut in a name",
			rules(2, "a\x001\x00sv_conta"), 1, wire.ErrTruncated, 0},
		{"EC-92 cut in a value",
			rules(2, "a\x001\x00b\x0012"), 1, wire.ErrTruncated, 0},
		{"EC-92 cut between",
			rules(2, "a\x001\x00b\x00"), 1, wire.ErrTruncated, 0},
		{"EC-92 cut at once", rules(2, "a"), 0, wire.ErrTruncated, 0},
		{"EC-93 EC-94 count too high", rules(93, "a\x001\x00"), 1, nil, count},
		{"EC-94 count too low", rules(1, "a\x001\x00b\x002\x00"), 2, nil, count},
		{"EC-94 count zero", rules(0, "a\x001\x00"), 1, nil, count},
		{"EC-94 all missing", rules(5, ""), 0, nil, count},
		{"EC-62 big-endian count", single + "E\x00\x01a\x001\x00", 1, nil, count},
		{"EC-96 no name", rules(1, "\x00value\x00"), 1, nil, empty},
		{"EC-96 no name, no value", rules(2, "\x00\x00a\x001\x00"), 2, nil, empty},
		{"EC-97 a name twice", rules(2, "a\x001\x00a\x002\x00"), 2, nil, 0},
		{"EC-101 binary", rules(1, "\x01\x07\x00\x01\x01\xFF\x80\x00"), 1, nil, 0},
		{"no value", rules(1, "sv_contact\x00\x00"), 1, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := readRules([]byte(test.msg))
			if len(got.all) != test.count || got.err != test.err || got.notes != test.notes {
				t.Errorf("%d rules, %v, %q, want %d, %v, %q", len(got.all), got.err,
					noteWords(got.notes), test.count, test.err, noteWords(test.notes))
			}
		})
	}
}

// TestRulesOrder checks that rules keep their order and their bytes (EC-97,
// EC-101).
func TestRulesOrder(t *testing.T) {
	want := []wire.Rule{
		{Name: []byte("b"), Value: []byte("1")},
		{Name: []byte("a"), Value: nil},
		{Name: []byte("b"), Value: []byte("\x01\x02\xFF\x1C")},
	}
	b := wire.AppendRules([]byte("x"), len(want), want)
	if got := string(b); got != "x"+rules(3, "b\x001\x00a\x00\x00b\x00\x01\x02\xFF\x1C\x00") {
		t.Errorf("encoded %q", got)
	}
	diffRules(t, readRules(b[1:]).all, want)
}

func TestRulesCursor(t *testing.T) {
	var rs wire.Rules
	if rs.Next() || rs.Err() != nil {
		t.Errorf("the zero cursor has a rule or the error %v", rs.Err())
	}
	msg := []byte(rules(3, "name\x00value\x00"))
	if err := rs.Reset(msg); err != nil {
		t.Fatal(err)
	}
	if rs.Count() != 0 || !rs.Next() || rs.Count() != 1 || rs.Announced() != 3 {
		t.Fatalf("%d of %d rules, %v", rs.Count(), rs.Announced(), rs.Err())
	}
	name, value := rs.Rule().Name, rs.Rule().Value
	if &name[0] != &msg[7] || &value[0] != &msg[12] || cap(name) != 4 || cap(value) != 5 {
		t.Error("name or value are copies, or have room for more")
	}
	for range 2 {
		if rs.Next() || rs.Err() != nil || rs.Notes() != wire.NoteRulesCount {
			t.Errorf("after the end: %v, %q", rs.Err(), noteWords(rs.Notes()))
		}
	}
	if err := rs.Reset([]byte(single + "E")); err != wire.ErrEmpty || rs.Next() || rs.Err() != err {
		t.Errorf("error %v, then %v", err, rs.Err())
	}
	if rs.Count() != 0 || rs.Notes() != 0 || rs.Announced() != 0 {
		t.Errorf("%d of %d, %q are left over", rs.Count(), rs.Announced(), noteWords(rs.Notes()))
	}
}

// TestRulesCut cuts a list at every byte: it is complete only if the cut falls
// between two rules.
func TestRulesCut(t *testing.T) {
	whole := rules(3, "a\x001\x00b\x002\x00c\x003\x00")
	head := len(rules(3, ""))
	for n := head; n <= len(whole); n++ {
		got := readRules([]byte(whole[:n]))
		if between := (n-head)%4 == 0; between != (got.err == nil) || len(got.all) != (n-head)/4 {
			t.Errorf("%d bytes: %d rules, %v", n, len(got.all), got.err)
		}
	}
}
