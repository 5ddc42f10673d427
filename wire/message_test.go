package wire_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// TestErrorWords pins the words of a record's errors, which must not change.
func TestErrorWords(t *testing.T) {
	want := map[wire.Error]string{
		0:                     "",
		wire.ErrTimeout:       "timeout",
		wire.ErrIncomplete:    "incomplete",
		wire.ErrTruncated:     "truncated",
		wire.ErrMalformed:     "malformed",
		wire.ErrChecksum:      "bad_checksum",
		wire.ErrTooLarge:      "too_large",
		wire.ErrChallengeLoop: "challenge_loop",
		wire.ErrRateLimited:   "rate_limited",
		wire.ErrBanned:        "banned",
		wire.ErrUnreachable:   "unreachable",
		wire.ErrSendFailed:    "send_failed",
		wire.ErrExcluded:      "excluded",
		wire.ErrUnexpected:    "unexpected",
		wire.ErrEmpty:         "empty",
		wire.NumErrors:        "unknown",
	}
	if len(want) != wire.NumErrors+1 {
		t.Errorf("the test has %d words, there are %d", len(want)-1, wire.NumErrors)
	}
	for e, word := range want {
		if e.String() != word || e.Error() != "a2s: "+word {
			t.Errorf("%d: %q, %q, want %q", uint8(e), e.String(), e.Error(), word)
		}
	}
	if err := fmt.Errorf("players: %w", wire.ErrEmpty); !errors.Is(err, wire.ErrEmpty) {
		t.Error("a wrapped code is not found again")
	}
}

// TestNoteWords pins the words of a record's notes, which must not change.
func TestNoteWords(t *testing.T) {
	want := map[wire.Notes]string{
		wire.NoteInfoTrailing:     "info.trailing",
		wire.NoteInfoOddBoolean:   "info.odd_boolean",
		wire.NoteInfoNoModBlock:   "info.no_mod_block",
		wire.NotePlayersCount:     "players.count",
		wire.NotePlayersNonFinite: "players.non_finite",
		wire.NotePlayersTrailing:  "players.trailing",
		wire.NoteRulesCount:       "rules.count",
		wire.NoteRulesDuplicate:   "rules.duplicate",
		wire.NoteRulesEmptyName:   "rules.empty_name",
		wire.NoteHeaderMissing:    "header.missing",
		wire.NoteHeaderTwice:      "header.twice",
		wire.NoteInfoShortAppID:   "info.short_app_id",
		wire.NoteInfoConflict:     "info.conflict",
	}
	if len(want) != wire.NumNotes {
		t.Errorf("the test has %d words, there are %d", len(want), wire.NumNotes)
	}
	for note, word := range want {
		if got := noteWords(note); len(got) != 1 || got[0] != word {
			t.Errorf("%b: %q, want %q", note, got, word)
		}
	}
}
