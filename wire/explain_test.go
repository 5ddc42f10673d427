package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// spell writes each part as NAME=LENGTH, prefixed with its item number and a dot if
// it belongs to a list, and followed by "!" if it is cut.
func spell(parts []wire.Part) string {
	var words []string
	for _, p := range parts {
		word := fmt.Sprintf("%s=%d", p.Name, p.End-p.At)
		if p.Item >= 0 {
			word = fmt.Sprintf("%d.%s", p.Item, word)
		}
		if p.Cut {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func TestExplain(t *testing.T) {
	const start = "header=4, kind=1"
	const head = start + ", protocol=1, name=5, map=4, folder=7, game=5, app ID=2"
	const numbers = ", players=1, max players=1, bots=1, server type=1, environment=1, password=1, VAC=1"
	const gold = start + ", address=16, name=5, map=4, folder=7, game=5, players=1, max players=1, " +
		"protocol=1, server type=1, environment=1, password=1, is mod=1"
	const record = ", 0.index=1, 0.name=2, 0.score=4, 0.duration=4"
	for _, test := range []struct {
		name, msg, want string
	}{
		{"nothing", "", "kind=0!"},
		{"only a header", single, "header=4, kind=0!"},
		{"EC-56 half a header", single[:3], "kind=1, left over=2"},
		{"EC-113 no header", "A1234", "kind=1, challenge=4"},
		{"EC-114 two headers", single + single + "A1234", "header=4, header=4, kind=1, challenge=4"},
		{"EC-140 a redirect", single + "9ConnectRedirectAddress:a\x00", start + ", text=25"},
		{"an unknown kind", single + "9abc", start + ", left over=3"},

		{"EC-8 half a challenge", single + "A12", start + ", challenge=2!"},
		{"EC-138 more than a challenge", single + "A123456", start + ", challenge=4, left over=2"},
		{"EC-19 a text that begins with A", single + "A00000000 12", start + ", left over=11"},
		{"a ping", single + "j0000\x00", start + ", text=5"},
		{"EC-22 banned, without a NUL", single + "lYou", start + ", text=3"},
		{"EC-21 more than a text", single + "XToo\x00ab", start + ", text=4, left over=2"},

		{"an INFO request", infoRequest, start + ", query=20"},
		{"an INFO request with a challenge", infoRequest + "1234", start + ", query=20, challenge=4"},
		{"a PLAYER request", single + "U1234", start + ", challenge=4"},
		{"EC-16 a RULES request that is too long", single + "V1234\x00", start + ", challenge=4, left over=1"},

		{"EC-27 no extra data flag", sourceInfo, head + numbers + ", version=4"},
		{"EC-28 all extra data", sourceInfo + "\xF1" + "ab12345678cdtv\x00kw\x0012345678",
			head + numbers + ", version=4, extra data flag=1, game port=2, Steam ID=8, SourceTV port=2, " +
				"SourceTV name=3, keywords=3, game ID=8"},
		{"EC-29 the last field is missing", sourceInfo + "\x81ab",
			head + numbers + ", version=4, extra data flag=1, game port=2, game ID=0!"},
		{"EC-30 bytes after the last field", sourceInfo + "\x00abc",
			head + numbers + ", version=4, extra data flag=1, left over=3"},
		{"document 000 The Ship", sourceHead + "\x60\x09\x01\x02\x03dl\x00\x01\x01\x03\x051.0\x00",
			head + numbers + ", ship: mode=1, ship: witnesses=1, ship: duration=1, version=4"},
		{"the name has no end", single + "I\x11name", start + ", protocol=1, name=4!"},

		{"no mod", goldInfo + "\x00\x01\x03", gold + ", VAC=1, bots=1"},
		{"a mod", goldInfo + "\x01u\x00d\x00\x00abcdefghtl\x01\x03",
			gold + ", mod: URL=2, mod: download URL=2, mod: NUL=1, mod: version=4, mod: size=4, " +
				"mod: type=1, mod: DLL=1, VAC=1, bots=1"},
		{"EC-67 no mod block", goldInfo + "\x01\x01\x03", gold + ", VAC=1, bots=1"},
		{"EC-67 a byte in its place", goldInfo + "\x01\x00\x01\x03", gold + ", no mod block=1, VAC=1, bots=1"},

		{"no count", single + "D", start + ", count=0!"},
		{"one player", players(1, records(1)), start + ", count=1" + strings.Replace(record, "name=2", "name=1", 1)},
		{"EC-84 half a player", players(1, "\x00a\x00\x01"),
			start + ", count=1, 0.index=1, 0.name=2, 0.score=1!"},
		{"bytes after the announced ones", players(0, "\x00\x00\x01"), start + ", count=1, left over=3"},
		{"EC-75 The Ship", players(1, "\x00a\x00"+strings.Repeat("\x00", 8)+extras(1)),
			start + ", count=1" + record + ", 0.deaths=4, 0.money=4"},
		{"EC-75 The Ship, cut", players(1, "\x00a\x00"+strings.Repeat("\x00", 8)+extras(1)[:5]),
			start + ", count=1" + record + ", 0.deaths=4, 0.money=1!"},

		{"two rules", single + "E\x02\x00a\x00b\x00c\x00\x00",
			start + ", count=2, 0.name=2, 0.value=2, 1.name=2, 1.value=1"},
		{"EC-92 the end is between name and value", single + "E\x02\x00a\x00", start + ", count=2, 0.name=2, 0.value=0!"},
		{"half a count", single + "E\x02", start + ", count=1!"},
	} {
		t.Run(test.name, func(t *testing.T) {
			parts := slices.Collect(wire.Explain([]byte(test.msg), wire.ShipYes))
			checkCover(t, parts, []byte(test.msg))
			if got := spell(parts); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestExplainFragment(t *testing.T) {
	const id = split + "\x07\x00\x00\x00"
	for _, test := range []struct {
		name, datagram string
		layout         wire.Layout
		packed         bool
		want           string
	}{
		{"unknown", id + "\x02\x00ab", wire.LayoutUnknown, false,
			"split header=4, split ID=4, number, total and payload=4"},
		{"GoldSource", id + "\x02ab", wire.LayoutGoldSource, false,
			"split header=4, split ID=4, number and total=1, payload=2"},
		{"Source", id + "\x02\x01\xE0\x04ab", wire.LayoutSource, false,
			"split header=4, split ID=4, total=1, number=1, payload size=2, payload=2"},
		{"Source without a payload", id + "\x02\x01\xE0\x04", wire.LayoutSource, false,
			"split header=4, split ID=4, total=1, number=1, payload size=2"},
		{"no size", id + "\x02\x01ab", wire.LayoutSourceNoSize, false,
			"split header=4, split ID=4, total=1, number=1, payload=2"},
		{"EC-108 the first of a compressed reply", id + "\x02\x0012345678BZh", wire.LayoutSourceNoSize, true,
			"split header=4, split ID=4, total=1, number=1, size unpacked=4, CRC-32=4, payload=3"},
		{"a later one", id + "\x02\x0112345678BZh", wire.LayoutSourceNoSize, true,
			"split header=4, split ID=4, total=1, number=1, payload=11"},
		{"EC-116 cut", id + "\x02", wire.LayoutSource, false,
			"split header=4, split ID=4, total=1, number=0!"},
	} {
		t.Run(test.name, func(t *testing.T) {
			parts := slices.Collect(wire.ExplainFragment([]byte(test.datagram), test.layout, test.packed))
			checkCover(t, parts, []byte(test.datagram))
			if got := spell(parts); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// checkCover fails the test unless the parts cover b without gaps or overlaps and
// only the last one is cut, if any.
func checkCover(t *testing.T, parts []wire.Part, b []byte) {
	t.Helper()
	at := 0
	for i, p := range parts {
		if p.At != at || p.End < p.At || p.End > len(b) || p.Cut && i < len(parts)-1 {
			t.Fatalf("part %d of %q: %+v", i, b, parts)
		}
		at = p.End
	}
	if at != len(b) {
		t.Fatalf("%d bytes of %q are in no part", len(b)-at, b)
	}
}

// little decodes a little-endian number of any length.
func little(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// checkCut fails the test unless the last part is cut exactly if err is
// ErrTruncated or ErrEmpty.
func checkCut(t *testing.T, parts []wire.Part, err error) {
	t.Helper()
	short := err == wire.ErrTruncated || err == wire.ErrEmpty
	if cut := parts[len(parts)-1].Cut; cut != short {
		t.Errorf("cut %v, decoded %v: %s", cut, err, spell(parts))
	}
}

func checkPlayerParts(t *testing.T, parts []wire.Part, b []byte, ship wire.ShipHint) {
	want := readPlayers(b, ship)
	got := make([]wire.Player, len(want.all))
	for _, p := range parts {
		if p.Item < 0 || p.Item >= len(got) || p.Cut {
			continue
		}
		player, v := &got[p.Item], b[p.At:p.End]
		switch p.Name {
		case "index":
			player.Index = v[0]
		case "name":
			player.Name = v[:len(v)-1]
		case "score":
			player.Score = int32(little(v))
		case "duration":
			player.Duration = math.Float32frombits(uint32(little(v)))
		case "deaths":
			player.Deaths = int32(little(v))
		case "money":
			player.Money, player.Ship = int32(little(v)), true
		}
	}
	for i := range got {
		if !want.all[i].Ship { // cut between deaths and money
			got[i].Deaths, got[i].Money = 0, 0
		}
	}
	diffPlayers(t, got, want.all)
	checkCut(t, parts, want.err)
}

func checkRuleParts(t *testing.T, parts []wire.Part, b []byte) {
	want := readRules(b)
	got := make([]wire.Rule, len(want.all))
	for _, p := range parts {
		if p.Item < 0 || p.Item >= len(got) {
			continue
		}
		if v := b[p.At : p.End-1]; p.Name == "name" {
			got[p.Item].Name = v
		} else {
			got[p.Item].Value = v
		}
	}
	diffRules(t, got, want.all)
	checkCut(t, parts, want.err)
}

// FuzzExplain checks that the parts of a message match what its decoder reads.
func FuzzExplain(f *testing.F) {
	addVectors(f, func(b []byte) { f.Add(b, uint8(wire.ShipUnknown)) })
	f.Add([]byte(goldInfo+"\x01u\x00d\x00\x00abcdefghtl\x01\x03"), uint8(0))
	f.Add([]byte(goldInfo+"\x01\x00\x01\x03"), uint8(0))
	f.Add([]byte("m\x00\x00\x00\x00\x000000000000"), uint8(0))   // a string where the mod block has a NUL
	f.Add([]byte("m\x00\x00\x00\x00\x00000p00\x001"), uint8(0))  // a relay, without bots
	f.Add([]byte("m\x00\x00\x00\x00\x00000d00\x0123"), uint8(0)) // cut inside the mod block
	f.Add([]byte("I0\x00\x00\x00\x000000000000"), uint8(0))      // cut inside the version
	f.Add([]byte(players(8, records(4)+record("ab")+records(2))), uint8(wire.ShipYes))
	f.Add([]byte(players(2, records(2)+extras(1)+"\x00")), uint8(wire.ShipYes))
	f.Fuzz(func(t *testing.T, b []byte, hint uint8) {
		ship := wire.ShipHint(hint % 3)
		parts := slices.Collect(wire.Explain(b, ship))
		checkCover(t, parts, b)
		switch wire.KindOf(b) {
		case wire.KindInfo, wire.KindGoldSource:
			var in wire.Info
			err := in.Decode(b)
			checkCut(t, parts, err)
			left := parts[len(parts)-1].Name == "left over"
			if err == nil && left != (in.Notes&wire.NoteInfoTrailing != 0) {
				t.Errorf("left over: %v, notes %q of %x", left, noteWords(in.Notes), b)
			}
		case wire.KindPlayers:
			checkPlayerParts(t, parts, b, ship)
		case wire.KindRules:
			checkRuleParts(t, parts, b)
		}
		for range wire.Explain(b, ship) { // the caller may break out at any time
			break
		}
	})
}

// FuzzExplainFragment checks that the ID and the payload among the parts of a
// fragment are those that Fragment.Decode reads.
func FuzzExplainFragment(f *testing.F) {
	addVectors(f, func(b []byte) {
		for l := wire.LayoutUnknown; l <= wire.LayoutSourceNoSize; l++ {
			f.Add(b, uint8(l), true)
		}
	})
	f.Fuzz(func(t *testing.T, b []byte, layout uint8, packed bool) {
		l := wire.Layout(layout % 4)
		parts := slices.Collect(wire.ExplainFragment(b, l, packed))
		checkCover(t, parts, b)
		var frag wire.Fragment
		if frag.Decode(b, l, packed) != nil {
			return
		}
		last := parts[len(parts)-1]
		payload := b[last.At:last.End]
		if last.Name != "payload" {
			payload = nil
		}
		if !bytes.Equal(payload, frag.Payload) || binary.LittleEndian.Uint32(b[parts[1].At:]) != frag.ID {
			t.Errorf("%s, decoded %+v", spell(parts), frag)
		}
	})
}
