package wire_test

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// vector is one entry of testdata/vectors.json: datagrams and their meaning.
type vector struct {
	Name      string
	Source    string // where the bytes or the rule come from
	Kind      string
	Datagrams []string // hex
	Expect    map[string]any
	Notes     []string // words of the notes of a complete answer
	Error     string   // word of the error, "" if the answer is complete
	Note      string   // for the reader
}

// datagrams returns the bytes of the datagrams.
func (v *vector) datagrams(tb testing.TB) [][]byte {
	tb.Helper()
	return unhex(tb, v.Datagrams)
}

func unhex(tb testing.TB, lines []string) [][]byte {
	tb.Helper()
	var all [][]byte
	for _, line := range lines {
		b, err := hex.DecodeString(line)
		check(tb, err)
		all = append(all, b)
	}
	return all
}

// loadVectors returns the project's vectors.
func loadVectors(tb testing.TB) []vector {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "vectors.json"))
	check(tb, err)
	var all []vector
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	check(tb, d.Decode(&all))
	return all
}

func TestVectors(t *testing.T) {
	checks := map[string]func(*testing.T, *vector, []byte){
		"request":   checkRequest,
		"challenge": checkChallenge,
		"ping":      checkPing,
		"malformed": checkMalformed,
		"info":      checkInfo,
		"players":   checkPlayers,
		"rules":     checkRules,
	}
	for _, v := range loadVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			check := checks[v.Kind]
			if check == nil {
				t.Fatalf("no check for kind %q", v.Kind)
			}
			check(t, &v, join(t, v.datagrams(t)))
		})
	}
}

// join returns the message that the datagrams of one reply hold: the single
// datagram, or the payloads of its fragments in the order of their numbers,
// decompressed.
func join(tb testing.TB, datagrams [][]byte) []byte {
	tb.Helper()
	if !wire.IsSplit(datagrams[0]) {
		return datagrams[0]
	}
	layout, packed := showGroup(datagrams)
	var fragments []wire.Fragment
	for _, d := range datagrams {
		var f wire.Fragment
		if err := f.Decode(d, layout, packed); err != nil {
			tb.Fatalf("%v of %x", err, d)
		}
		fragments = append(fragments, f)
	}
	slices.SortFunc(fragments, func(a, b wire.Fragment) int {
		return int(a.Number) - int(b.Number)
	})
	var msg []byte
	for i, f := range fragments {
		if int(f.Number) != i || int(f.Total) != len(fragments) {
			tb.Fatalf("fragment %d of %d in place %d of %d", f.Number, f.Total, i, len(fragments))
		}
		msg = append(msg, f.Payload...)
	}
	if packed {
		return unpack(tb, &fragments[0], msg)
	}
	return msg
}

// showGroup returns the result of ShowLayout for the first datagram that shows a
// layout.
func showGroup(datagrams [][]byte) (l wire.Layout, packed bool) {
	for _, d := range datagrams {
		if l, packed := wire.ShowLayout(d); l != wire.LayoutUnknown {
			return l, packed
		}
	}
	return wire.LayoutUnknown, false
}

func unpack(tb testing.TB, first *wire.Fragment, packed []byte) []byte {
	tb.Helper()
	msg, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(packed)))
	check(tb, err)
	if len(msg) != int(first.DeclaredSize) || crc32.ChecksumIEEE(msg) != first.CRC {
		tb.Fatalf("%d bytes with CRC %08x, declared %d with %08x",
			len(msg), crc32.ChecksumIEEE(msg), first.DeclaredSize, first.CRC)
	}
	return msg
}

var requestKinds = map[string]wire.Kind{
	"info":         wire.KindInfoRequest,
	"players":      wire.KindPlayersRequest,
	"rules":        wire.KindRulesRequest,
	"ping":         wire.KindPingRequest,
	"getchallenge": wire.KindChallengeRequest,
}

func checkRequest(t *testing.T, v *vector, b []byte) {
	want := wire.Request{
		Kind:      requestKinds[v.Expect["query"].(string)],
		Challenge: wire.NoChallenge,
	}
	if c, ok := v.Expect["challenge"]; ok {
		want.Challenge = challengeOf(t, c)
		want.HasChallenge = want.Challenge != wire.NoChallenge
	}
	got, err := wire.DecodeRequest(b)
	if err != nil || got != want {
		t.Errorf("decoded %+v, %v, want %+v", got, err, want)
	}
	if again := appendRequest(nil, want); !bytes.Equal(again, b) {
		t.Errorf("encoded %x, want %x", again, b)
	}
}

// appendRequest appends the bytes of a request of any kind.
func appendRequest(dst []byte, r wire.Request) []byte {
	q := map[wire.Kind]wire.Question{
		wire.KindInfoRequest: wire.QuestionInfo, wire.KindPlayersRequest: wire.QuestionPlayers,
		wire.KindRulesRequest: wire.QuestionRules, wire.KindPingRequest: wire.QuestionPing,
		wire.KindChallengeRequest: wire.QuestionChallenge,
	}[r.Kind]
	return wire.AppendRequest(dst, q, r.Challenge)
}

// challengeOf returns the challenge whose four bytes v spells in hex.
func challengeOf(tb testing.TB, v any) wire.Challenge {
	tb.Helper()
	b := unhex(tb, []string{v.(string)})[0]
	return wire.Challenge(binary.LittleEndian.Uint32(b))
}

func checkChallenge(t *testing.T, v *vector, b []byte) {
	want := challengeOf(t, v.Expect["challenge_bytes"])
	got, err := wire.DecodeChallenge(b)
	if err != nil || got != want {
		t.Errorf("decoded %#x, %v, want %#x", got, err, want)
	}
	if n, ok := v.Expect["challenge_int32_le"]; ok && number(n) != uint64(got) {
		t.Errorf("decoded %d, want %v", got, n)
	}
	if again := wire.AppendChallenge(nil, want); !bytes.Equal(again, b) {
		t.Errorf("encoded %x, want %x", again, b)
	}
}

func checkPing(t *testing.T, v *vector, b []byte) {
	want := v.Expect["payload"].(string)
	got, err := wire.DecodeText(b)
	if err != nil || string(got) != want {
		t.Errorf("decoded %q, %v, want %q", got, err, want)
	}
}

func checkMalformed(t *testing.T, v *vector, b []byte) {
	if c, err := wire.DecodeChallenge(b); err != wire.ErrMalformed {
		t.Errorf("decoded %#x, %v, want %v", c, err, wire.ErrMalformed)
	}
}

func checkInfo(t *testing.T, v *vector, b []byte) {
	var got wire.Info
	checkOutcome(t, v, got.Decode(b), got.Notes|wire.HeaderNotes(b))
	diffInfo(t, &got, infoOf(t, v.Expect))
	if v.Error == "" && v.Notes == nil {
		if again := wire.AppendInfo(nil, &got); !bytes.Equal(again, b) {
			t.Errorf("encoded %x, want %x", again, b)
		}
	}
}

// checkOutcome fails the test unless err and notes are those of the vector.
func checkOutcome(t *testing.T, v *vector, err error, notes wire.Notes) {
	t.Helper()
	word := ""
	if err != nil {
		word = err.(wire.Error).String()
	}
	if word != v.Error {
		t.Errorf("error %q, want %q", word, v.Error)
	}
	if words := noteWords(notes); !slices.Equal(words, v.Notes) {
		t.Errorf("notes %q, want %q", words, v.Notes)
	}
}

// noteWords returns the words of a set of notes.
func noteWords(notes wire.Notes) (words []string) {
	for i := range wire.NumNotes {
		if notes&(1<<i) != 0 {
			words = append(words, wire.NoteWord(i))
		}
	}
	return words
}

// diffInfo fails the test for each field in which got differs from want. It ignores
// the notes and the bits of the extra data flag, which follow from Has.
func diffInfo(t *testing.T, got, want *wire.Info) {
	t.Helper()
	g, w := *got, *want
	g.Notes, w.Notes = 0, 0
	if g.Has&wire.HasEDF != 0 {
		w.Has |= wire.HasEDF
		w.EDF = g.EDF
	}
	clearMissing(&g)
	gv, wv := reflect.ValueOf(g), reflect.ValueOf(w)
	for i := range gv.NumField() {
		a, b := gv.Field(i).Interface(), wv.Field(i).Interface()
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s is %s, want %s", gv.Type().Field(i).Name, show(a), show(b))
		}
	}
}

// show formats bytes as a quoted string and everything else with its default
// format.
func show(v any) string {
	if b, ok := v.([]byte); ok && b != nil {
		return strconv.Quote(string(b))
	}
	return fmt.Sprintf("%+v", v)
}

// clearMissing resets the blocks that in.Has does not contain: the decoder may have
// filled their first fields.
func clearMissing(in *wire.Info) {
	if in.Has&wire.HasMod == 0 {
		in.Mod = wire.Mod{}
	}
	if in.Has&wire.HasShip == 0 {
		in.Ship = wire.Ship{}
	}
	if in.Has&wire.HasSourceTV == 0 {
		in.SourceTV = wire.SourceTV{}
	}
}

// infoOf returns an Info with the fields in a vector or a capture.
func infoOf(tb testing.TB, fields map[string]any) *wire.Info {
	tb.Helper()
	in := &wire.Info{Format: wire.FormatSource}
	if fields["engine"] == "goldsource" {
		in.Format = wire.FormatGoldSource
	}
	for key, v := range fields {
		set := infoKeys[key]
		if set == nil {
			tb.Fatalf("unknown key %q", key)
		}
		if v != nil {
			set(in, v)
		}
	}
	return in
}

// number returns the value of a JSON number.
func number(v any) uint64 {
	n, err := json.Number.Int64(v.(json.Number))
	if err == nil {
		return uint64(n)
	}
	var u uint64
	if _, err := fmt.Sscan(v.(json.Number).String(), &u); err != nil {
		panic(err)
	}
	return u
}

func u8(v any) uint8   { return uint8(number(v)) }
func u16(v any) uint16 { return uint16(number(v)) }
func u32(v any) uint32 { return uint32(number(v)) }

// text returns the bytes of a JSON string. Characters from loneFirst on stand for
// bytes that are not valid UTF-8.
func text(v any) []byte {
	b := []byte{}
	for _, r := range v.(string) {
		if r >= loneFirst && r < loneFirst+256 {
			b = append(b, byte(r-loneFirst))
			continue
		}
		b = append(b, string(r)...)
	}
	return b
}

// loneFirst is the first of 256 private-use characters that stand for bytes that
// are not valid UTF-8.
const loneFirst = 0xF000

// letter returns the byte of a JSON string of one character.
func letter(v any) byte { return text(v)[0] }

// A setter sets a field of an Info to a JSON value.
type setter func(in *wire.Info, v any)

// field returns a setter that stores the converted value where at points, and adds
// f to Has.
func field[T any](f wire.Fields, convert func(any) T, at func(*wire.Info) *T) setter {
	return func(in *wire.Info, v any) {
		*at(in) = convert(v)
		in.Has |= f
	}
}

// infoKeys maps each key of a vector to its setter.
var infoKeys = map[string]setter{
	"engine": func(in *wire.Info, v any) {}, // this is the Format, which is already set

	"protocol":    field(wire.HasProtocol, u8, func(in *wire.Info) *uint8 { return &in.Protocol }),
	"address":     field(wire.HasAddress, text, func(in *wire.Info) *[]byte { return &in.Address }),
	"name":        field(wire.HasName, text, func(in *wire.Info) *[]byte { return &in.Name }),
	"map":         field(wire.HasMap, text, func(in *wire.Info) *[]byte { return &in.Map }),
	"folder":      field(wire.HasFolder, text, func(in *wire.Info) *[]byte { return &in.Folder }),
	"game":        field(wire.HasGame, text, func(in *wire.Info) *[]byte { return &in.Game }),
	"players":     field(wire.HasPlayers, u32, func(in *wire.Info) *uint32 { return &in.Players }),
	"max_players": field(wire.HasMaxPlayers, u32, func(in *wire.Info) *uint32 { return &in.MaxPlayers }),
	"bots":        field(wire.HasBots, u8, func(in *wire.Info) *uint8 { return &in.Bots }),
	"server_type": field(wire.HasServerType, letter, func(in *wire.Info) *byte { return &in.ServerType }),
	"environment": field(wire.HasEnvironment, letter, func(in *wire.Info) *byte { return &in.Environment }),
	"visibility":  field(wire.HasPassword, u8, func(in *wire.Info) *uint8 { return &in.Password }),
	"vac":         field(wire.HasVAC, u8, func(in *wire.Info) *uint8 { return &in.VAC }),
	"version":     field(wire.HasVersion, text, func(in *wire.Info) *[]byte { return &in.Version }),
	"app_id":      field(wire.HasAppID, u16, func(in *wire.Info) *uint16 { return &in.ShortAppID }),
	"game_port":   field(wire.HasGamePort, u16, func(in *wire.Info) *uint16 { return &in.GamePort }),
	"steam_id":    field(wire.HasSteamID, number, func(in *wire.Info) *uint64 { return &in.SteamID }),
	"keywords":    field(wire.HasKeywords, text, func(in *wire.Info) *[]byte { return &in.Keywords }),
	"game_id":     field(wire.HasGameID, number, func(in *wire.Info) *uint64 { return &in.GameID }),

	"sourcetv": func(in *wire.Info, v any) {
		tv := v.(map[string]any)
		in.SourceTV = wire.SourceTV{Port: uint16(number(tv["port"])), Name: text(tv["name"])}
		in.Has |= wire.HasSourceTV
	},
	"ship": func(in *wire.Info, v any) {
		s := v.(map[string]any)
		in.Ship.Mode = uint8(number(s["mode"]))
		in.Ship.Witnesses = uint8(number(s["witnesses"]))
		in.Ship.Duration = uint8(number(s["duration"]))
		in.Has |= wire.HasShip
	},
	"mod": func(in *wire.Info, v any) {
		m := v.(map[string]any)
		in.Mod.URL, in.Mod.DownloadURL = text(m["link"]), text(m["download_link"])
		in.Mod.Version, in.Mod.Size = uint32(number(m["version"])), uint32(number(m["size"]))
		in.Mod.Type, in.Mod.DLL = uint8(number(m["type"])), uint8(number(m["dll"]))
		in.Has |= wire.HasMod
	},
}

// list holds what a cursor returned.
type list[T any] struct {
	all       []T
	announced int
	notes     wire.Notes
	err       error
}

// readPlayers reads all players of msg.
func readPlayers(msg []byte, ship wire.ShipHint) (l list[wire.Player]) {
	var ps wire.Players
	l.err = ps.Reset(msg, ship)
	for ps.Next() {
		l.all = append(l.all, *ps.Player())
	}
	if ps.Count() != len(l.all) {
		panic("Count is not what Next gave")
	}
	if l.err != nil && ps.Err() != l.err {
		panic("Err is not what Reset returned")
	}
	l.announced, l.notes, l.err = ps.Announced(), ps.Notes(), ps.Err()

	// AppendAll reads the same players, whatever its slice held before.
	used := slices.Repeat([]wire.Player{{Name: msg, Index: 1, Ship: true, Deaths: 2, Money: 3}}, 1+len(l.all))
	_ = ps.Reset(msg, ship)
	at := ps.AppendAll(used[:1])
	if !slices.EqualFunc(at[1:], l.all, samePlayer) || (ps.Announced() != l.announced || ps.Notes() != l.notes || ps.Err() != l.err) {
		panic("AppendAll reads something else than Next")
	}
	return l
}

// readRules reads all rules of msg.
func readRules(msg []byte) (l list[wire.Rule]) {
	var rs wire.Rules
	l.err = rs.Reset(msg)
	for rs.Next() {
		l.all = append(l.all, *rs.Rule())
	}
	if rs.Count() != len(l.all) {
		panic("Count is not what Next gave")
	}
	if l.err != nil && rs.Err() != l.err {
		panic("Err is not what Reset returned")
	}
	l.announced, l.notes, l.err = rs.Announced(), rs.Notes(), rs.Err()

	_ = rs.Reset(msg)
	at := rs.AppendAll(make([]wire.Rule, 1, 3))
	if !slices.EqualFunc(at[1:], l.all, sameRule) || (rs.Announced() != l.announced || rs.Notes() != l.notes || rs.Err() != l.err) {
		panic("AppendAll reads something else than Next")
	}
	return l
}

func checkPlayers(t *testing.T, v *vector, b []byte) {
	want := playersOf(v.Expect["players"].([]any))
	hint := wire.ShipNo
	if len(want) > 0 && want[0].Ship {
		hint = wire.ShipYes
	}
	got := readPlayers(b, hint)
	checkOutcome(t, v, got.err, got.notes|wire.HeaderNotes(b))
	if n := int(number(v.Expect["count"])); got.announced != n {
		t.Errorf("announced %d, want %d", got.announced, n)
	}
	diffPlayers(t, got.all, want)
	again := wire.AppendPlayers(nil, got.announced, want)
	if v.Error == "" && !bytes.Equal(again, b) {
		t.Errorf("encoded %x, want %x", again, b)
	}
}

// playersOf returns the players listed in a vector or a capture.
func playersOf(all []any) []wire.Player {
	var players []wire.Player
	for _, one := range all {
		v := one.(map[string]any)
		d, err := v["duration"].(json.Number).Float64()
		if err != nil {
			panic(err)
		}
		p := wire.Player{
			Index:    uint8(number(v["index"])),
			Name:     text(v["name"]),
			Score:    int32(number(v["score"])),
			Duration: float32(d),
		}
		if v["money"] != nil {
			p.Ship = true
			p.Deaths, p.Money = int32(number(v["deaths"])), int32(number(v["money"]))
		}
		players = append(players, p)
	}
	return players
}

func diffPlayers(t *testing.T, got, want []wire.Player) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d players, want %d", len(got), len(want))
		return
	}
	for i := range got {
		if !samePlayer(got[i], want[i]) {
			t.Errorf("player %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// samePlayer reports whether two players are equal; it compares durations by their
// bits.
func samePlayer(a, b wire.Player) bool {
	if !bytes.Equal(a.Name, b.Name) {
		return false
	}
	return math.Float32bits(a.Duration) == math.Float32bits(b.Duration) &&
		a.Index == b.Index && a.Score == b.Score &&
		a.Ship == b.Ship && a.Deaths == b.Deaths && a.Money == b.Money
}

func checkRules(t *testing.T, v *vector, b []byte) {
	want := rulesOf(v.Expect["rules"].([]any))
	got := readRules(b)
	checkOutcome(t, v, got.err, got.notes|wire.HeaderNotes(b))
	if n := int(number(v.Expect["count"])); got.announced != n {
		t.Errorf("announced %d, want %d", got.announced, n)
	}
	diffRules(t, got.all, want)
	again := wire.AppendRules(nil, got.announced, want)
	if v.Error == "" && !bytes.Equal(wire.Body(again), wire.Body(b)) {
		t.Errorf("encoded %x, want %x", again, b)
	}
}

// rulesOf returns the rules listed in a vector or a capture.
func rulesOf(all []any) []wire.Rule {
	var rules []wire.Rule
	for _, one := range all {
		pair := one.([]any)
		rules = append(rules, wire.Rule{Name: text(pair[0]), Value: text(pair[1])})
	}
	return rules
}

func diffRules(t *testing.T, got, want []wire.Rule) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d rules, want %d", len(got), len(want))
		return
	}
	for i := range got {
		if !sameRule(got[i], want[i]) {
			t.Errorf("rule %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func sameRule(a, b wire.Rule) bool {
	return bytes.Equal(a.Name, b.Name) && bytes.Equal(a.Value, b.Value)
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
