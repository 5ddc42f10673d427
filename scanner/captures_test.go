package scanner

import (
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
