package game

import "github.com/a2sscan/a2sscan/wire"

// vector is a reply and the values that Decode must read from it. The tests add to
// info what find needs: the format, the application ID and the folder.
type vector struct {
	info     wire.Info
	keywords string
	rules    []string // name, value, name, value …
	want     string   // the Game in the format of dump, a function of the tests
}

// These functions return the INFO of vectors that depend on it.

func wireInfo(players, maxPlayers uint32) wire.Info {
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
