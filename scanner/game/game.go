package game

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/a2sscan/a2sscan/wire"
)

// Reply is what one server answered, as package wire decoded it.
type Reply struct {
	Info    *wire.Info    // nil: INFO was not answered
	Players []wire.Player // the list, as far as it was complete
	Rules   []wire.Rule   // the rules, as far as they were complete

	HasPlayers bool   // PLAYER was answered; Players may be empty
	PlayersCut bool   // the list ended inside a record: more players follow
	Redirect   []byte // the text of a reply of type '9' (EC-140)
}

// Key is one of the common keys: values that mean the same in every game.
type Key uint8

// The common keys, in the order in which a record lists them.
const (
	KeyPlayers Key = iota
	KeyMaxPlayers
	KeyQueue
	KeyBots
	KeyVersion
	KeyMap
	KeyMode
	KeyRegion
	KeyPVP
	KeyPassword
	KeyModded
	KeyAnticheat
	KeyStarted
	KeyTimeOfDay
	KeyDay
	KeyMods
	KeyDescription

	NumKeys = iota
)

var keyWords = [NumKeys]string{
	"players", "max_players", "queue", "bots", "version", "map", "mode", "region",
	"pvp", "password", "modded", "anticheat", "started", "time_of_day", "day",
	"mods", "description",
}

// String returns the record's word for k.
func (k Key) String() string {
	if int(k) < len(keyWords) {
		return keyWords[k]
	}
	return "unknown"
}

// Keys is a set of common keys.
type Keys uint32

// Has reports whether k is in the set.
func (s Keys) Has(k Key) bool { return s&(1<<k) != 0 }

// Game is what a reply means for its game. A field of a common key counts only if
// Has has the key, which means that the game sent the value. Has has KeyPassword
// only if the value differs from INFO's.
//
// Byte slices alias the reply, memory of the Game that the next Decode reuses, or
// constants. They must not be changed. To keep them, use Clone.
type Game struct {
	ID   string // the stable word for the game; "": the game is in no table
	Name string // the game's name for people
	Has  Keys   // which of the common keys follow

	Players    int   // people in the game, as the game counts them
	MaxPlayers int   // places for players
	Queue      int   // people who wait for a place
	Bots       int   // players that are programs
	Day        int   // day of the game's calendar
	Started    int64 // Unix time at which the world began

	Version     []byte // of the game
	Map         []byte // that is played
	Mode        []byte // kind of play, in the game's words
	Region      []byte // the server's own claim
	TimeOfDay   []byte // in the game's world
	Description []byte // text for people; may hold control characters

	PVP       bool // players may fight each other
	Password  bool // players need a password
	Modded    bool // the server declares itself modded
	Anticheat bool // the game's own anti-cheat program is on; VAC is in INFO

	Mods       []Mod       // in the server's order
	Attributes []Attribute // the game's other values, sorted by name
	Notes      Notes       // what could not be understood

	sources [NumKeys]string
	sourced Keys // the keys that have a source
	dec     *decoder
}

// Mod is one mod that a server runs. Fields that the game does not tell are
// empty.
type Mod struct {
	ID         []byte // mostly the number of a Steam Workshop item
	Name       []byte // as the server calls it
	Hash       []byte // in hexadecimal digits
	CreatorDLC bool   // Arma 3: not a mod but a Creator DLC, and ID its application
}

// Attribute is a value that not every game has. Each game has a fixed set of names.
type Attribute struct {
	Name   string
	Value  []byte // as the server sent it; "true" for a tag that is there
	Source string // as Game.Source
}

// Source returns where the value of a common key came from: "info", "keywords" or
// "rules", a full stop, and the field, tag or rule. N stands for a number where a
// value was put together from several rules. "keywords" alone means a tag that is
// the value itself, and "rules.pages" the binary pages of Arma 3 and DayZ. It is
// "" for a key that the Game does not have.
func (g *Game) Source(k Key) string { return g.sources[k] }

// SetSource sets what Source returns for a key. It is for callers that make a Game
// without Decode, such as from a record.
func (g *Game) SetSource(k Key, source string) {
	g.sources[k] = source
	if g.sourced |= 1 << k; source == "" {
		g.sourced &^= 1 << k
	}
}

// Empty reports whether nothing is known: the game is in no table.
func (g *Game) Empty() bool { return g.ID == "" }

// The kinds of values that common keys have, and the keys of each.
const (
	numbers Keys = 1<<KeyPlayers | 1<<KeyMaxPlayers | 1<<KeyQueue | 1<<KeyBots | 1<<KeyDay | 1<<KeyStarted
	texts   Keys = 1<<KeyVersion | 1<<KeyMap | 1<<KeyMode | 1<<KeyRegion | 1<<KeyTimeOfDay | 1<<KeyDescription
	truths  Keys = 1<<KeyPVP | 1<<KeyPassword | 1<<KeyModded | 1<<KeyAnticheat
)

// reset empties g, but keeps its memory. Most replies set few keys, so it clears only
// what has been set: a Game is large.
func (g *Game) reset() {
	set := (g.Has | g.sourced) & (1<<NumKeys - 1)
	for s := set; s != 0; s &= s - 1 {
		g.sources[bits.TrailingZeros32(uint32(s))] = ""
	}
	if set&numbers != 0 {
		g.Players, g.MaxPlayers, g.Queue, g.Bots, g.Day, g.Started = 0, 0, 0, 0, 0, 0
	}
	if set&texts != 0 {
		g.Version, g.Map, g.Mode, g.Region, g.TimeOfDay, g.Description = nil, nil, nil, nil, nil, nil
	}
	if set&truths != 0 {
		g.PVP, g.Password, g.Modded, g.Anticheat = false, false, false, false
	}
	g.ID, g.Name, g.Has, g.sourced, g.Notes = "", "", 0, 0, 0
	g.Mods, g.Attributes = g.Mods[:0], g.Attributes[:0]
}

// Clone returns a copy of g that shares no memory with the reply or with g.
func (g *Game) Clone() *Game {
	c := *g
	c.dec = nil
	for _, b := range []*[]byte{
		&c.Version, &c.Map, &c.Mode, &c.Region, &c.TimeOfDay, &c.Description,
	} {
		*b = bytes.Clone(*b)
	}
	c.Mods = slices.Clone(g.Mods)
	for i := range c.Mods {
		m := &c.Mods[i]
		m.ID, m.Name, m.Hash = bytes.Clone(m.ID), bytes.Clone(m.Name), bytes.Clone(m.Hash)
	}
	c.Attributes = slices.Clone(g.Attributes)
	for i := range c.Attributes {
		c.Attributes[i].Value = bytes.Clone(c.Attributes[i].Value)
	}
	return &c
}

// number returns the field of a key whose value is a number.
func (g *Game) number(k Key) *int {
	switch k {
	case KeyPlayers:
		return &g.Players
	case KeyMaxPlayers:
		return &g.MaxPlayers
	case KeyQueue:
		return &g.Queue
	case KeyBots:
		return &g.Bots
	case KeyDay:
		return &g.Day
	}
	panic("game: " + k.String() + " is no number")
}

// text returns the field of a key whose value is a text.
func (g *Game) text(k Key) *[]byte {
	switch k {
	case KeyVersion:
		return &g.Version
	case KeyMap:
		return &g.Map
	case KeyMode:
		return &g.Mode
	case KeyRegion:
		return &g.Region
	case KeyTimeOfDay:
		return &g.TimeOfDay
	case KeyDescription:
		return &g.Description
	}
	panic("game: " + k.String() + " is no text")
}

// truth returns the field of a key whose value is true or false.
func (g *Game) truth(k Key) *bool {
	switch k {
	case KeyPVP:
		return &g.PVP
	case KeyPassword:
		return &g.Password
	case KeyModded:
		return &g.Modded
	case KeyAnticheat:
		return &g.Anticheat
	}
	panic("game: " + k.String() + " is neither true nor false")
}
