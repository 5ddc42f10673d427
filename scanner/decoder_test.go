package scanner

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/captures"
	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// TestCaptures decodes the replies of every recorded server. The Result must have what
// packages wire and game read in the messages, which their own tests compare with what
// another program read there.
func TestCaptures(t *testing.T) {
	files := captures.Files(t)
	d := NewDecoder()
	for _, file := range files {
		t.Run(captures.Name(file), func(t *testing.T) {
			d.Reset()
			datagrams := captures.Datagrams(t, file)
			for _, datagram := range datagrams {
				d.Add(datagram)
			}
			checkCapture(t, d.Result(), messages(t, datagrams))
		})
	}
	t.Logf("%d recorded servers", len(files))
}

// messages returns the messages of a capture. It reassembles split messages.
func messages(t *testing.T, datagrams [][]byte) (all [][]byte) {
	table := reasm.New(0)
	for i, d := range datagrams {
		if !wire.IsSplit(d) {
			all = append(all, d)
			continue
		}
		msg, outcome, err := table.Add(time.Duration(i), 1, d, nil)
		if outcome == reasm.Packed {
			msg, err = new(reasm.Unpacker).Unpack(nil, msg)
		}
		check(t, err)
		if outcome != reasm.Pending {
			all = append(all, msg)
		}
	}
	return all
}

// checkCapture compares a Result with messages. An 'I' counts for more than an 'm', of
// which only the address is kept then.
func checkCapture(t *testing.T, r *Result, messages [][]byte) {
	var in wire.Info
	var address []byte
	want := game.Reply{}
	for _, msg := range messages {
		switch kind := wire.KindOf(msg); kind {
		case wire.KindInfo, wire.KindGoldSource:
			var one wire.Info
			_ = one.Decode(msg) // the INFO of a relay is truncated (EC-137)
			if want.Info == nil || kind == wire.KindInfo {
				in, want.Info = one, &in
			}
			if one.Address != nil {
				address = one.Address
			}
		case wire.KindPlayers:
			var ps wire.Players
			_ = ps.Reset(msg, wire.ShipUnknown)
			want.Players, want.HasPlayers = ps.AppendAll(nil), true
			want.PlayersCut = ps.Err() != nil
		case wire.KindRules:
			var rs wire.Rules
			_ = rs.Reset(msg)
			want.Rules = rs.AppendAll([]wire.Rule{})
		}
	}
	if address != nil {
		in.Address, in.Has = address, in.Has|wire.HasAddress
	}
	var g game.Game
	game.Decode(&g, want)
	decoded := &game.Game{}
	if r.Game != nil {
		decoded = r.Game
	}
	for what, values := range map[string][2]any{
		"answers": {[3]bool{r.HasInfo, r.HasPlayers, r.HasRules}, [3]bool{want.Info != nil, want.HasPlayers, want.Rules != nil}},
		"info":    {r.Info, in}, "players": {r.Players, want.Players}, "rules": {r.Rules, want.Rules}, "game": {*decoded.Clone(), *g.Clone()},
		"flags": {r.Flags, game.Suspect(want, &g, game.Facts{})},
	} {
		if got, want := fmt.Sprintf("%+v", values[0]), fmt.Sprintf("%+v", values[1]); got != want {
			t.Errorf("%s: %.900s\nwant %.900s", what, got, want)
		}
	}
}

// TestQuirksAnew decodes the datagrams of each odd server again. describe must return
// the same for the new Result, whatever the questions.
func TestQuirksAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it decodes in one goroutine")
	}
	d := NewDecoder()
	for _, rows := range [][]quirk{challengeQuirks, signQuirks, infoQuirks, listQuirks, splitQuirks, againQuirks} {
		for _, row := range rows {
			for _, ask := range []wire.Questions{wire.AskAll, wire.AskInfo, wire.AskPlayers, wire.AskInfo | wire.AskRules, wire.AskPlayers | wire.AskRules} {
				inBubble(t, fmt.Sprintf("%s, %03b", row.name, ask), func(t *testing.T) {
					r, _ := askOdd(t, row.serve(), ask)
					if r != nil {
						wantAnew(t, d, r)
					}
				})
			}
		}
	}
}

// wantAnew decodes r again and compares what describe returns for both Results.
func wantAnew(t *testing.T, d *Decoder, r *Result) {
	t.Helper()
	d.Reset()
	for _, b := range r.Raw {
		d.Add(b)
	}
	if got, want := describe(d.Redecode(r)), describe(r); got != want {
		t.Errorf("decoded again: %s\nwant %s", got, want)
	}
}

// againQuirks are servers that send something useless before or after their answer.
var againQuirks = []quirk{
	{"EC-23 an unknown type before each answer", odd(func(h *host) {
		h.info, h.players = []string{ff + "9x", oddInfo}, []string{ff + "9x", oddPlayers}
	}), allWell},
	{"EC-21 too many requests, beside INFO", open(ff+"XToo many", oddInfo),
		`ok "Too many" open-info open-players open-rules, name, 1 players, 1 rules, 3 sent`},
	{"EC-22 banned after too many requests",
		odd(func(h *host) {
			h.players = []string{ff + "XToo many", ff + "lYou have been banned", ff + "XToo many", ff + "lAgain"}
		}),
		`partial players=banned "You have been banned", name, 1 rules, 4 sent`},
	{"EC-65 a corrupted D in answer to PLAYER, and a good one behind it",
		withPlayers(ff+"D\x07\x00gar", oddPlayers), "partial players=truncated, name, 0 players of 7, 1 rules, 4 sent"},
	{"EC-65 a corrupted D to INFO, and never a good one",
		first('T', []string{ff + "D\x07\x00gar"}, odd(func(h *host) { h.players = nil })),
		"partial players=malformed, name, 1 rules, 11 sent"},
	{"EC-94 one count too high in answer to RULES, and a right one behind it",
		withRules(ff+"E\x07\x00k\x00v\x00", oddRules), "ok rules.count, name, 1 players, 1 rules of 7, 4 sent"},
}

// TestDecoderFaults: a capture blames a question only for a reply of its own kind, and
// a compressed reply shows its kind even if its checksum is wrong.
func TestDecoderFaults(t *testing.T) {
	info := wire.AppendInfo(nil, &wire.Info{ServerType: 'd', Environment: 'l'})
	var packed []byte
	for _, file := range captures.Files(t) {
		for _, datagram := range captures.Datagrams(t, file) {
			if captures.Name(file) == "gameq_ffe_1" && wire.IsSplit(datagram) {
				packed = bytes.Clone(datagram)
				packed[14]++ // a byte of the CRC-32
			}
		}
	}
	for _, test := range []struct {
		name      string
		datagrams [][]byte
		want      [wire.NumQuestions]wire.Error
		asked     wire.Questions
	}{
		{"a wrong checksum", [][]byte{packed}, [wire.NumQuestions]wire.Error{wire.QuestionRules: wire.ErrChecksum}, wire.AskRules},
		{"a wrong checksum after info", [][]byte{info, packed}, [wire.NumQuestions]wire.Error{wire.QuestionRules: wire.ErrChecksum}, wire.AskInfo | wire.AskRules},
		{"half a fragment", [][]byte{info, []byte("\xfe\xff\xff\xff\x01")}, [wire.NumQuestions]wire.Error{}, wire.AskInfo},
		{"no A2S", [][]byte{info, []byte("HTTP/1.1 400")}, [wire.NumQuestions]wire.Error{}, wire.AskInfo},
		{"an empty list", [][]byte{info, []byte("\xff\xff\xff\xffD")}, [wire.NumQuestions]wire.Error{wire.QuestionPlayers: wire.ErrEmpty}, wire.AskInfo | wire.AskPlayers},
		{"banned", [][]byte{[]byte("\xff\xff\xff\xfflgo\x00")}, [wire.NumQuestions]wire.Error{wire.ErrBanned, wire.ErrBanned, wire.ErrBanned}, wire.AskAll},
	} {
		d := NewDecoder()
		for _, datagram := range test.datagrams {
			d.Add(datagram)
		}
		if r := d.Result(); r.Err != test.want || r.Asked != test.asked {
			t.Errorf("%s: errors %v, asked %b, want %v, %b", test.name, r.Err, r.Asked, test.want, test.asked)
		}
	}
}
