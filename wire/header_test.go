package wire_test

import (
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

const (
	single = "\xFF\xFF\xFF\xFF"
	split  = "\xFE\xFF\xFF\xFF"
)

func TestBody(t *testing.T) {
	for _, test := range []struct {
		name, msg, body string
		kind            wire.Kind
		notes           wire.Notes
	}{
		{"usual", single + "E\x00\x00", "E\x00\x00", wire.KindRules, 0},
		{"EC-113 none", "E\x00\x00", "E\x00\x00", wire.KindRules, wire.NoteHeaderMissing},
		{"EC-114 two", single + single + "E", "E", wire.KindRules, wire.NoteHeaderTwice},
		{"a third is no header",
			single + single + single, single, 0xFF, wire.NoteHeaderTwice},
		{"only a header", single, "", 0, 0},
		{"half a header", "\xFF\xFF", "\xFF\xFF", 0xFF, wire.NoteHeaderMissing},
		{"EC-56 nothing", "", "", 0, wire.NoteHeaderMissing},
		{"EC-55 zeros", "\x00\x00\x00\x00", "\x00\x00\x00\x00", 0, wire.NoteHeaderMissing},
	} {
		t.Run(test.name, func(t *testing.T) {
			msg := []byte(test.msg)
			if got := string(wire.Body(msg)); got != test.body {
				t.Errorf("body %q, want %q", got, test.body)
			}
			if got := wire.KindOf(msg); got != test.kind {
				t.Errorf("kind %q, want %q", got, test.kind)
			}
			if got := wire.HeaderNotes(msg); got != test.notes {
				t.Errorf("notes %q, want %q", noteWords(got), noteWords(test.notes))
			}
		})
	}
}

// TestNoRoom checks that appending to a decoded slice never overwrites the bytes
// that follow it in the caller's buffer.
func TestNoRoom(t *testing.T) {
	buffer := func(s string) []byte {
		return append([]byte(s), "what was there before"...)[:len(s)]
	}
	var f wire.Fragment
	fragment := buffer(split + "\x07\x00\x00\x00\x12abc")
	check(t, f.Decode(fragment, wire.LayoutGoldSource, false))
	ping, err := wire.DecodeText(buffer(single + "jabc"))
	check(t, err)
	text, err := wire.DecodeText(buffer(single + "labc\x00"))
	check(t, err)
	for name, b := range map[string][]byte{
		"payload": f.Payload, "ping": ping, "text": text,
	} {
		if string(b) != "abc" || cap(b) != len(b) {
			t.Errorf("%s: %q with room for %d", name, b, cap(b)-len(b))
		}
	}
}

func TestDirection(t *testing.T) {
	tests := []struct {
		datagram       string
		request, reply bool
	}{
		{"\xff\xff\xff\xffTSource Engine Query\x00", true, false},
		{"\xff\xff\xff\xffU\xff\xff\xff\xff", true, false},
		{"\xff\xff\xff\xffD\x00", false, true},
		{"\xff\xff\xff\xffl", false, true},
		{"\xff\xff\xff\xff9ConnectRedirectAddress:192.0.2.1:27015\x00", false, true},
		{"\xff\xff\xff\xff9abc", false, false},
		{"\xfe\xff\xff\xff\x01", false, true},
		{"\xff\xff\xff\xffZ", false, false},
		{"\xff\xff\xff\xff", false, false},
		{"\xfe\xff\xff", false, false},
		{"\xff\xff\xff\xfe", false, false},
		{"\x01\x00\x00\x00D", false, false},
		{"", false, false},
	}
	for _, test := range tests {
		b := []byte(test.datagram)
		if wire.IsRequest(b) != test.request || wire.IsReply(b) != test.reply {
			t.Errorf("%q: request %v, reply %v", b, wire.IsRequest(b), wire.IsReply(b))
		}
	}
}

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
