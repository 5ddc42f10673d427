package master

import "net/netip"

// Server is one entry of a master's list. Over UDP it is only an address. The Web
// API may omit any other field; Has tells which fields are set.
type Server struct {
	Addr netip.AddrPort // the query address
	Has  Fields         // the fields below that the master sent

	Name       string // of the server; this and all texts here are hostile
	Map        string // current map
	GameDir    string // folder of the game or mod
	Product    string // the name of the game
	Version    string // of the game
	GameType   string // keywords
	OS         string // "l" Linux, "w" Windows
	SteamID    uint64 // of the server
	AppID      uint32 // Steam application ID of the game
	GamePort   uint32 // where players join; an unchecked port
	SpecPort   uint32 // SourceTV; 0 while the server hibernates
	Region     int32  // as Region; -1 and 255 mean World
	Players    int32  // not wrapped at 256, as in A2S
	MaxPlayers int32  // places for players
	Bots       int32  // as the master counts them
	GMSIndex   int32  // of GetServersAtAddress, usually -1
	Secure     bool   // with an anti-cheat system
	Dedicated  bool   // not a listen server
	LAN        bool   // of GetServersAtAddress
}

// Fields is a set of fields of a Server.
type Fields uint32

// The fields of a Server.
const (
	HasName Fields = 1 << iota
	HasMap
	HasGameDir
	HasProduct
	HasVersion
	HasGameType
	HasOS
	HasSteamID
	HasAppID
	HasGamePort
	HasSpecPort
	HasRegion
	HasPlayers
	HasMaxPlayers
	HasBots
	HasGMSIndex
	HasSecure
	HasDedicated
	HasLAN
)

// Reason says why an address in a master's list can't be queried.
type Reason uint8

// The reasons.
const (
	Scannable   Reason = iota // none: the address can be queried
	Relay                     // an address of Steam's relays (EC-126)
	NoAddress                 // 0.0.0.0
	NoPort                    // port 0
	numReasons  = iota
	relayPrefix = "169.254.0.0/16"
)

var reasonTexts = [numReasons]string{
	Scannable: "",
	Relay:     relayPrefix + ", an address of Steam's relays",
	NoAddress: "0.0.0.0, which is no address",
	NoPort:    "port 0",
}

// String describes the reason; it is empty for Scannable.
func (r Reason) String() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return "unknown"
}

var relays = netip.MustParsePrefix(relayPrefix)

// Unscannable returns why the server's address can't be queried.
func (s *Server) Unscannable() Reason {
	switch {
	case s.Addr.Addr().IsUnspecified():
		return NoAddress
	case s.Addr.Port() == 0:
		return NoPort
	case relays.Contains(s.Addr.Addr()):
		return Relay
	}
	return Scannable
}
