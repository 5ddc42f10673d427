package census

import (
	"net/netip"
	"time"
)

// Server is what one record says, as far as this package needs it. Texts alias the
// record: they are valid until the function that was given the Server returns.
type Server struct {
	Addr   netip.AddrPort // not valid: a record without an address
	Time   time.Time      // zero: unknown
	Scan   []byte
	Status string // the record's word

	Game     string // Group.ID of the game; "" if nothing is known
	GameName []byte // of a known game its proper name, else what INFO says
	Name     []byte
	Map      []byte // the game's own where it says so, else INFO's; Version alike
	Version  []byte
	Mode     []byte
	System   []byte // linux, windows, mac, or the byte
	Country  []byte
	ASN      uint32 // 0: unknown
	Org      []byte
	SteamID  uint64

	People, Bots, MaxPlayers uint32
	RTT                      time.Duration // of the first question; 0: unknown
	Password                 bool

	HasInfo bool     // INFO was answered; else the fields that come from it are empty
	Flags   []string // words
}

// Answered reports whether the server sent any reply.
func (s *Server) Answered() bool { return s.Status != "no_reply" && s.Status != "unreachable" }
