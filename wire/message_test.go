package wire_test

import (
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// TestWordsOfRecords pins the words of a record's errors and notes, which must not
// change.
func TestWordsOfRecords(t *testing.T) {
	var errors, notes []string
	for e := range wire.Error(wire.NumErrors + 1) {
		errors = append(errors, e.String())
	}
	for i := range wire.NumNotes {
		notes = append(notes, wire.NoteWord(i))
	}
	const wantErrors = " timeout incomplete truncated malformed bad_checksum too_large challenge_loop rate_limited banned " +
		"unreachable send_failed unexpected empty excluded internal unknown"
	const wantNotes = "info.trailing info.odd_boolean info.no_mod_block players.count players.non_finite players.trailing " +
		"rules.count rules.duplicate rules.empty_name header.missing header.twice info.short_app_id"
	if got := strings.Join(errors, " "); got != wantErrors {
		t.Errorf("errors %q", got)
	}
	if got := strings.Join(notes, " "); got != wantNotes {
		t.Errorf("notes %q", got)
	}
}
