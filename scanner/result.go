package scanner

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Status says whether a server answered all questions that it was asked, some of them, or
// none.
type Status uint8

// The statuses of a target that was queried. String returns the words used in records.
const (
	StatusOK      Status = iota + 1 // every question has a complete answer
	StatusPartial                   // some questions have an answer, or part of one
	// StatusError means that the server sent something but no usable answer, or that a
	// fault of this machine prevented the query.
	StatusError
	StatusNoReply     // nothing came
	StatusUnreachable // ICMP reported the target as unreachable, and nothing else came

	NumStatuses = iota + 1 // the number of statuses, including the zero value
)

var statusWords = [NumStatuses]string{"", "ok", "partial", "error", "no_reply", "unreachable"}

// String returns the word for s in records.
func (s Status) String() string {
	if int(s) < len(statusWords) {
		return statusWords[s]
	}
	return "unknown"
}

// Result is what one target answered. All its slices belong to the scanner and are
// valid until the function that received the Result returns; use Clone to keep
// them.
type Result struct {
	Addr netip.AddrPort // the server
	Tag  string         // the text after the address in its input line
	// Master is Target.Master: the master server's data about the server, a JSON
	// object; "": none.
	Master string
	Geo    Geo // empty; the caller's function may fill it in

	// Time is when the first reply came or, without a reply, when the target was finished.
	Time   time.Time
	Status Status // how much was answered
	// Err has, for each question, the reason why there is no complete answer. It is zero if
	// there is a complete answer or the question was not asked.
	Err     [wire.NumQuestions]wire.Error
	Notes   wire.Notes // oddities of the answers
	Message []byte     // text of a KindBanned, KindLimited or KindRedirect message (package wire)
	// RTT is the round trip of the first question that was asked once and answered; 0:
	// there was none.
	RTT time.Duration
	// RTTs are the round trips of the questions that were asked once and answered; 0: not
	// known. Those of 10 ms or more are truncated to tenths of a millisecond.
	RTTs [wire.NumQuestions]time.Duration
	Took time.Duration // time from the first datagram sent to the last one sent or received
	// Attempt is the number, from 1, of the last attempt before the first reply; 0: no reply
	// came.
	Attempt   uint8
	Sent      uint32         // datagrams sent to this target
	Received  uint32         // datagrams matched to this target
	SentBytes uint64         // UDP payload
	RecvBytes uint64         // UDP payload
	Asked     wire.Questions // the questions that the scan had for this target, including ping
	// Unchallenged are the questions for which a request without a challenge got an answer
	// or part of one.
	Unchallenged wire.Questions

	// Challenge is the challenge that the server gave last, or that it accepted from
	// Target.Challenge; 0: none.
	Challenge uint32

	HasInfo bool      // INFO was answered, at least in part; Info.Has names the fields that are set
	Info    wire.Info // zero if INFO has no answer

	HasPlayers       bool          // PLAYER was answered; Players may be empty
	Players          []wire.Player // the complete entries, in the server's order
	PlayersAnnounced int           // the announced count if it is wrong, else -1

	HasRules       bool        // RULES was answered; Rules may be empty
	Rules          []wire.Rule // the complete entries, in the server's order
	RulesAnnounced int         // the announced count if it is wrong, else -1
	RulesDistinct  bool        // no name in Rules occurs twice; also false if this is unknown

	HasPing bool          // a ping was answered
	Ping    []byte        // the text of the answer; usually empty
	PingRTT time.Duration // round trip of the ping; 0: not known, as in a capture

	// PlayersHash is the 64-bit xxHash of the answer to PLAYER, reassembled and unpacked.
	// Two servers with equal hashes sent the same list, which is suspicious. PlayersHash is
	// 0 if fragments of the answer are missing, or if the list is empty, because all empty
	// lists are alike.
	PlayersHash uint64

	// Game is what the answers mean in the game's terms; nil: package game found nothing.
	Game  *game.Game
	Flags game.Flags // what is suspicious about the answers

	Raw [][]byte // with Config.Raw: every matched datagram, in order of arrival
}

// Answered reports whether the server sent any reply.
func (r *Result) Answered() bool {
	return r.Status <= StatusPartial || r.Status == StatusError && r.Received > 0
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

// Geo is the location and the owner of an address, from a database. A scan does not
// fill it in; the function that receives the Results may. Zero fields are unknown. The
// strings come from the database and are as untrusted as those of servers.
type Geo struct {
	Continent string // AF, AN, AS, EU, NA, OC or SA
	Country   string // two capital letters (ISO 3166-1); package sink writes no other values
	Region    string // largest division of the country, such as a state or a province
	City      string // name in English, if the database has one
	ASN       uint32 // number of the autonomous system that announces the address
	Org       string // owner of the autonomous system
}
