package wire

// Question names a request that a client can send to a server. The answers to the first
// three questions determine the status of the server's record, which is its line in a
// scan's output. The other two questions are optional.
type Question uint8

// The questions, in the order in which records list them.
const (
	QuestionInfo Question = iota
	QuestionPlayers
	QuestionRules

	NumQuestions = iota // the number of questions that determine the status

	QuestionPing      Question = iota - 1 // A2A_PING
	QuestionChallenge                     // A2S_SERVERQUERY_GETCHALLENGE

	NumRequests = iota - 1 // the number of all questions
)

var questionWords = [...]string{"info", "players", "rules", "ping", "challenge"}

// String returns the word for q: info, players, rules, ping or challenge.
func (q Question) String() string { return questionWords[q] }

// Challenge is the number that a server requires in a request before it answers: four
// bytes in little-endian order.
type Challenge uint32

// NoChallenge is the value -1. A PLAYER or RULES request with this value asks the server
// for a challenge. An INFO request with NoChallenge has no challenge field (document 000).
const NoChallenge Challenge = 0xFFFFFFFF

// Kind is the type byte of a message.
type Kind byte

// The type bytes of requests and replies. The protocol defines these values; they
// must not be changed.
const (
	KindInfoRequest      Kind = 'T'
	KindPlayersRequest   Kind = 'U'
	KindRulesRequest     Kind = 'V'
	KindChallengeRequest Kind = 'W' // A2S_SERVERQUERY_GETCHALLENGE; most servers ignore it (EC-18)
	KindPingRequest      Kind = 'i'

	KindInfo       Kind = 'I'
	KindGoldSource Kind = 'm' // the obsolete INFO reply
	KindPlayers    Kind = 'D'
	KindRules      Kind = 'E'
	KindChallenge  Kind = 'A'
	KindPing       Kind = 'j'
	KindBanned     Kind = 'l' // followed by a string (EC-22)
	KindLimited    Kind = 'X' // followed by a string (EC-21)
	KindRedirect   Kind = '9' // followed by the address of another server (EC-140)
)

// Format is the format of an INFO reply.
type Format uint8

// The formats of an INFO reply. Records call them "source" and "goldsource".
const (
	FormatSource     Format = iota + 1 // 'I'
	FormatGoldSource                   // 'm'
)

// Fields is a set of fields of an Info. The fields in Info.Has are complete, except that
// the version may be cut off by the end of the reply (EC-136).
type Fields uint64

// The fields of an INFO reply. HasMod stands for the complete mod block, HasShip for
// all three fields of The Ship, and HasSourceTV for both port and name.
const (
	HasProtocol Fields = 1 << iota
	HasName
	HasMap
	HasFolder
	HasGame
	HasAppID
	HasPlayers
	HasMaxPlayers
	HasBots
	HasServerType
	HasEnvironment
	HasPassword
	HasVAC
	HasShip
	HasVersion
	HasEDF
	HasGamePort
	HasSteamID
	HasSourceTV
	HasKeywords
	HasGameID
	HasAddress
	HasMod

	hasAll = 1<<iota - 1
)

// Info is an INFO reply of either format. Its byte slices alias the message that
// was decoded.
type Info struct {
	Has    Fields // which of the fields below were read
	Notes  Notes  // oddities of the answer
	Format Format // zero if the message is not an INFO reply

	Protocol uint8 // version of the game's protocol
	// Number of players: modulo 256 on some games (EC-36), and sometimes more than
	// MaxPlayers. Players and MaxPlayers are single bytes in a reply, except in the reply
	// of a large HLTV relay (EC-146).
	Players    uint32
	MaxPlayers uint32 // player slots
	// Number of bots. Some games count bots among Players, others do not.
	Bots        uint8
	ServerType  byte  // see the function ServerType (EC-32, EC-150)
	Environment byte  // see the function Environment (EC-32)
	Password    uint8 // 0 means no, any other value yes (EC-35)
	VAC         uint8 // 0 means no, any other value yes (EC-35)
	EDF         uint8 // extra data flag
	// The 16-bit application ID: 0 or truncated if the real ID is above 65535 (EC-25).
	// The method AppID prefers the game ID.
	ShortAppID uint16
	GamePort   uint16 // port at which players join
	SteamID    uint64
	GameID     uint64 // its low 24 bits are the application ID (EC-25)

	Name    []byte // name chosen by the owner
	Map     []byte
	Folder  []byte // folder of the game, such as "tf"
	Game    []byte // name of the game; some servers send other text
	Version []byte

	// Keywords, usually separated by commas; some games put their own data here.
	Keywords []byte
	SourceTV SourceTV
	Ship     Ship // set only for servers of The Ship (IsShip)

	// The address that a GoldSource server believes to be its own.
	Address []byte
	Mod     Mod // set only for GoldSource servers
}

// AppID returns the Steam application ID: the low 24 bits of the game ID if the
// reply has one and they are not zero, else the 16-bit ID (EC-25, EC-26). It
// reports false if the reply holds neither.
func (in *Info) AppID() (uint32, bool) {
	if in.Has&HasGameID != 0 {
		if id := uint32(in.GameID & 0xFFFFFF); id != 0 {
			return id, true
		}
	}
	return uint32(in.ShortAppID), in.Has&HasAppID != 0
}

// SourceTV is the spectator relay that an INFO reply announces.
type SourceTV struct {
	Port uint16
	Name []byte
}

// Ship holds the fields that INFO has only on servers of The Ship.
type Ship struct {
	// Game mode: 0 Hunt, 1 Elimination, 2 Duel, 3 Deathmatch, 4 VIP Team, 5 Team
	// Elimination.
	Mode      uint8
	Witnesses uint8 // number of witnesses needed to have a player arrested
	Duration  uint8 // seconds until a witnessed player is arrested
}

// Mod is the mod block of a GoldSource INFO reply.
type Mod struct {
	URL         []byte
	DownloadURL []byte
	Version     uint32
	Size        uint32 // bytes
	Type        uint8  // 0 single and multiplayer, 1 multiplayer only
	DLL         uint8  // 0 Half-Life's own, 1 the mod's own
}

// Player is one player of a PLAYER reply. Name aliases the message.
type Player struct {
	Name     []byte  // empty for all players of many games (EC-79)
	Index    uint8   // always 0 on many games (EC-77)
	Score    int32   // may be negative (EC-87)
	Duration float32 // seconds connected; -1 for some bots (EC-76), may be NaN (EC-89)
	Ship     bool    // whether the reply has Deaths and Money
	Deaths   int32   // only on The Ship
	Money    int32   // only on The Ship
}

// Rule is one name and value of a RULES reply. Both slices alias the message.
type Rule struct {
	Name  []byte
	Value []byte
}

// Notes is a set of oddities found in an answer. An answer with notes may be complete or
// truncated.
type Notes uint32

// The notes. NoteWord returns the words that records use for them.
const (
	NoteInfoTrailing     Notes = 1 << iota // bytes after the last field (EC-30)
	NoteInfoOddBoolean                     // password or VAC is neither 0 nor 1 (EC-35)
	NoteInfoNoModBlock                     // the mod flag is set, but there is no mod block (EC-67, EC-137)
	NotePlayersCount                       // the number of players differs from the count byte (EC-81, EC-82)
	NotePlayersNonFinite                   // a duration is NaN or infinite (EC-89)
	NotePlayersTrailing                    // bytes after the last player
	NoteRulesCount                         // the number of rules differs from the announced count (EC-94)
	NoteRulesDuplicate                     // a name occurs more than once (EC-97)
	NoteRulesEmptyName                     // a rule without a name (EC-96)
	NoteHeaderMissing                      // a split reply without FF FF FF FF (EC-113)
	NoteHeaderTwice                        // a reply with FF FF FF FF twice (EC-114)
	// The reply ends before the game ID, so the application ID may be only the low 16 bits of
	// the real one (EC-145).
	NoteInfoShortAppID

	NumNotes = iota // the number of notes
)

var noteWords = [NumNotes]string{
	"info.trailing",
	"info.odd_boolean",
	"info.no_mod_block",
	"players.count",
	"players.non_finite",
	"players.trailing",
	"rules.count",
	"rules.duplicate",
	"rules.empty_name",
	"header.missing",
	"header.twice",
	"info.short_app_id",
}

// NoteWord returns the word that records use for the note 1<<i. i must be from 0 to
// NumNotes-1.
func NoteWord(i int) string { return noteWords[i] }
