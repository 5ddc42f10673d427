package game

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// Flags is a set of findings about one reply. An honest server is unlikely to cause
// them. A flag is evidence, not a verdict: FlagRules lists the innocent causes of each
// flag.
type Flags uint16

// The flags. Their words in records are stable.
const (
	FlagPlayersOverMax Flags = 1 << iota
	FlagCountMismatch
	FlagEqualDurations
	FlagTinyDurations
	FlagReplyFlood
	FlagNoGSLT
	FlagRedirect
	FlagEdgeAnswers
	FlagConflict
	FlagPlayersOverGame
)

// DoubtfulPeople are the flags that contradict the number or the list of a server's players.
// The other flags say that a server answers in an unusual way.
const DoubtfulPeople = FlagPlayersOverMax | FlagCountMismatch | FlagEqualDurations | FlagTinyDurations | FlagPlayersOverGame

// FlagRule describes a flag. It is one row of FlagRules.
type FlagRule struct {
	Word string // the word that records use for the flag
	// Rule says when Suspect sets the flag. init replaces the names Least, Percent and
	// Time in this text with the values of these fields.
	Rule     string
	Innocent string // innocent causes
	Source   string // where the rule comes from

	Least   int           // threshold: a minimum number
	Percent int           // threshold: a percentage
	Time    time.Duration // threshold: a duration
}

func init() {
	for i := range FlagRules {
		r := &FlagRules[i]
		r.Rule = strings.NewReplacer("Least", strconv.Itoa(r.Least), "Percent", strconv.Itoa(r.Percent)+"%",
			"Time", fmt.Sprintf("%g s", r.Time.Seconds())).Replace(r.Rule)
	}
}

// Words returns the words that records use for the flags in s.
func (s Flags) Words() (words []string) {
	for i := range FlagRules {
		if s&(1<<i) != 0 {
			words = append(words, FlagRules[i].Word)
		}
	}
	return words
}

func (s Flags) rule() *FlagRule { return &FlagRules[bits.TrailingZeros16(uint16(s))] }

// FlagRules holds the rule of each flag, with its thresholds, in the order of the
// flags' bits.
var FlagRules = [...]FlagRule{
	{
		Word: "players_over_max",
		Rule: "more people than slots, by at least Least and by more than Percent of the slots; " +
			"bots do not count if they are known to be among INFO's players; " +
			"the game's own counts replace INFO's counts",
		Innocent: "reserved slots and spectators, such as 65 of 64 in Rising Storm 2, 70 of 64 in Red Orchestra 2, " +
			"102 of 100 in Hell Let Loose; 112 of 80 in Squad and Post Scriptum, which are checked only " +
			"if their rules have a count; sv_visiblemaxplayers below the real number of slots; " +
			"bots without slots, if neither the player list nor the game shows that INFO counts them",
		Source: "EC-36, EC-60; heuristics of server browsers",
		Least:  3, Percent: 10,
	},
	{
		Word: "count_mismatch",
		Rule: "the length of the player list differs from INFO's count, and from the game's own count if there is one; " +
			"each difference, without the bots, is at least Least and more than Percent of the larger of the two numbers",
		Innocent: "cached player lists. The flag is not set for games without player lists (Conan, DayZ, Battalion 1944, Mordhau, Days of War) " +
			"or games that list ghosts (Squad, Post Scriptum, ARK), nor if INFO says 0 of 0 players and the game has no count of its own (Sandstorm), " +
			"nor if the list has a single player named \"Max Players\" (CS2 and CS:GO)",
		Source: "spoofspy gives a difference of 12 the score 0.2, and a difference of 64 the score 1; gamedig's issue 440: 120 players and an empty list; EC-83",
		Least:  12, Percent: 25,
	},
	{
		Word:     "equal_durations",
		Rule:     "at least Least players, not counting bots, all connected for exactly the same time, which is longer than Time",
		Innocent: "bots that the server adds when it starts; a new map, but then the times are short",
		Source:   "Valve's halflife issue 2064",
		Least:    8, Time: 10 * time.Minute,
	},
	{
		Word:     "tiny_durations",
		Rule:     "Least or more players with the duration 00 00 00 01 (2.35e-38 s), score 0, no name and index 0",
		Innocent: "none known for this duration",
		Source:   "a known program that fakes players writes this duration",
		Least:    1,
	},
	{
		Word:     "reply_flood",
		Rule:     "at least Least INFO replies for each INFO request",
		Innocent: "none known; a network that duplicates datagrams adds only a few replies, not this many",
		Source:   "garrysmod-issues 6403 and 6503, where servers send thousands of replies",
		Least:    100,
	},
	{
		Word: "no_gslt",
		Rule: "the server runs Counter-Strike 2, or CS:GO from version 1.Least, but its Steam ID " +
			"does not belong to a persistent game server account",
		Innocent: "a server for a local network; older versions, and all of Counter-Strike 1.6, need no account",
		Source:   "fakeservers.link; the Steam ID of a persistent account has account type 3",
		Least:    36,
	},
	{
		Word:     "redirect",
		Rule:     "a reply of type '9' with ConnectRedirectAddress, or a tag that begins with dest=",
		Innocent: "a server that moved, and sends its players to the new address",
		Source:   "EC-23, EC-140; Valve's Source-1-Games issue 6038",
	},
	{
		Word: "edge_answers",
		Rule: "RULES takes at least Time longer than INFO, and at least Percent of INFO's round trip, " +
			"while PLAYER's round trip, if measured, is closer to INFO's than to RULES'",
		Innocent: "rules that take the server long to collect, or that arrive in many datagrams",
		Source:   "EC-143: caches at the edge of a network answer INFO and PLAYER, but not RULES",
		Percent:  300, Time: 60 * time.Millisecond,
	},
	{
		Word: "conflict",
		Rule: "a question was asked once and got two complete answers that differ, or two fragments of one reply contradict each other",
		Innocent: "the network duplicated the request, and the game changed between the two answers; the server reused a split ID, " +
			"or uses one split ID for all replies to simultaneous requests",
		Source: "fragments: EC-119; answers: a UDP source address is easily forged, and a server sends one reply to each request",
	},
	{
		Word:     "players_over_game",
		Rule:     "at least Least players in a Counter-Strike game, which has 64 slots at most",
		Innocent: "none known",
		Source:   "EC-36; heuristics of server browsers",
		Least:    65,
	},
}

// Facts are what the scanner measured about a server, as opposed to the contents of its
// replies. A round trip of zero means that it was not measured.
type Facts struct {
	InfoRTT    time.Duration // round-trip time of INFO
	PlayersRTT time.Duration // round-trip time of PLAYER
	RulesRTT   time.Duration // round-trip time of RULES

	InfoRequests int  // number of INFO requests sent
	InfoReplies  int  // number of INFO replies received
	Conflict     bool // an answer or a fragment contradicted an earlier one
}

// Suspect returns the flags of a reply. g must be the result of Decode for this reply.
func Suspect(in Reply, g *Game, facts Facts) (s Flags) {
	if in.Info != nil {
		s.judgeCounts(&in, g)
		s.judgeSteamID(in.Info, g)
	}
	s.judgeDurations(&in)
	redirect := len(in.Redirect) > 0 && bytes.Contains(in.Redirect, []byte("ConnectRedirectAddress:"))
	s.set(FlagRedirect, redirect || in.Info != nil && hasDestination(in.Info.Keywords))
	s.set(FlagReplyFlood, facts.InfoReplies >= FlagReplyFlood.rule().Least*max(facts.InfoRequests, 1))
	s.set(FlagConflict, facts.Conflict)

	info, players, rules := facts.InfoRTT, facts.PlayersRTT, facts.RulesRTT
	r := FlagEdgeAnswers.rule()
	late := info > 0 && rules > 0 && rules-info >= r.Time && rules*100 >= info*time.Duration(r.Percent)
	s.set(FlagEdgeAnswers, late && (players == 0 || players-info < rules-players))
	return s
}

func (s *Flags) set(f Flags, v bool) {
	if v {
		*s |= f
	}
}

// judgeCounts sets players_over_max, players_over_game and count_mismatch. It ignores
// relays, which count spectators (EC-33).
func (s *Flags) judgeCounts(in *Reply, g *Game) {
	i := in.Info
	info, own := -1, -1 // player counts of INFO and of the game; -1: none
	if i.Has&wire.HasPlayers != 0 {
		info = int(i.Players)
	}
	if g.Corrects(KeyPlayers) {
		own = g.Players
	}
	n := own
	if n < 0 {
		n = info
	}
	if n < 0 || i.IsRelay() {
		return
	}
	s.set(FlagPlayersOverMax, overMax(i, g, own >= 0))
	s.set(FlagPlayersOverGame, n >= FlagPlayersOverGame.rule().Least && slices.Contains(counterStrikes, g.ID))
	// If INFO says 0 of 0 players, that is not a count: some servers of Insurgency:
	// Sandstorm send these zeros and have the real counts in their rules.
	counted := own >= 0 || info > 0 || i.MaxPlayers > 0 || i.Has&wire.HasMaxPlayers == 0
	listed := len(in.Players)
	lies := slices.Contains(ghostly, g.ID) || listed == 0 && slices.Contains(unlisted, g.ID) ||
		// EC-85: an invented entry in place of a hidden list.
		listed == 1 && string(in.Players[0].Name) == "Max Players"
	if !counted || lies || !in.HasPlayers || in.PlayersCut {
		return
	}
	// The list's length must differ from both counts, because either count may lag behind.
	r := FlagCountMismatch.rule()
	for _, n := range [...]int{info, own} {
		larger := max(n, listed)
		diff := larger - min(n, listed) - bots(i)
		if n >= 0 && (diff < r.Least || diff*100 <= larger*r.Percent) {
			return
		}
	}
	// Above 255, INFO's count wraps around (EC-82).
	s.set(FlagCountMismatch, info < 0 || listed%256 != info)
}

// Games whose counts or lists differ from those of other games.
var (
	counterStrikes = []string{"cs16", "czero", "css", "csgo", "cs2"}

	// In these games, INFO or the list counts players who have left, or who hold a reserved
	// slot. Examples are 104 of 80 players, and a connection time of 140,000 seconds.
	ghostly = []string{"squad", "postscriptum", "ark"}

	// Servers of these games answer PLAYER with an empty list even if there are players.
	unlisted = []string{"conan", "dayz", "battalion1944", "mordhau", "daysofwar"}
)

// overMax reports whether the people exceed the slots by more than players_over_max
// allows. Bots may exceed the slots: in Mann vs. Machine, INFO may have 27 players, 6 slots
// and 25 bots, because two people fight against a wave of robots. The argument corrected
// says whether the number of people is the game's own count.
func overMax(in *wire.Info, g *Game, corrected bool) bool {
	places := int(in.MaxPlayers)
	if g.Has.Has(KeyMaxPlayers) {
		places = g.MaxPlayers
	}
	if places == 0 || in.Has&wire.HasMaxPlayers == 0 {
		return false
	}
	r := FlagPlayersOverMax.rule()
	over := g.People(in) - places
	return over >= r.Least && over*100 > places*r.Percent && (corrected || !slices.Contains(ghostly, g.ID))
}

func bots(in *wire.Info) int {
	if in == nil || in.Has&wire.HasBots == 0 {
		return 0
	}
	return int(in.Bots)
}

func (s *Flags) judgeSteamID(in *wire.Info, g *Game) {
	const persistentServer = 3
	const needed = wire.HasSteamID | wire.HasVersion
	isPersistent := in.Has&needed != needed || in.SteamID == 0 || in.SteamID>>52&0xF == persistentServer
	if isPersistent || g.ID != "cs2" && g.ID != "csgo" {
		return
	}
	minor, ok := minorVersion(in.Version)
	s.set(FlagNoGSLT, ok && minor >= FlagNoGSLT.rule().Least)
}

// tinyDuration has the bits of a duration whose bytes are 00 00 00 01.
const tinyDuration = 0x01000000

func (s *Flags) judgeDurations(in *Reply) {
	if len(in.Players) == 0 {
		return
	}
	tiny, differ := 0, uint32(0)
	first := math.Float32bits(in.Players[0].Duration)
	for i := range in.Players {
		p := &in.Players[i]
		duration := math.Float32bits(p.Duration)
		if duration == tinyDuration && p.Score == 0 && p.Index == 0 && len(p.Name) == 0 {
			tiny++
		}
		differ |= duration ^ first
	}
	s.set(FlagTinyDurations, tiny >= FlagTinyDurations.rule().Least)
	r := FlagEqualDurations.rule()
	long := float64(in.Players[0].Duration) > r.Time.Seconds()
	s.set(FlagEqualDurations, differ == 0 && long && len(in.Players)-bots(in.Info) >= r.Least)
}

// hasDestination reports whether a tag begins with dest=. Tags are separated by commas
// or, in Garry's Mod, by spaces.
func hasDestination(keywords []byte) bool {
	i := bytes.Index(keywords, []byte("dest="))
	return i == 0 || i > 0 && (bytes.Contains(keywords[i-1:], []byte(",dest=")) || bytes.Contains(keywords[i-1:], []byte(" dest=")))
}
