package master

import "net/netip"

// Server is one entry of a master's list. A master server sends only the address.
// The Web API may omit any other field; Has is the set of fields that were sent.
type Server struct {
	Addr netip.AddrPort // the query address
	Has  Fields         // the fields below that the master sent

	Name       string // of the server; like all strings here, untrusted
	Map        string // current map
	GameDir    string // folder of the game or mod
	Product    string // name of the game
	Version    string // of the game
	GameType   string // keywords
	OS         string // "l" Linux, "w" Windows
	SteamID    uint64 // of the server
	AppID      uint32 // Steam application ID of the game
	GamePort   uint32 // port that players join; may be invalid
	SpecPort   uint32 // port of SourceTV; 0 while the server hibernates
	Region     int32  // as Region; -1 and 255 mean World
	Players    int32  // may exceed 255, where the number in A2S wraps around
	MaxPlayers int32  // player slots
	Bots       int32  // number of bots, as the master counts them
	GMSIndex   int32  // only from GetServersAtAddress; usually -1
	Secure     bool   // with an anti-cheat system
	Dedicated  bool   // not a listen server
	LAN        bool   // only from GetServersAtAddress
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

// Reason is the reason why an address in a master's list can't be queried.
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

// Unscannable returns the reason why the server's address can't be queried, or
// Scannable if it can be queried.
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
