package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// source turns fuzzed bytes into values, and returns zeros when the bytes are used
// up.
type source []byte

func (s *source) bytes(n int) []byte {
	n = min(n, len(*s))
	b := (*s)[:n:n]
	*s = (*s)[n:]
	return b
}

func (s *source) u64() uint64 {
	var b [8]byte
	copy(b[:], s.bytes(8))
	return binary.LittleEndian.Uint64(b[:])
}

func (s *source) u8() uint8 { return uint8(s.u32()) }

func (s *source) u32() uint32 {
	var b [4]byte
	copy(b[:], s.bytes(4))
	return binary.LittleEndian.Uint32(b[:])
}

func (s *source) text() []byte { return s.bytes(int(s.u8() & 31)) }

// result returns a Result that a Go program could build, even if no scanner would.
func (s *source) result() *scanner.Result {
	bits := s.u32()
	has := func(bit int) bool { return bits>>bit&1 != 0 }
	r := &scanner.Result{
		Tag: string(s.text()), Master: string(s.text()), Status: scanner.Status(s.u8() % scanner.NumStatuses),
		Notes: wire.Notes(s.u32()), Message: s.text(), RTT: time.Duration(s.u64()),
		Took: time.Duration(s.u64()), Sent: s.u32(), Received: s.u32(), SentBytes: s.u64(),
		RecvBytes: s.u64(), Unchallenged: wire.Questions(s.u8()),
		HasInfo: has(0), HasPlayers: has(1), HasRules: has(2),
		PlayersAnnounced: int(int8(s.u8())), RulesAnnounced: int(int16(s.u32())),
		Info: s.info(),
		Geo:  scanner.Geo{Country: string(s.text()), City: string(s.text()), ASN: s.u32(), Org: string(s.text())},
	}
	if has(3) {
		r.Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte(s.bytes4())), uint16(s.u32()))
	}
	if has(4) {
		r.Time = time.Unix(int64(s.u64()), int64(s.u32()))
	}
	for q := range r.Err {
		r.Err[q] = wire.Error(s.u8() % wire.NumErrors)
	}
	for range s.u8() & 3 {
		r.Raw = append(r.Raw, s.text())
		r.Players = append(r.Players, wire.Player{Name: s.text(), Index: s.u8(), Ship: has(5),
			Score: int32(s.u32()), Duration: math.Float32frombits(s.u32()), Deaths: int32(s.u32())})
	}
	for range s.u8() & 7 {
		r.Rules = append(r.Rules, wire.Rule{Name: s.text(), Value: s.text()})
	}
	if has(6) {
		r.Game = s.game()
	}
	r.Flags = game.Flags(s.u32())
	r.PlayersHash = s.u64()
	for q := range r.RTTs {
		r.RTTs[q] = time.Duration(s.u64())
	}
	return r
}

func (s *source) game() *game.Game {
	g := &game.Game{
		ID: string(s.text()), Name: string(s.text()), Has: game.Keys(s.u32()), Notes: game.Notes(s.u32()),
		Players: int(int32(s.u32())), Queue: int(s.u64()), Started: int64(s.u64()), PVP: s.u8() > 9,
		Version: s.text(), Map: s.text(), Mode: s.text(), Region: s.text(), TimeOfDay: s.text(),
		Description: s.text(), Mods: []game.Mod{{ID: s.text(), Name: s.text(), Hash: s.text()}},
	}
	for i := range s.u8() & 3 {
		g.Attributes = append(g.Attributes, game.Attribute{Name: string('a' + rune(i)), Value: s.text()})
	}
	g.Sources[game.Key(s.u8()%game.NumKeys)] = string(s.text())
	return g
}

func (s *source) bytes4() []byte { return append(s.bytes(4), 0, 0, 0, 0)[:4] }

func (s *source) info() wire.Info {
	return wire.Info{
		Has: wire.Fields(s.u32()), Notes: wire.Notes(s.u32()), Format: wire.Format(s.u8() & 3),
		Name: s.text(), Map: s.text(), Folder: s.text(), Game: s.text(), Version: s.text(),
		Keywords: s.text(), Address: s.text(), ServerType: s.u8(), Environment: s.u8(),
		GameID: s.u64(), SourceTV: wire.SourceTV{Name: s.text()},
		Mod: wire.Mod{URL: s.text(), DownloadURL: s.text(), Size: s.u32(), DLL: s.u8()},
	}
}

// FuzzAppend: the record of any Result is one line that follows the schema and
// holds the tag and all rules exactly.
func FuzzAppend(f *testing.F) {
	f.Add([]byte(""), "")
	f.Add(bytes.Repeat([]byte("\xff\x05\xc3\x00\x1f"), 200), "scan")
	f.Fuzz(func(t *testing.T, b []byte, scan string) {
		s := source(b)
		r := s.result()
		record := Append(nil, scan, r)
		checkRecord(t, record)
		var v struct {
			Tag   string
			Rules map[string]string
			Raw   [][2]string `json:"rules_raw"`
		}
		check(t, json.Unmarshal(record, &v))
		if v.Tag != replaced([]byte(r.Tag)) {
			t.Errorf("tag %q became %q", r.Tag, v.Tag)
		}
		if !r.HasRules {
			return
		}
		checkPairs(t, r.Rules, v.Raw, v.Raw != nil)
		if v.Raw == nil && len(v.Rules) != len(r.Rules) {
			t.Errorf("%d rules became %d, and there is no rules_raw", len(r.Rules), len(v.Rules))
		}
	})
}
