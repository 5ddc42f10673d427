package census

import (
	"net/netip"
	"time"
)

// Server holds the values of one record that this package needs. Its byte slices
// may alias the record: they are valid until the function that receives the Server
// returns.
type Server struct {
	Addr   netip.AddrPort // invalid if the record has none
	Time   time.Time      // zero: unknown
	Scan   []byte
	Status string // the record's word

	Game     string // Group.ID of the game; "" if nothing is known
	GameName []byte // the proper name of a known game, else what INFO says
	Name     []byte
	Map      []byte // from the record's game object if it is there, else INFO's; Version too
	Version  []byte
	Mode     []byte
	System   []byte // linux, windows, mac, or another byte in hex: 0x6f
	Country  []byte
	ASN      uint32 // 0: unknown
	Org      []byte
	SteamID  uint64

	People, Bots, MaxPlayers uint32
	RTT                      time.Duration // of the first question; 0: unknown
	Password                 bool

	HasInfo bool     // INFO was answered; if not, the fields that come from it are empty
	Flags   []string // the record's words

	seen
}

// seen holds the values of a record that the exported fields of a Server do not
// hold.
type seen struct {
	at     int64 // Unix time in milliseconds
	status status

	has     facts
	open    questions // answered, in part at least, without a challenge
	errors  [numQuestions]uint8
	flags   uint16
	pvp     bool
	nameHex []byte

	app        uint32
	folder     []byte
	gameText   []byte // INFO's
	goldsource bool

	players uint64 // hash of the list of players, if it is not empty
	rules   uint64 // hash of the rules that are not volatile
	mods    uint64 // hash
	source  modSource
}

// facts is a set of bits: what is known about a server, and where it came from.
type facts uint32

const (
	hasName facts = 1 << iota
	hasMap
	hasVersion
	hasCapacity
	hasMode
	hasPVP
	hasRules // completely
	hasMods  // a list
	hasGame  // the record has an object game
	hasSystem
	hasPeople
	answeredInfo // completely
	answeredPlayers
	hasMeaning // the record is of a version that has game and flags
	ownMap     // the game's own, not INFO's
	ownVersion
	ownCapacity
	ownPeople
	hasInfo // in part at least
	hasPassword
)

// modSource says which part of the replies lists the mods.
type modSource uint8

const (
	modsUnknown modSource = iota
	modsInKeywords
	modsInRules
)

// questions is a set of questions.
type questions uint8

const (
	questionInfo = iota
	questionPlayers
	questionRules
	numQuestions
)

var questionWords = [numQuestions]string{"info", "players", "rules"}

// status says how a server answered.
type status uint8

const (
	statusUnknown status = iota
	statusUnreachable
	statusNoReply
	statusError
	statusPartial
	statusOK
	numStatuses
)

var statusWords = [numStatuses]string{"", "unreachable", "no_reply", "error", "partial", "ok"}

// answered reports whether there was any reply.
func (s status) answered() bool { return s >= statusError }

// Answered reports whether the server sent any reply. It depends on Status alone, so it
// also works for a Server that another package made.
func (s *Server) Answered() bool { return parseStatus(s.Status).answered() }
