package scanner

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"regexp"
	"testing"

	"github.com/a2sscan/a2sscan/bench/captures"
	"github.com/a2sscan/a2sscan/wire"
)

// capture is what an independent parser read in a recorded server's replies.
type capture struct {
	Info *struct {
		Protocol, Players, Bots, Password, VAC     uint8
		Name, Map, Folder, Game, Version, Type, OS string
		Keywords                                   *string
		MaxPlayers                                 uint8 `json:"max_players"`
		AppID                                      uint16
		GameID, SteamID                            *uint64
		Port                                       *uint16
		ShipMode                                   *uint8 `json:"ship_mode"`
		ShipWitnesses                              uint8  `json:"ship_witnesses"`
		ShipDuration                               uint8  `json:"ship_duration"`
	}
	GoldSource *struct {
		Address, Name, Map, Folder, Game, Type, OS string
		Players, Protocol, Password, VAC, Mod      uint8
		MaxPlayers                                 uint8 `json:"max_players"`
		Bots                                       *uint8
		ModLink                                    string `json:"mod_link"`
		ModSize                                    uint32 `json:"mod_size"`
		ModVersion                                 uint32 `json:"mod_version"`
	} `json:"info_goldsrc"`
	Players *[]struct {
		Index         uint8
		Name          string
		Score         int32
		Duration      float64
		Deaths, Money *int32
	}
	Rules *[][2]string
}

// escaped matches a byte that is not valid UTF-8, as the files of captures write it: a
// lone surrogate.
var escaped = regexp.MustCompile(`\\udc([0-9a-f]{2})`)

// text converts a string of a capture back into bytes.
func text(s string) string {
	var b bytes.Buffer
	for _, r := range s {
		if r >= 0xF700 && r <= 0xF7FF {
			b.WriteByte(byte(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TestCaptures decodes the replies of every recorded server and compares all
// values.
func TestCaptures(t *testing.T) {
	files := captures.Files(t)
	d := NewDecoder()
	for _, file := range files {
		t.Run(captures.Name(file), func(t *testing.T) {
			want := readCapture(t, captures.Meaning(file))
			d.Reset()
			for _, datagram := range captures.Datagrams(t, file) {
				d.Add(datagram)
			}
			want.compare(t, d.Result())
		})
	}
	t.Logf("%d recorded servers", len(files))
}

func readCapture(t *testing.T, file string) *capture {
	data, err := os.ReadFile(file)
	check(t, err)
	data = escaped.ReplaceAll(data, []byte(`\uf7$1`))
	c := new(capture)
	check(t, json.Unmarshal(data, c))
	return c
}

func (c *capture) compare(t *testing.T, r *Result) {
	same := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	same("info", r.HasInfo, c.Info != nil || c.GoldSource != nil)
	same("players", r.HasPlayers, c.Players != nil)
	same("rules", r.HasRules, c.Rules != nil)
	in := &r.Info
	if w := c.Info; w != nil {
		same("format", in.Format, wire.FormatSource)
		same("name", string(in.Name), text(w.Name))
		same("map", string(in.Map), text(w.Map))
		same("folder", string(in.Folder), text(w.Folder))
		same("game", string(in.Game), text(w.Game))
		same("version", string(in.Version), text(w.Version))
		same("numbers",
			[8]uint8{in.Protocol, uint8(in.Players), uint8(in.MaxPlayers), in.Bots, in.Password, in.VAC, in.ServerType, in.Environment},
			[8]uint8{w.Protocol, w.Players, w.MaxPlayers, w.Bots, w.Password, w.VAC, w.Type[0], w.OS[0]})
		same("app id", in.ShortAppID, w.AppID)
		same("keywords there", in.Has&wire.HasKeywords != 0, w.Keywords != nil)
		same("game id there", in.Has&wire.HasGameID != 0, w.GameID != nil)
		same("steam id there", in.Has&wire.HasSteamID != 0, w.SteamID != nil)
		same("port there", in.Has&wire.HasGamePort != 0, w.Port != nil)
		same("ship there", in.Has&wire.HasShip != 0, w.ShipMode != nil)
		if w.Keywords != nil {
			same("keywords", string(in.Keywords), text(*w.Keywords))
		}
		if w.GameID != nil {
			same("game id", in.GameID, *w.GameID)
		}
		if w.SteamID != nil {
			same("steam id", in.SteamID, *w.SteamID)
		}
		if w.Port != nil {
			same("port", in.GamePort, *w.Port)
		}
		if w.ShipMode != nil {
			same("ship", in.Ship, wire.Ship{Mode: *w.ShipMode, Witnesses: w.ShipWitnesses, Duration: w.ShipDuration})
		}
	}
	if w := c.GoldSource; w != nil {
		same("address", string(in.Address), w.Address)
	}
	if w := c.GoldSource; w != nil && c.Info == nil {
		same("name", string(in.Name), text(w.Name))
		same("map", string(in.Map), text(w.Map))
		same("folder", string(in.Folder), text(w.Folder))
		same("game", string(in.Game), text(w.Game))
		same("numbers",
			[7]uint8{in.Protocol, uint8(in.Players), uint8(in.MaxPlayers), in.Password, in.VAC, in.ServerType, in.Environment},
			[7]uint8{w.Protocol, w.Players, w.MaxPlayers, w.Password, w.VAC, w.Type[0], w.OS[0]})
		same("bots there", in.Has&wire.HasBots != 0, w.Bots != nil)
		same("mod there", in.Has&wire.HasMod != 0, w.Mod == 1)
		same("mod", string(in.Mod.URL), w.ModLink)
		same("mod size", in.Mod.Size, w.ModSize)
		same("mod version", in.Mod.Version, w.ModVersion)
	}
	if c.Players != nil {
		same("number of players", len(r.Players), len(*c.Players))
		for i, w := range *c.Players {
			p := &r.Players[i]
			same("player", string(p.Name), text(w.Name))
			same("player", [2]int32{int32(p.Index), p.Score}, [2]int32{int32(w.Index), w.Score})
			same("duration", math.Float32bits(p.Duration), math.Float32bits(float32(w.Duration)))
			same("ship player", p.Ship, w.Deaths != nil)
			if w.Deaths != nil {
				same("ship player", [2]int32{p.Deaths, p.Money}, [2]int32{*w.Deaths, *w.Money})
			}
		}
	}
	if c.Rules != nil {
		same("number of rules", len(r.Rules), len(*c.Rules))
		for i, w := range *c.Rules {
			same("rule", string(r.Rules[i].Name), text(w[0]))
			same("rule "+w[0], string(r.Rules[i].Value), text(w[1]))
		}
	}
}
