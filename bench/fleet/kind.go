package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/wire"
)

// Kind is the engine that an honest server resembles, or the misbehaviour of a hostile
// server or of a faker's server.
//
// To add a kind, name it in a const block below, and describe it in kinds. If its replies
// differ in other ways from those of an ordinary server, change nature.fit and content.go
// for their contents, and responder.go, hostile.go or fakers.go for the rest. truth.go says
// what a perfect scan records: faults has the error of each question, tell handles an answer
// that is usable in part, and expect handles kinds without a record or with more flags.
//
// TestHostileFleet of package scanner then compares a scan of the new kind with the truth;
// for fakers, TestFleetOfGames does. TestGolden requires a datagram in goldens for each
// kind that TestGolden does not exempt. An honest kind with a weight, or a new hostile kind,
// changes the fleets of every seed.
type Kind uint8

// The honest kinds. Their servers answer like real servers, some of them oddly. An 'I' is
// an INFO reply of the Source format, and an 'm' is one of the GoldSource format.
const (
	Source          Kind = iota // modern Source; demands a challenge for all three questions (EC-1)
	SourceLists                 // demands a challenge for PLAYER and RULES only
	SourceOpen                  // demands no challenge at all (EC-4)
	Rechallenge                 // like Source, but the first challenge is valid only once (EC-2, EC-13)
	GoldSource                  // today's GoldSource: answers INFO with an 'I', and numbers the players from 1 (EC-78)
	GoldSourceOld               // answers INFO with an 'm' that has no mod block (EC-66)
	GoldSourceMod               // answers INFO with an 'm' that has a mod block
	Both                        // answers every INFO request with both an 'm' and an 'I' (EC-63)
	Ship                        // The Ship: three more bytes in INFO, deaths and money after the players
	Split                       // splits replies into Source fragments with a size field
	SplitNoSize                 // splits replies into Source fragments without a size field (EC-112)
	SplitGoldSource             // splits replies into GoldSource fragments (EC-118)
	Packed                      // compresses its rules with bzip2 (EC-95, EC-108)
	InfoOnly                    // answers neither PLAYER nor RULES (EC-86, EC-99)
	TruncatedRules              // its list of rules ends inside a rule (EC-92)
	Silent                      // a server that never answers
	OwnChallenge                // has a different challenge for each question; drops requests with a wrong challenge (EC-143)
	ShortChallenge              // challenges are valid for some seconds; drops requests with an old challenge (EC-14)
	GetChallenge                // answers PLAYER and RULES only with a challenge from GETCHALLENGE (EC-18)
	TrailingNUL                 // all requests except INFO must have an additional NUL (document 004)
	PlayersOnly                 // answers PLAYER and a ping, but neither INFO nor RULES
	Games                       // imitates a real game; the fleet knows what the replies mean: see gameServer

	numHonest = iota
)

// The hostile kinds. Their servers must not be able to stop a scan, to fill the scan's
// memory, or to make the scan record what they did not send.
const (
	EndlessChallenges Kind = numHonest + iota // answers every request with a new challenge
	FragmentsOfNone                           // fragments with a total of 0 (EC-120)
	FragmentsBeyond                           // fragment numbers at and above the total (EC-120)
	FragmentsDisagree                         // fragments of one reply with different totals
	OneSplitID                                // uses one split ID for two different replies
	DeclaresTwoGiB                            // compressed reply that declares a size of 2 GiB (EC-121)
	WrongChecksum                             // compressed reply with a wrong CRC-32
	Bomb                                      // compressed reply that grows to a hundred thousand times its size
	Noise                                     // random bytes marked as bzip2
	Tiny                                      // datagrams of 1 to 8 bytes (EC-8, EC-56)
	Huge                                      // INFO reply of 65,507 bytes that ends inside a string
	Flood64K                                  // answers every request with about 64 KiB of honest data (EC-53)
	FragmentFlood                             // fragments with random IDs, and never a complete reply
	OtherPort                                 // replies from a port that was not queried
	OtherAddress                              // replies from an address that was not queried (EC-127)
	Unterminated                              // INFO reply without a NUL
	Ghosts                                    // 255 players announced, none listed
	EndlessRules                              // 60 KiB of rules without a NUL
	ReplyStorm                                // thousands of replies to one INFO request
	Escapes                                   // escape sequences in every name

	firstFaker = numHonest + iota
)

// The kinds of fakers' servers. A faker has farmSize servers of one kind. They answer
// like servers of real games, but their answers are false.
const (
	FarmList       Kind = firstFaker + iota // all servers of the faker send the same PLAYER reply, byte for byte
	FarmClones                              // all servers of the faker have the same game, name, map and capacity
	CountsOnly                              // INFO counts players, but the list of players is empty
	TinyDurations                           // players whose duration is the bytes 00 00 00 01
	EqualDurations                          // all players have been connected for the same long time
	OverMax                                 // more players than slots
	NoGSLT                                  // a Steam ID that does not belong to a server account
	Redirects                               // keywords that send players to another server
	EdgeCache                               // an edge server answers INFO and PLAYER, a distant server answers RULES
	InfoFlood                               // hundreds of replies to one INFO request

	numKinds = firstFaker + iota
)

// kinds describes each kind.
var kinds = [numKinds]struct {
	word string // the word that command-line flags use
	// Weight of an honest kind, in thousandths of a usual fleet; 0 means that only a fleet
	// that names the kind has it. The weights are roughly the shares in a census of the real
	// world, but rare kinds have larger weights, so that a small fleet has all of them.
	weight int
	games  Kind // the kind in simple.txt whose games the servers run
	pings  bool // the servers answer a ping, as GoldSource does
	// The questions for which a server demands a challenge: one of these sets, at random;
	// nil means demandsModern.
	demands []wire.Questions
	layouts []fragments // if the servers split replies: one of these, at random
	quirks  quirk       // the quirks that the servers may have
}{
	Source:          {word: "source", weight: 380, demands: demandsAll, quirks: allQuirks | quirkZero},
	SourceLists:     {word: "source-lists", weight: 150, demands: demandsLists, quirks: allQuirks | quirkZero},
	SourceOpen:      {word: "source-open", weight: 60, demands: demandsNone, quirks: allQuirks},
	Rechallenge:     {word: "rechallenge", weight: 30, demands: demandsAll, quirks: allQuirks},
	GoldSource:      {word: "goldsource", weight: 80, games: GoldSource, pings: true, demands: demandsOld, quirks: goldQuirks | quirkNoEDF},
	GoldSourceOld:   {word: "goldsource-old", weight: 25, games: GoldSource, pings: true, demands: demandsOld, quirks: goldQuirks},
	GoldSourceMod:   {word: "goldsource-mod", weight: 25, games: GoldSource, pings: true, demands: demandsOld, quirks: goldQuirks},
	Both:            {word: "both", weight: 20, games: GoldSource, pings: true, demands: demandsOld, quirks: listQuirks},
	Ship:            {word: "ship", weight: 15, games: Ship, quirks: quirkZero | quirkRulesTwice},
	Split:           {word: "split", weight: 60, games: Split, layouts: usualSplit, quirks: allQuirks},
	SplitNoSize:     {word: "split-nosize", weight: 25, games: SplitNoSize, layouts: packedSplit[1:], quirks: listQuirks},
	SplitGoldSource: {word: "split-goldsource", weight: 30, games: GoldSource, layouts: goldSplit, quirks: listQuirks},
	Packed:          {word: "bzip2", weight: 25, games: Packed, layouts: packedSplit, quirks: sourceQuirks | quirkPlayersCount},
	InfoOnly:        {word: "info-only", weight: 45, games: InfoOnly, quirks: sourceQuirks | quirkZero},
	TruncatedRules:  {word: "truncated-rules", weight: 15, quirks: sourceQuirks | quirkPlayersCount},
	Silent:          {word: "silent", weight: 15},
	OwnChallenge:    {word: "own-challenge", demands: demandsAll},
	ShortChallenge:  {word: "short-challenge", demands: demandsAll},
	GetChallenge:    {word: "get-challenge", demands: demandsLists},
	TrailingNUL:     {word: "trailing-nul", pings: true, demands: demandsNone},
	PlayersOnly:     {word: "players-only", pings: true, demands: demandsPlayers},
	Games:           {word: "games"},

	EndlessChallenges: {word: "endless-challenges", demands: demandsAll},
	FragmentsOfNone:   {word: "fragments-of-none", layouts: usualSplit},
	FragmentsBeyond:   {word: "fragments-beyond", layouts: usualSplit},
	FragmentsDisagree: {word: "fragments-disagree", layouts: usualSplit},
	OneSplitID:        {word: "one-split-id", layouts: usualSplit},
	DeclaresTwoGiB:    {word: "declares-2gib", layouts: packedSplit},
	WrongChecksum:     {word: "wrong-checksum", layouts: packedSplit},
	Bomb:              {word: "bomb", layouts: packedSplit},
	Noise:             {word: "noise", layouts: packedSplit},
	Tiny:              {word: "tiny", demands: demandsNone},
	Huge:              {word: "huge"},
	Flood64K:          {word: "flood64k", demands: demandsNone},
	FragmentFlood:     {word: "fragment-flood", layouts: usualSplit},
	OtherPort:         {word: "other-port", demands: demandsNone},
	OtherAddress:      {word: "other-address", demands: demandsNone},
	Unterminated:      {word: "unterminated"},
	Ghosts:            {word: "ghosts"},
	EndlessRules:      {word: "endless-rules"},
	ReplyStorm:        {word: "reply-storm"},
	Escapes:           {word: "escapes"},

	FarmList:       {word: "farm-list"},
	FarmClones:     {word: "farm-clones"},
	CountsOnly:     {word: "counts-only"},
	TinyDurations:  {word: "tiny-durations"},
	EqualDurations: {word: "equal-durations"},
	OverMax:        {word: "over-max"},
	NoGSLT:         {word: "no-gslt"},
	Redirects:      {word: "redirects"},
	EdgeCache:      {word: "edge-cache"},
	InfoFlood:      {word: "info-flood"},
}

const lists = wire.AskPlayers | wire.AskRules

var (
	demandsAll     = []wire.Questions{wire.AskAll}
	demandsLists   = []wire.Questions{lists}
	demandsPlayers = []wire.Questions{wire.AskPlayers}
	demandsNone    = []wire.Questions{0}
	demandsOld     = append(demandsNone, slices.Repeat(demandsLists, 9)...)
	demandsModern  = slices.Concat(demandsNone, slices.Repeat(demandsLists, 4), slices.Repeat(demandsAll, 5))
)

// fragments describes the fragments of a server's split replies.
type fragments struct {
	layout   wire.Layout
	fragment int // maximum number of payload bytes
}

var (
	// 1248 is the default of the engine, and 1188 has been seen (EC-110). Administrators set
	// smaller sizes (EC-123).
	usualSplit = []fragments{
		{wire.LayoutSource, 1248}, {wire.LayoutSource, 1248}, {wire.LayoutSource, 1248},
		{wire.LayoutSource, 1188}, {wire.LayoutSource, 1024}, {wire.LayoutSource, 640},
	}
	packedSplit = []fragments{{wire.LayoutSource, 1248}, {wire.LayoutSourceNoSize, 1248}}
	goldSplit   = []fragments{{wire.LayoutGoldSource, 1391}} // 1400 bytes with the header
)

// String returns the word that command-line flags use for k.
func (k Kind) String() string {
	if k < numKinds {
		return kinds[k].word
	}
	return "unknown"
}

// Hostile reports whether k is one of the hostile kinds.
func (k Kind) Hostile() bool { return k >= numHonest && k < firstFaker }

// UsualKinds returns the honest kinds of a fleet whose Config names no kinds.
func UsualKinds() []Kind {
	return slices.DeleteFunc(HonestKinds(), func(k Kind) bool { return kinds[k].weight == 0 })
}

// weight returns the weight of an honest kind among the chosen kinds. Games has the weight
// of all usual kinds together. Any other kind without a weight in kinds has the weight 1.
func (k Kind) weight() int {
	if k == Games {
		return 1000
	}
	return max(1, kinds[k].weight)
}

// HonestKinds returns all honest kinds.
func HonestKinds() []Kind { return kindRange(0, numHonest) }

// HostileKinds returns all hostile kinds.
func HostileKinds() []Kind { return kindRange(numHonest, firstFaker) }

// FakerKinds returns all kinds of fakers.
func FakerKinds() []Kind { return kindRange(firstFaker, numKinds) }

func kindRange(from, to Kind) []Kind {
	var ks []Kind
	for k := from; k < to; k++ {
		ks = append(ks, k)
	}
	return ks
}

// Words returns the words of kinds, such as "source, bzip2".
func Words(ks []Kind) string {
	words := make([]string, len(ks))
	for i, k := range ks {
		words[i] = k.String()
	}
	return strings.Join(words, ", ")
}

// ParseKinds reads a list of kinds separated by commas, such as "source,bzip2". For
// an empty list it returns nil. It accepts all kinds. Its error for an unknown
// word lists only the kinds in usual.
func ParseKinds(list string, usual []Kind) (ks []Kind, err error) {
	words := make([]string, numKinds)
	for k := range words {
		words[k] = kinds[k].word
	}
	at, err := parseWords("kind", list, words, Words(usual))
	for _, i := range at {
		ks = append(ks, Kind(i))
	}
	return ks, err
}

// parseWords reads a list of words that are separated by commas. For each word, it returns
// the index of this word in known. The error lists the words in choices.
func parseWords(what, list string, known []string, choices string) (places []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		i := slices.Index(known, word)
		switch {
		case word == "":
		case i < 0:
			return nil, fmt.Errorf("%s %q is not a known %s; choose from %s", what, word, what, choices)
		default:
			places = append(places, i)
		}
	}
	return places, nil
}
