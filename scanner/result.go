package scanner

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Status summarises in one word how much of what it was asked a server answered.
type Status uint8

// The statuses of a target that was asked. String returns the words used in
// records.
const (
	StatusOK          Status = iota + 1 // all that was asked was answered whole
	StatusPartial                       // some of it
	StatusError                         // something came, and nothing of it could be used
	StatusNoReply                       // nothing came
	StatusUnreachable                   // ICMP reported it, and nothing else came

	NumStatuses = iota + 1 // how many there are, the zero value included
)

var statusWords = [NumStatuses]string{"", "ok", "partial", "error", "no_reply", "unreachable"}

// String returns the record's word for s.
func (s Status) String() string {
	if int(s) < len(statusWords) {
		return statusWords[s]
	}
	return "unknown"
}

// Questions is a set of questions.
type Questions uint8

// The sets of a single question, and AskAll, the three that make up a status. Ping
// is not part of it: it is sent once, after a server answered something else, and
// never affects the status.
const (
	AskInfo    = Questions(1 << wire.QuestionInfo)
	AskPlayers = Questions(1 << wire.QuestionPlayers)
	AskRules   = Questions(1 << wire.QuestionRules)
	AskAll     = AskInfo | AskPlayers | AskRules
	AskPing    = Questions(1 << wire.QuestionPing)
)

// Has reports whether q is in the set.
func (s Questions) Has(q wire.Question) bool { return s&(1<<q) != 0 }

// Result is what one target answered. All its slices belong to the scanner and are
// valid until the function that received the Result returns; use Clone to keep
// them.
type Result struct {
	Addr   netip.AddrPort // the server
	Tag    string         // what followed the address in its input line
	Master string         // Target.Master: the master server's data about it, a JSON object; "" none
	Geo    Geo            // empty: a handler may fill it in before it writes the Result

	Time   time.Time // when the first reply came, or when it was given up if none did
	Status Status    // how much was answered
	// Err says why a question has no complete answer. It is zero if there is one,
	// or if the question was not asked.
	Err          [wire.NumQuestions]wire.Error
	Notes        wire.Notes                       // oddities of whole answers
	Message      []byte                           // text of an 'l', 'X' or '9' reply
	RTT          time.Duration                    // send to reply of the first question asked once and answered; 0 if there was none
	RTTs         [wire.NumQuestions]time.Duration // of each question asked once and answered; 0: not known
	Took         time.Duration                    // first datagram to last
	Ask          uint8                            // how often it had been asked when the first reply came, 1 or more; 0: none came
	Sent         uint32                           // datagrams
	Received     uint32                           // datagrams matched to this target
	SentBytes    uint64                           // UDP payload
	RecvBytes    uint64                           // UDP payload
	Asked        Questions                        // what was asked, ping included
	Unchallenged Questions                        // answered, in part at least, to a request that bore no challenge

	HasInfo bool      // INFO was answered, at least in part; Info.Has says which fields
	Info    wire.Info // the zero value without an answer

	HasPlayers       bool          // PLAYER was answered; Players may be empty
	Players          []wire.Player // as many as were whole, in the server's order
	PlayersAnnounced int           // the count byte where it disagrees, else -1

	HasRules       bool        // RULES was answered; Rules may be empty
	Rules          []wire.Rule // as many as were whole, in the server's order
	RulesAnnounced int         // the count short where it disagrees, else -1
	RulesDistinct  bool        // no name among Rules occurs twice; false: unknown, or one does

	HasPing bool          // a ping was answered
	Ping    []byte        // the text of the answer; mostly empty
	PingRTT time.Duration // of the ping; 0: not known, as in a capture

	// Hashes are the 64-bit xxHashes of the answers' bytes as received, reassembled
	// and unpacked. A hash is 0 if there is no answer or fragments of it are
	// missing.
	Hashes [wire.NumQuestions]uint64

	Game  *game.Game // what the answers mean for the game; nil: nothing is known beyond Info
	Flags game.Flags // what is suspicious about the answers

	Raw [][]byte // with Config.Raw: every datagram matched, in order of arrival
}

// Clone returns a copy of r that shares no memory with the scanner.
func (r *Result) Clone() *Result {
	c := *r
	c.Message = bytes.Clone(r.Message)
	c.Ping = bytes.Clone(r.Ping)
	in := &c.Info
	for _, b := range []*[]byte{
		&in.Name, &in.Map, &in.Folder, &in.Game, &in.Version, &in.Keywords,
		&in.SourceTV.Name, &in.Address, &in.Mod.URL, &in.Mod.DownloadURL,
	} {
		*b = bytes.Clone(*b)
	}
	c.Players = slices.Clone(r.Players)
	for i := range c.Players {
		c.Players[i].Name = bytes.Clone(c.Players[i].Name)
	}
	c.Rules = slices.Clone(r.Rules)
	for i := range c.Rules {
		c.Rules[i].Name = bytes.Clone(c.Rules[i].Name)
		c.Rules[i].Value = bytes.Clone(c.Rules[i].Value)
	}
	if r.Game != nil {
		c.Game = r.Game.Clone()
	}
	c.Raw = slices.Clone(r.Raw)
	for i := range c.Raw {
		c.Raw[i] = bytes.Clone(c.Raw[i])
	}
	return &c
}
