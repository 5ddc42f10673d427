package game

import (
	"bytes"
	"slices"

	"github.com/a2sscan/a2sscan/wire"
)

// Reply is what one server answered, as package wire decoded it.
type Reply struct {
	Info    *wire.Info    // nil: INFO was not answered
	Players []wire.Player // the player list, without an incomplete player at its end
	Rules   []wire.Rule

	HasPlayers bool   // PLAYER was answered, perhaps with an empty list
	PlayersCut bool   // players at the end of the list are missing
	Redirect   []byte // the text of a KindRedirect message (EC-140)
}

// Key names one of the common values, which mean the same in every game.
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

// String returns the word that records use for k.
func (k Key) String() string { return keyWords[k] }

// Keys is a set of common keys.
type Keys uint32

// Has reports whether k is in the set.
func (s Keys) Has(k Key) bool { return s&(1<<k) != 0 }

// Game holds the game-specific values of a reply. Has contains the common keys whose
// values the server sent. The fields of all other common keys are not valid. If Password
// would only repeat INFO's value, Has does not contain KeyPassword.
//
// Byte slices alias the reply, memory of the Game that the next Decode reuses, or
// constants. They must not be changed. To keep them, use Clone.
type Game struct {
	ID   string // stable; empty if no table matches the game
	Name string // full name, such as "Team Fortress 2"
	Has  Keys   // the common keys whose fields are valid

	Players    int   // people in the game, as the game counts them
	MaxPlayers int   // player slots
	Queue      int   // people who wait for a slot
	Bots       int   // players that are programs
	Day        int   // day in the game's calendar
	Started    int64 // Unix time at which the world began

	Version     []byte
	Map         []byte
	Mode        []byte // in the game's words
	Region      []byte // as the server claims
	TimeOfDay   []byte // in the game's world
	Description []byte // may contain control characters

	PVP       bool // players may fight each other
	Password  bool // players need a password
	Modded    bool // the server declares itself modded
	Anticheat bool // the server uses an anti-cheat system other than VAC, which INFO reports

	Mods       []Mod       // in the server's order
	Attributes []Attribute // the game's other values, sorted by name
	Notes      Notes       // things that Decode did not understand

	// Sources has the source of each common key: "info", "keywords" or "rules", then a
	// full stop and the name of the field, tag or rule. In the name, N stands for the
	// numbers of several rules. "keywords" alone means that the value is a complete tag or
	// all keywords together, and "rules.pages" means the binary pages of Arma 3 and DayZ.
	// The source of a key that is not in Has is empty.
	Sources [NumKeys]string

	dec *decoder
}

// Mod is a mod that a server runs. Fields that the game does not send are empty.
type Mod struct {
	ID   []byte // mostly a Steam Workshop item ID
	Name []byte // as the server calls it
	Hash []byte // in hexadecimal digits
	// If true, this is not a mod but a Creator DLC of Arma 3, and ID is its application ID.
	CreatorDLC bool
}

// Attribute is a value that not every game has. Each game has a fixed set of names.
type Attribute struct {
	Name   string
	Value  []byte // as sent, or the meaning of a tag or binary field
	Source string // as in Game.Sources
}

// Clone returns a copy of g that shares no memory with the reply or with g.
func (g *Game) Clone() *Game {
	c := *g
	c.dec = nil
	for k := range Key(NumKeys) {
		if b, isText := fields[k](&c).(*[]byte); isText {
			*b = bytes.Clone(*b)
		}
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

// fields has the field of each common key.
var fields = [NumKeys]func(g *Game) any{
	KeyPlayers:     func(g *Game) any { return &g.Players },
	KeyMaxPlayers:  func(g *Game) any { return &g.MaxPlayers },
	KeyQueue:       func(g *Game) any { return &g.Queue },
	KeyBots:        func(g *Game) any { return &g.Bots },
	KeyVersion:     func(g *Game) any { return &g.Version },
	KeyMap:         func(g *Game) any { return &g.Map },
	KeyMode:        func(g *Game) any { return &g.Mode },
	KeyRegion:      func(g *Game) any { return &g.Region },
	KeyPVP:         func(g *Game) any { return &g.PVP },
	KeyPassword:    func(g *Game) any { return &g.Password },
	KeyModded:      func(g *Game) any { return &g.Modded },
	KeyAnticheat:   func(g *Game) any { return &g.Anticheat },
	KeyStarted:     func(g *Game) any { return &g.Started },
	KeyTimeOfDay:   func(g *Game) any { return &g.TimeOfDay },
	KeyDay:         func(g *Game) any { return &g.Day },
	KeyMods:        func(g *Game) any { return &g.Mods },
	KeyDescription: func(g *Game) any { return &g.Description },
}
