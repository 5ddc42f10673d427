package game

import "github.com/a2sscan/a2sscan/wire"

// vector is a reply and what must be read in it. The application, and what else
// find needs, is added to its info.
type vector struct {
	info     wire.Info
	keywords string
	rules    []string // name, value, name, value …
	want     string   // a line for each value, as the tests print a Game
}

// These make the INFO of a vector, where it matters.

func wireInfo(players, maxPlayers uint8) wire.Info {
	return wire.Info{Players: players, MaxPlayers: maxPlayers, Has: wire.HasPlayers | wire.HasMaxPlayers}
}

func wireNamed(name string) wire.Info {
	return wire.Info{Name: []byte(name), Has: wire.HasName}
}

func wireMap(name string) wire.Info {
	return wire.Info{Map: []byte(name), Has: wire.HasMap}
}

func wireGame(name string) wire.Info {
	return wire.Info{Game: []byte(name), Has: wire.HasGame}
}

func wireVersion(version string) wire.Info {
	return wire.Info{Version: []byte(version), Has: wire.HasVersion}
}
