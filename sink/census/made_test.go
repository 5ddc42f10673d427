package census

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// A made server answers the same every night, unless a change is planned for it.
// Each kind of change is planned for one server in 64.

// planned returns what happens to server i between two nights: "" for most servers.
func planned(i int) Kind {
	if n := i % 64; n < len(Kinds) {
		return Kinds[n].Kind
	}
	return ""
}

// madeAddr returns the address of server i. A server that moves has another port
// later.
func madeAddr(i int, later bool) netip.AddrPort {
	n := uint32(i)
	port := uint16(27015)
	if later && planned(i) == "moved" {
		port = 27099
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(n >> 16), byte(n >> 8), byte(n)}), port)
}

const madeFields = wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder | wire.HasGame | wire.HasAppID |
	wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasServerType | wire.HasEnvironment | wire.HasPassword |
	wire.HasVAC | wire.HasVersion

// made returns server i as it answers on a night, or nil if it is not in the
// census.
func made(i int, later bool) *scanner.Result {
	kind := planned(i)
	if kind == "farm" {
		return madeClone(i, later)
	}
	r := madeAnswer(i, later)
	switch {
	case kind == "new" && !later, kind == "not_asked" && later:
		return nil
	case kind == "back" && !later, kind == "gone" && later:
		return silent(i, later)
	case !later:
		return r
	}
	in := &r.Info
	switch kind {
	case "renamed":
		in.Name = append(in.Name, " now"...)
	case "map":
		in.Map = []byte("rust_other")
	case "version":
		in.Version = []byte("2512")
	case "capacity":
		in.MaxPlayers++
	case "mode":
		r.Game.PVP = !r.Game.PVP
	case "mods":
		r.Game.Mods = append(r.Game.Mods, game.Mod{ID: []byte("77"), Name: []byte("new \u202emod")})
	case "rules":
		r.Rules[1].Value = []byte("changed")
	case "flags":
		r.Flags = game.FlagRedirect
	case "challenge":
		r.Unchallenged ^= wire.AskInfo
	case "players":
		in.Players++
	}
	return r
}

// madeAnswer returns what server i answers if no change is planned for it.
func madeAnswer(i int, later bool) *scanner.Result {
	rnd := rand.New(rand.NewPCG(uint64(i), 7))
	r := &scanner.Result{
		Addr: madeAddr(i, later), Status: scanner.StatusOK, Asked: wire.AskAll, Attempt: 1, Sent: 4, Received: 4,
		HasInfo: true, HasPlayers: true, HasRules: true, RulesDistinct: true, PlayersAnnounced: -1, RulesAnnounced: -1,
		Time: madeNight(later).Add(time.Duration(i) * time.Millisecond), RTT: time.Duration(1+rnd.IntN(200_000)) * time.Microsecond,
	}
	r.Info = wire.Info{
		Format: wire.FormatSource, Has: madeFields | wire.HasSteamID | wire.HasGameID, Protocol: 17,
		Name: fmt.Appendf(nil, "Server #%d — 24/7 \u202e", i), Map: []byte("rust_map"), Folder: []byte("rust"), Game: []byte("Rust"),
		Players: uint32(rnd.IntN(60)), MaxPlayers: 64, ServerType: 'd', Environment: "lw"[i%2], Password: uint8(i % 5 / 4), Version: []byte("2511"),
		GameID: 252490, SteamID: 3<<52 | uint64(i),
	}
	r.Game = &game.Game{ID: "rust", Name: "Rust", Has: 1<<game.KeyPVP | 1<<game.KeyMods, PVP: i%2 == 0}
	r.Game.Mods = []game.Mod{{ID: []byte("11"), Name: []byte("mod")}}
	r.Game.Sources[game.KeyMods] = "rules.modN"
	r.PlayersHash = rnd.Uint64() | 1
	for p := range rnd.IntN(20) {
		r.Players = append(r.Players, wire.Player{Name: fmt.Appendf(nil, "player \"%d\"", p), Score: int32(p), Duration: rnd.Float32() * 9000})
	}
	r.Rules = append(r.Rules, wire.Rule{Name: []byte("uptime"), Value: fmt.Append(nil, r.Time.Unix())})
	for n := range 30 {
		r.Rules = append(r.Rules, wire.Rule{Name: fmt.Append(nil, "rule_", n), Value: fmt.Append(nil, rnd.IntN(9))})
	}
	if i%3 == 0 {
		r.Unchallenged = wire.AskInfo
	}
	return r
}

func madeNight(later bool) time.Time {
	if later {
		return time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	}
	return time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
}

// madeClone returns what server i answers if it joins a farm on the later night.
func madeClone(i int, later bool) *scanner.Result {
	r := madeAnswer(i, later)
	if later {
		like := madeAnswer(0, later)
		r.Info, r.Rules = like.Info, like.Rules
		r.Info.SteamID = 3<<52 | uint64(i)
		r.Info.Name, r.Info.Players = []byte("Best server of the world"), 20
	}
	return r
}

func silent(i int, later bool) *scanner.Result {
	return &scanner.Result{
		Addr: madeAddr(i, later), Status: scanner.StatusNoReply, Asked: wire.AskAll, Sent: 3, Time: madeNight(later),
		PlayersAnnounced: -1, RulesAnnounced: -1, Err: [wire.NumQuestions]wire.Error{wire.ErrTimeout},
	}
}

// madeCensus returns the records of a night. change, if set, modifies each result, for
// example by losing answers.
func madeCensus(servers int, later bool, change func(i int, r *scanner.Result)) (lines [][]byte) {
	var e record.Encoder
	for i := range servers {
		r := made(i, later)
		if r == nil {
			continue
		}
		if change != nil {
			change(i, r)
		}
		lines = append(lines, e.Append(nil, madeNight(later).Format("20060102"), r))
	}
	return lines
}

// form is a way to write a census to files.
type form struct {
	name     string
	parts    int
	shuffle  bool
	suffix   string
	framesOf int // records in a frame; 0: one frame
}

var forms = []form{
	{"plain", 1, false, "", 0},
	{"shuffled", 1, true, "", 0},
	{"shards", 3, true, ".zst", 500},
	{"parts", 4, false, ".zst", 0},
	{"zstd", 1, false, ".zst", 700},
	{"gzip", 2, true, ".gz", 0},
}

// write writes records to files of the form f, and returns the names of the files.
func (f form) write(t testing.TB, lines [][]byte) (files []string) {
	t.Helper()
	lines = append([][]byte(nil), lines...)
	if f.shuffle {
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	dir := t.TempDir()
	for p := range f.parts {
		part := lines[len(lines)*p/f.parts : len(lines)*(p+1)/f.parts]
		name := filepath.Join(dir, fmt.Sprintf("census-%d.ndjson%s", p, f.suffix))
		check(t, os.WriteFile(name, f.pack(t, part), 0o666))
		files = append(files, name)
	}
	return files
}

func (f form) pack(t testing.TB, lines [][]byte) []byte {
	all := bytes.Join(lines, nil)
	switch f.suffix {
	case ".gz":
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(all)
		w.Close()
		return b.Bytes()
	case ".zst":
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
		check(t, err)
		if f.framesOf == 0 {
			return enc.EncodeAll(all, nil)
		}
		var out []byte
		for len(lines) > 0 {
			n := min(f.framesOf, len(lines))
			out = enc.EncodeAll(bytes.Join(lines[:n], nil), out)
			lines = lines[n:]
		}
		return out
	}
	return all
}

func openMade(t testing.TB, f form, lines [][]byte) *Census {
	t.Helper()
	c, err := Open(f.write(t, lines), Options{Summaries: []string{}})
	check(t, err)
	return c
}
