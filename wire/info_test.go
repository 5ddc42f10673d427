package wire_test

import (
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

const (
	// sourceHead is an 'I' reply up to, but not including, the application ID.
	sourceHead = single + "I\x11name\x00map\x00folder\x00game\x00"
	// sourceRest is the part after the application ID, up to and including the
	// version.
	sourceRest = "\x01\x02\x03dl\x00\x011.0\x00"
	// sourceInfo is a complete reply whose application ID is 0.
	sourceInfo = sourceHead + "\x00\x00" + sourceRest
	// goldInfo is an 'm' reply up to, but not including, the mod flag.
	goldInfo = single + "m192.0.2.1:27015\x00name\x00map\x00folder\x00game\x00\x01\x02\x2FDW\x00"

	// goldRelay is a reply like goldInfo, but sent by a relay.
	goldRelay = single + "m192.0.2.1:27020\x00name\x00map\x00folder\x00game\x00\x00\x00\x30pl\x00"

	hasSource = wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder | wire.HasGame |
		wire.HasAppID | wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasServerType |
		wire.HasEnvironment | wire.HasPassword | wire.HasVAC | wire.HasVersion
	hasGold = wire.HasAddress | wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder |
		wire.HasGame | wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasServerType |
		wire.HasEnvironment | wire.HasPassword | wire.HasVAC
)

func TestInfoOutcome(t *testing.T) {
	const odd, trailing = wire.NoteInfoOddBoolean, wire.NoteInfoTrailing
	const noBlock, short = wire.NoteInfoNoModBlock, wire.NoteInfoShortAppID
	withEDF := func(s string) string { return sourceInfo + s }
	for _, test := range []struct {
		name, msg string
		err       error
		has       wire.Fields
		notes     wire.Notes
	}{
		{"EC-24 only the type byte", single + "I", wire.ErrEmpty, 0, 0},
		{"EC-24 GoldSource", single + "m", wire.ErrEmpty, 0, 0},
		{"another kind", single + "D\x00", wire.ErrUnexpected, 0, 0},
		{"EC-72", single + "C192.0.2.1\x00", wire.ErrUnexpected, 0, 0},
		{"no kind", single, wire.ErrMalformed, 0, 0},
		{"EC-56 nothing", "", wire.ErrMalformed, 0, 0},

		{"EC-27 EC-50 no extra data flag", sourceInfo, nil, hasSource, 0},
		{"the flag without a field", withEDF("\x00"), nil, hasSource | wire.HasEDF, 0},
		{"EC-28 80",
			withEDF("\x80\x87\x69"), nil, hasSource | wire.HasEDF | wire.HasGamePort, 0},
		{"EC-28 A0", withEDF("\xA0\x87\x69tags\x00"), nil,
			hasSource | wire.HasEDF | wire.HasGamePort | wire.HasKeywords, 0},
		{"EC-28 A1", withEDF("\xA1\x87\x69tags\x00\xDA\x02\x00\x00\x00\x00\x00\x00"), nil,
			hasSource | wire.HasEDF | wire.HasGamePort | wire.HasKeywords | wire.HasGameID, 0},
		{"EC-28 40",
			withEDF("\x40\x8C\x69tv\x00"), nil, hasSource | wire.HasEDF | wire.HasSourceTV, 0},
		{"EC-29 nothing of what is promised",
			withEDF("\xF1"), wire.ErrTruncated, hasSource | wire.HasEDF, short},
		{"EC-29 half of SourceTV",
			withEDF("\x40\x8C\x69tv"), wire.ErrTruncated, hasSource | wire.HasEDF, 0},
		{"EC-29 the last field is missing", withEDF("\x81\x87\x69"), wire.ErrTruncated,
			hasSource | wire.HasEDF | wire.HasGamePort, short},
		{"EC-30 bytes after the last field", withEDF("\x80\x87\x69\x00"), nil,
			hasSource | wire.HasEDF | wire.HasGamePort, trailing},
		{"EC-31 one byte short",
			withEDF("\x01\xA0\x0F\x00\x00\x00\x00\x00"), wire.ErrTruncated,
			hasSource | wire.HasEDF, short},
		{"a bit without meaning", withEDF("\x02"), nil, hasSource | wire.HasEDF, 0},
		{"EC-35 password",
			strings.Replace(sourceInfo, "dl\x00\x01", "dl\x02\x01", 1), nil, hasSource, odd},
		{"EC-35 VAC",
			strings.Replace(sourceInfo, "dl\x00\x01", "dl\x00\xFF", 1), nil, hasSource, odd},
		{"EC-136 the version has no end",
			sourceInfo[:len(sourceInfo)-1], wire.ErrTruncated, hasSource, short},
		{"nothing of the version", sourceInfo[:len(sourceInfo)-4], wire.ErrTruncated, hasSource &^ wire.HasVersion, short},
		{"EC-145 cut before the game ID",
			withEDF("\x81\x87"), wire.ErrTruncated, hasSource | wire.HasEDF, short},
		{"the name has no end",
			single + "I\x11name", wire.ErrTruncated, wire.HasProtocol, 0},
		{"document 000 The Ship",
			sourceHead + "\x60\x09\x01\x02\x03dl\x00\x01\x01\x03\x051.0\x00", nil,
			hasSource | wire.HasShip, 0},
		{"The Ship, cut",
			sourceHead + "\x60\x09\x01\x02\x03dl\x00\x01\x01\x03", wire.ErrTruncated,
			hasSource &^ wire.HasVersion, short},
		{"EC-114", single + sourceInfo, nil, hasSource, 0},
		{"EC-113", sourceInfo[4:], nil, hasSource, 0},

		{"EC-66 no mod", goldInfo + "\x00\x01\x03", nil, hasGold, 0},
		{"EC-67 three bytes left", goldInfo + "\x01\x00\x01\x03", nil, hasGold, noBlock},
		{"EC-67 two bytes left", goldInfo + "\x01\x01\x03", nil, hasGold, noBlock},
		{"EC-137 one byte left",
			goldInfo + "\x01\x01", wire.ErrTruncated, hasGold &^ (wire.HasVAC | wire.HasBots), noBlock},
		{"EC-137 two bytes left, of an address",
			goldInfo + "\x01ht", wire.ErrTruncated, hasGold &^ (wire.HasVAC | wire.HasBots), noBlock},
		{"EC-137 nothing left",
			goldInfo + "\x01", wire.ErrTruncated, hasGold &^ (wire.HasVAC | wire.HasBots), noBlock},
		{"EC-68 empty addresses",
			goldInfo + "\x01\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x01\x00\x01\x03", nil,
			hasGold | wire.HasMod, 0},
		{"the mod block is cut",
			goldInfo + "\x01http://example.org\x00\x00\x00\x01", wire.ErrTruncated,
			hasGold &^ (wire.HasVAC | wire.HasBots), 0},
		{"EC-147 a relay without bots", goldRelay + "\x00\x00", nil, hasGold &^ wire.HasBots, 0},
		{"EC-33 a relay of a mod, without bots",
			goldRelay + "\x01url\x00download\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x01\x01\x00", nil,
			(hasGold | wire.HasMod) &^ wire.HasBots, 0},
		{"no relay, and without bots",
			goldInfo + "\x00\x00", wire.ErrTruncated, hasGold &^ wire.HasBots, 0},
		{"a mod block with a text in place of its NUL byte",
			goldInfo + "\x01url\x00download\x00notes\x00\x01\x00\x00\x00\x02\x00\x00\x00\x01\x00\x01\x03", nil,
			hasGold | wire.HasMod, 0},
		{"EC-30 GoldSource", goldInfo + "\x00\x01\x03\x00", nil, hasGold, trailing},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := wire.Info{Has: 1, GameID: 1, Name: []byte("old")}
			err := in.Decode([]byte(test.msg))
			if err != test.err {
				t.Errorf("error %v, want %v", err, test.err)
			}
			if in.Has != test.has {
				t.Errorf("has %b, want %b", in.Has, test.has)
			}
			if in.Notes != test.notes {
				t.Errorf("notes %q, want %q", noteWords(in.Notes), noteWords(test.notes))
			}
			if in.Has&wire.HasName == 0 && in.Name != nil {
				t.Errorf("name %q is left over", in.Name)
			}
		})
	}
}

// TestLargeHLTV decodes the reply of an HLTV whose counts do not fit their bytes:
// spectators and slots follow VAC as two longs, and there are no bots (EC-146). The
// bytes are built from ReHLDS's source.
func TestLargeHLTV(t *testing.T) {
	const head = single + "m127.0.0.1:27020\x00HLTV\x00de_dust2\x00cstrike\x00Counter-Strike\x00"
	for _, test := range []struct {
		name, msg        string
		spectators, most uint32
		has              wire.Fields
	}{
		{"EC-146 300 of 1000", head + "\xff\xff\x30pl\x00\x00\x00\x2c\x01\x00\x00\xe8\x03\x00\x00", 300, 1000, hasGold &^ wire.HasBots},
		{"12 of 256", head + "\x0c\xff\x30pl\x00\x00\x00\x0c\x00\x00\x00\x00\x01\x00\x00", 12, 256, hasGold &^ wire.HasBots},
		{"EC-33 as ReHLDS sends it", head + "\x00\x10\x30pl\x00\x00\x00", 0, 16, hasGold &^ wire.HasBots},
		{"a relay with bots", head + "\x0c\x10\x30pl\x00\x00\x00\x03", 12, 16, hasGold},
	} {
		var in wire.Info
		err := in.Decode([]byte(test.msg))
		if err != nil || in.Players != test.spectators || in.MaxPlayers != test.most || in.Has != test.has || in.Notes != 0 {
			t.Errorf("%s: %v, %d of %d, has %b, notes %q", test.name, err, in.Players, in.MaxPlayers, in.Has, noteWords(in.Notes))
		}
		if again := wire.AppendInfo(nil, &in); string(again) != test.msg {
			t.Errorf("%s: %q, want %q", test.name, again, test.msg)
		}
	}
	var in wire.Info
	if err := in.Decode([]byte(head + "\xff\xff\x30pl\x00\x00\x00\xff\xff\xff\xff\xe8\x03\x00\x00")); err != nil || in.Players != 255 {
		t.Errorf("-1 spectators: %v, %d", err, in.Players)
	}
	in = wire.Info{ServerType: 'd', Players: 300}
	if b := wire.AppendInfo(nil, &in); in.Decode(b) != nil || in.Players != 300%256 {
		t.Errorf("300 players in one byte: %d", in.Players)
	}
}

// TestWords checks the words for the bytes of type and environment, in either case, and
// for those of document 002 and of an emulator (EC-150).
func TestWords(t *testing.T) {
	types := map[byte]string{'d': "dedicated", 'D': "dedicated", 1: "dedicated", 'l': "listen", 'L': "listen", 'i': "listen",
		'p': "proxy", 'P': "proxy"}
	systems := map[byte]string{'l': "linux", 'L': "linux", 'w': "windows", 'W': "windows", 'm': "mac", 'M': "mac", 'o': "mac", 'O': "mac"}
	for c := range 256 {
		if got, want := wire.ServerType(byte(c)), types[byte(c)]; got != want {
			t.Errorf("EC-150: type %#x is %q, want %q", c, got, want)
		}
		if got, want := wire.Environment(byte(c)), systems[byte(c)]; got != want {
			t.Errorf("environment %#x is %q, want %q", c, got, want)
		}
	}
}

func TestAppendInfo(t *testing.T) {
	for _, test := range []struct {
		name, want string
		in         wire.Info
	}{
		{"no extra data",
			single + "I\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", wire.Info{}},
		{"no extra data but the flag", "\x00\x00\x00\x00", wire.Info{Has: wire.HasEDF}},
		{"the flag follows from the fields",
			"\x00\x81\x87\x69\xF0\x00\x00\x00\x00\x00\x00\x00",
			wire.Info{Has: wire.HasGamePort | wire.HasGameID, GamePort: 27015, GameID: 240}},
		{"a field that is not there", "\x001.0\x00\x00",
			wire.Info{Has: wire.HasEDF, EDF: 0xF1, Version: []byte("1.0"), GamePort: 27015}},
		{"a bit without meaning", "\x00\x02", wire.Info{EDF: 0x02}},
		{"strings end at a NUL", "\x001\x00", wire.Info{Version: []byte("1\x002")}},
		{"The Ship",
			"\x00\x01\x02\x03\x00",
			wire.Info{Has: wire.HasShip, Ship: wire.Ship{Mode: 1, Witnesses: 2, Duration: 3}}},
		{"GoldSource", "\x00\x00\x00", wire.Info{Format: wire.FormatGoldSource}},
		{"EC-67",
			"\x00\x01\x05\x06", wire.Info{
				Format: wire.FormatGoldSource, Notes: wire.NoteInfoNoModBlock, VAC: 5, Bots: 6}},
		{"EC-68",
			"\x00\x01\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x04\x00\x00", wire.Info{
				Format: wire.FormatGoldSource, Has: wire.HasMod,
				Mod: wire.Mod{Version: 1, Size: 2, Type: 3, DLL: 4}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := string(wire.AppendInfo([]byte("x"), &test.in))
			if !strings.HasPrefix(got, "x"+single) || !strings.HasSuffix(got, test.want) {
				t.Errorf("%q, want the end %q", got, test.want)
			}
		})
	}
}
