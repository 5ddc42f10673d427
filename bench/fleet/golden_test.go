package fleet

import (
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/wire"
)

// An INFO, a short INFO, an 'm' and two short lists, from which the golden
// datagrams are made.
var (
	goldenInfo = wire.Info{
		Has: commonFields | wire.HasAppID | wire.HasVersion | wire.HasEDF | wire.HasGamePort |
			wire.HasSteamID | wire.HasSourceTV | wire.HasKeywords | wire.HasGameID,
		Format: wire.FormatSource, Protocol: 17,
		Name: []byte("Srv"), Map: []byte("m1"), Folder: []byte("tf"), Game: []byte("TF"),
		ShortAppID: 440, Players: 2, MaxPlayers: 24, Bots: 1,
		ServerType: 'd', Environment: 'l', Password: 0, VAC: 1, Version: []byte("1.0"),
		EDF: 0xF1, GamePort: 27015, SteamID: 0x0140000000000001,
		SourceTV: wire.SourceTV{Port: 27020, Name: []byte("TV")},
		Keywords: []byte("a,b"), GameID: 440,
	}
	goldenShort = wire.Info{
		Has: commonFields | wire.HasAppID | wire.HasVersion, Format: wire.FormatSource, Protocol: 48,
		Name: []byte("\x1b[31m"), Map: []byte("m1"), Folder: []byte("cs"), Game: []byte("CS"),
		ShortAppID: 10, MaxPlayers: 16, ServerType: 'd', Environment: 'w', Version: []byte("1"),
	}
	goldenOld = wire.Info{
		Has: commonFields | wire.HasAddress, Format: wire.FormatGoldSource, Protocol: 47,
		Address: []byte("127.0.0.1:27015"), Name: []byte("Old"), Map: []byte("m1"),
		Folder: []byte("cs"), Game: []byte("CS"), Players: 12, MaxPlayers: 18, Bots: 3,
		ServerType: 'D', Environment: 'L', Password: 1, VAC: 1,
	}
	goldenPlayers = []wire.Player{
		{Index: 0, Name: []byte("Al"), Score: 5, Duration: 1.5},
		{Index: 0, Name: nil, Score: -1, Duration: -1},
	}
	goldenRules = []wire.Rule{
		{Name: []byte("a"), Value: []byte("1")},
		{Name: []byte("b"), Value: nil},
	}
)

// goldenMod returns goldenOld with the mod block from the example in document 000.
func goldenMod() wire.Info {
	in := goldenOld
	in.Has |= wire.HasMod
	in.Mod = wire.Mod{URL: []byte("u"), Version: 1, Size: 184000000, DLL: 1}
	return in
}

// The parts that several golden datagrams have in common.
const (
	hexInfo = "FFFFFFFF 49 11 537276 00 6D31 00 7466 00 5446 00" + // type, protocol, name, map, folder, game
		"B801 02 18 01 64 6C 00 01 312E30 00" + // 440, players, slots, bots, d, l, open, VAC, version
		"F1 8769 0100000000004001 8C69 5456 00 612C62 00 B801000000000000" // 27015, Steam ID, 27020 TV, a,b, 440
	hexShort = "FFFFFFFF 49 30 1B5B33316D 00 6D31 00 6373 00 4353 00 0A00 00 10 00 64 77 00 00 31 00"
	hexOld   = "FFFFFFFF 6D 3132372E302E302E313A3237303135 00" + // type, address
		"4F6C64 00 6D31 00 6373 00 4353 00 0C 12 2F 44 4C 01" // name … game, players, slots, protocol, D, L, locked
	hexPlayers = "FFFFFFFF 44 02 00 416C 00 05000000 0000C03F 00 00 FFFFFFFF 000080BF"
	hexRules   = "FFFFFFFF 45 0200 61 00 31 00 62 00 00"
)

// goldenPacked returns a compressed reply that the bzip2 program made.
func goldenPacked(t *testing.T) packed {
	return packed{data: unhex(t, hexBzip2), size: 11, crc: 0xF6C1EFC7}
}

// hexBzip2 is the output of bzip2 -1 for FF FF FF FF 45 01 00 "a" 00 "b" 00.
const hexBzip2 = "425A6831 314159265359 201456FA 000005C500E000020030000000A00022341FAA0C01" +
	"9C225F8BB9229C2848100A2B7D0049"

// golden is a reply of one kind, written by hand from document 000 and the quirks.
// In want, ?? stands for any byte, XX*N for N times XX, and ... for any bytes up to
// the end.
type golden struct {
	kind   Kind
	q      wire.Question
	said   content
	nature nature
	fill   bool // the content comes from the kind
	want   []string
}

func goldens() []golden {
	const i, p, r = wire.QuestionInfo, wire.QuestionPlayers, wire.QuestionRules
	list := content{players: goldenPlayers, playersAnnounced: 2, rules: goldenRules, rulesAnnounced: 2}
	sized := nature{fragments: fragments{wire.LayoutSource, 8}}
	bare := nature{fragments: fragments{wire.LayoutSourceNoSize, 1248}, hash: 1 << 40} // a short list
	return []golden{
		{kind: Source, q: i, said: content{info: goldenInfo}, want: []string{hexInfo}},
		{kind: SourceLists, q: p, said: list, want: []string{hexPlayers}},
		{kind: SourceOpen, q: r, said: list, want: []string{hexRules}},
		{kind: Rechallenge, q: i, said: content{info: goldenInfo, trailing: []byte{0, 7}}, want: []string{hexInfo + "0007"}},
		{kind: GoldSource, q: p, want: []string{"FFFFFFFF 44 01 01 41 00 FDFFFFFF 00000000"},
			said: content{players: []wire.Player{{Index: 1, Name: []byte("A"), Score: -3}}, playersAnnounced: 1}},
		{kind: GoldSourceOld, q: i, said: content{info: goldenOld}, want: []string{hexOld + "00 01 03"}},
		{kind: GoldSourceMod, q: i, said: content{info: goldenMod()},
			// mod, link, download link, NUL, version, size, type, DLL, VAC, bots
			want: []string{hexOld + "01 75 00 00 00 01000000 009EF70A 00 01 01 03"}},
		{kind: Both, q: i, said: content{info: goldenShort, gold: goldenOld},
			want: []string{hexOld + "00 01 03", hexShort}},
		{kind: Ship, q: p, want: []string{"FFFFFFFF 44 01 00 41 00 00000000 000080BF 02000000 C4090000"},
			said: content{playersAnnounced: 1, players: []wire.Player{
				{Name: []byte("A"), Duration: -1, Ship: true, Deaths: 2, Money: 2500}}}},
		{kind: Split, q: r, said: list, nature: sized, want: []string{
			"FEFFFFFF 01000000 02 00 0800 FFFFFFFF 45 0200 61",
			"FEFFFFFF 01000000 02 01 0800 00 31 00 62 00 00"}},
		{kind: SplitNoSize, q: r, said: list, nature: nature{fragments: fragments{wire.LayoutSourceNoSize, 10}}, want: []string{
			"FEFFFFFF 01000000 02 00 FFFFFFFF 45 0200 61 00 31",
			"FEFFFFFF 01000000 02 01 00 62 00 00"}},
		{kind: SplitGoldSource, q: r, said: list, nature: nature{fragments: fragments{wire.LayoutGoldSource, 7}}, want: []string{
			"FEFFFFFF 01000000 02 FFFFFFFF 45 0200",
			"FEFFFFFF 01000000 12 61 00 31 00 62 00 00"}},
		{kind: InfoOnly, q: i, said: content{info: goldenShort}, want: []string{hexShort}},
		{kind: TruncatedRules, q: r, want: []string{"FFFFFFFF 45 0500 61 00 31 00 62 00 00 7376"},
			said: content{rules: goldenRules, rulesAnnounced: 5, cut: []byte("sv")}},

		{kind: FragmentsOfNone, q: r, said: list, nature: sized, want: []string{
			"FEFFFFFF 01000000 00 00 0800 FFFFFFFF 45 0200 61",
			"FEFFFFFF 01000000 00 01 0800 00 31 00 62 00 00"}},
		{kind: FragmentsBeyond, q: r, said: list, nature: sized, want: []string{
			"FEFFFFFF 01000000 02 02 0800 FFFFFFFF 45 0200 61",
			"FEFFFFFF 01000000 02 03 0800 00 31 00 62 00 00"}},
		{kind: FragmentsDisagree, q: r, said: list, nature: sized, want: []string{
			"FEFFFFFF 01000000 02 00 0800 FFFFFFFF 45 0200 61",
			"FEFFFFFF 01000000 03 01 0800 00 31 00 62 00 00"}},
		{kind: OneSplitID, q: r, said: list, nature: nature{fragments: fragments{wire.LayoutSource, 8}, hash: 42}, want: []string{
			"FEFFFFFF 2A000000 02 00 0800 FFFFFFFF 45 0200 61",
			"FEFFFFFF 2A000000 02 01 0800 00 31 00 62 00 00"}},
		{kind: DeclaresTwoGiB, q: r, nature: bare, want: []string{"FEFFFFFF 01000080 ?? 00 00000080 ???????? 425A6831 ..."}},
		{kind: WrongChecksum, q: r, nature: bare, want: []string{"FEFFFFFF 01000080 ?? 00 ???????? ???????? 425A6831 ..."}},
		{kind: Bomb, q: r, nature: bare, want: []string{"FEFFFFFF 01000080 01 00 00400600 ???????? 425A6839 314159265359 ..."}},
		{kind: Noise, q: r, nature: bare, want: []string{"FEFFFFFF 01000080 01 00 00400600 ???????? 425A6839 314159265359 ??*590"}},
		{kind: Tiny, q: i, want: []string{"FF ..."}},
		{kind: Huge, q: i, want: []string{"FFFFFFFF 49 41*65502"}},
		{kind: Flood64K, q: p, fill: true, nature: nature{players: floodPlayers}, want: []string{"FFFFFFFF 44 FF 00 41*230 00 ??*8 00 41*230 00 ..."}},
		{kind: FragmentFlood, q: r, nature: sized, want: goldenFlood()},
		{kind: OtherPort, q: r, said: list, want: []string{hexRules}},
		{kind: OtherAddress, q: p, said: list, want: []string{hexPlayers}},
		{kind: Unterminated, q: i, want: []string{"FFFFFFFF 49 41 41*34 ..."}},
		{kind: Ghosts, q: p, fill: true, want: []string{"FFFFFFFF 44 FF"}},
		{kind: EndlessRules, q: r, fill: true, want: []string{"FFFFFFFF 45 E803 41*61440"}},
		{kind: ReplyStorm, q: i, said: content{info: goldenShort}, want: goldenStorm()},
		{kind: Escapes, q: i, said: content{info: goldenShort}, want: []string{hexShort}},
	}
}

func goldenFlood() (want []string) {
	for range 64 {
		want = append(want, "FEFFFFFF ???????? 04 ?? E004 ??*200")
	}
	return want
}

func goldenStorm() (want []string) {
	for range 2000 {
		want = append(want, hexShort)
	}
	return want
}

// TestGolden compares the datagrams of each kind with bytes written by hand.
func TestGolden(t *testing.T) {
	m, err := newModel(testConfig())
	check(t, err)
	done := map[Kind]bool{Silent: true, EndlessChallenges: true, Packed: true} // below
	for _, k := range []Kind{OwnChallenge, ShortChallenge, GetChallenge, TrailingNUL, PlayersOnly} {
		done[k] = true // they answer as Source does
	}
	for _, k := range append(FakerKinds(), Games) {
		done[k] = true // a scan of them is compared with the truth: see TestFleetOfGames
	}
	for _, g := range goldens() {
		done[g.kind] = true
		t.Run(g.kind.String(), func(t *testing.T) {
			r := newResponder(m, 27015)
			n := g.nature
			n.kind, n.addr, n.game = g.kind, 0x7F000001<<16|27015, simpleGames[Source][0]
			r.c = g.said
			if g.fill {
				r.c.fill(&n, 1<<g.q)
			}
			if !n.kind.Hostile() || !r.misbehave(&n, g.q) {
				r.say(&n, g.q)
			}
			wantDatagrams(t, &r.out, g.want)
		})
	}
	for k := range Kind(numKinds) {
		if !done[k] {
			t.Errorf("%v has no golden datagram", k)
		}
	}
}

// TestGoldenPacked puts the output of the bzip2 program into fragments: one
// fragment without a size field, and two with it.
func TestGoldenPacked(t *testing.T) {
	m, _ := newModel(testConfig())
	z := goldenPacked(t)
	data := strings.ReplaceAll(hexBzip2, " ", "")
	tests := []struct {
		nature nature
		want   []string
	}{
		{nature{fragments: fragments{wire.LayoutSourceNoSize, 1248}},
			[]string{"FEFFFFFF 01000080 01 00 0B000000 C7EFC1F6" + data}},
		{nature{fragments: fragments{wire.LayoutSource, 40}}, []string{
			"FEFFFFFF 01000080 02 00 2800 0B000000 C7EFC1F6" + data[:64],
			"FEFFFFFF 01000080 02 01 2800" + data[64:]}},
	}
	for _, test := range tests {
		r := newResponder(m, 27015)
		r.sendPacked(&test.nature, z)
		wantDatagrams(t, &r.out, test.want)
	}
}

// TestGoldenChallenge checks that servers that demand a challenge send nine bytes,
// and that silent servers send nothing.
func TestGoldenChallenge(t *testing.T) {
	for kind, want := range map[Kind][]string{
		EndlessChallenges: {"FFFFFFFF 41 ????????"}, Source: {"FFFFFFFF 41 ????????"}, Silent: nil,
	} {
		c := testConfig()
		c.Kinds, c.HostileKinds = []Kind{kind}, []Kind{kind}
		if kind.Hostile() {
			c.Kinds, c.Hostile = nil, 1
		} else {
			c.HostileKinds = nil
		}
		m, err := newModel(c)
		check(t, err)
		r := newResponder(m, 27015)
		r.Respond(0, 0x7F000001<<16|5, m.place(3), unhex(t, "FFFFFFFF 54 536F7572636520456E67696E6520517565727900"))
		wantDatagrams(t, &r.out, want)
	}
}

func wantDatagrams(t *testing.T, out *loopback.Outbox, want []string) {
	t.Helper()
	if len(out.List) != len(want) {
		t.Fatalf("%d datagrams, want %d", len(out.List), len(want))
	}
	for i := range want {
		got := out.Bytes(&out.List[i])
		if !matches(strings.ToUpper(hex.EncodeToString(got)), expand(t, want[i])) {
			t.Fatalf("datagram %d:\ngot  %X\nwant %.300s", i, got[:min(len(got), 150)], want[i])
		}
	}
}

// expand removes spaces and replaces XX*N by N times XX.
func expand(t *testing.T, pattern string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(pattern) {
		unit, times, ok := strings.Cut(word, "*")
		if !ok {
			b.WriteString(word)
			continue
		}
		n, err := strconv.Atoi(times)
		check(t, err)
		b.WriteString(strings.Repeat(unit, n))
	}
	return b.String()
}

// matches reports whether got, in hex, matches a pattern of hex digits, ?, and
// possibly "..." at the end.
func matches(got, pattern string) bool {
	if rest, ok := strings.CutSuffix(pattern, "..."); ok {
		return len(got) >= len(rest) && matches(got[:len(rest)], rest)
	}
	if len(got) != len(pattern) {
		return false
	}
	for i := range got {
		if pattern[i] != '?' && pattern[i] != got[i] {
			return false
		}
	}
	return true
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	check(t, err)
	return b
}
