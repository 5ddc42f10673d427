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
