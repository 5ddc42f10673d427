package fleet

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the engine that an honest server resembles, or the misbehaviour of a hostile
// server or of a faker's server.
//
// To add a kind, name it in a const block below and in kindWords. Then change these
// places, if the kind differs there from an ordinary server:
//
//   - which questions need a challenge: challengedBy in model.go; another kind of
//     challenge: challenge in responder.go
//   - how many players and rules: nature.fit in model.go; their names and values:
//     content.go; whether a reply is split or compressed: drawLayout in model.go
//   - other replies: responder.go; those of hostile servers: misbehave in hostile.go;
//     those of fakers: fakers.go
//   - what a perfect scan records, in truth.go: faults has the error of each question,
//     tell handles an answer that is usable in part, and expect handles kinds without a
//     record and kinds with additional flags
//
// TestHostileFleet of package scanner then compares a scan of the new kind with the truth;
// for fakers, TestFleetOfGames does. TestGolden requires a datagram in goldens for each
// kind that TestGolden does not exempt. A new weight in honestWeights, or a new hostile
// kind, changes the fleets of every seed. An honest kind without a weight appears only if
// a Config names it.
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
	Games                       // imitates a real game; the fleet knows what the replies mean: see package games

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

var kindWords = [numKinds]string{
	"source", "source-lists", "source-open", "rechallenge",
	"goldsource", "goldsource-old", "goldsource-mod", "both", "ship",
	"split", "split-nosize", "split-goldsource", "bzip2",
	"info-only", "truncated-rules", "silent",
	"own-challenge", "short-challenge", "get-challenge", "trailing-nul", "players-only", "games",

	"endless-challenges", "fragments-of-none", "fragments-beyond",
	"fragments-disagree", "one-split-id", "declares-2gib", "wrong-checksum",
	"bomb", "noise", "tiny", "huge", "flood64k", "fragment-flood",
	"other-port", "other-address", "unterminated", "ghosts",
	"endless-rules", "reply-storm", "escapes",

	"farm-list", "farm-clones", "counts-only", "tiny-durations", "equal-durations",
	"over-max", "no-gslt", "redirects", "edge-cache", "info-flood",
}

// String returns the word that command-line flags use for k.
func (k Kind) String() string {
	if k < numKinds {
		return kindWords[k]
	}
	return "unknown"
}

// Hostile reports whether k is one of the hostile kinds.
func (k Kind) Hostile() bool { return k >= numHonest && k < firstFaker }

// UsualKinds returns the honest kinds of a fleet whose Config names no kinds.
func UsualKinds() (ks []Kind) {
	for k, weight := range honestWeights {
		if weight > 0 {
			ks = append(ks, Kind(k))
		}
	}
	return ks
}

// weight returns the weight of an honest kind among the chosen kinds. Games has the weight
// gamesWeight. Any other kind without an entry in honestWeights has the weight 1.
func (k Kind) weight() int {
	if k == Games {
		return gamesWeight
	}
	return max(1, honestWeights[k])
}

// gamesWeight is the weight of Games among other kinds. It equals the weight of all usual
// kinds together.
const gamesWeight = 1000

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
	at, err := parseWords("kind", list, kindWords[:], Words(usual))
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

// honestWeights are the weights of the honest kinds, in thousandths of a usual fleet. They
// are roughly the shares in a census of the real world, but rare kinds have larger
// weights, so that a small fleet has all of them.
var honestWeights = [numHonest]int{
	Source: 380, SourceLists: 150, SourceOpen: 60, Rechallenge: 30,
	GoldSource: 80, GoldSourceOld: 25, GoldSourceMod: 25, Both: 20, Ship: 15,
	Split: 60, SplitNoSize: 25, SplitGoldSource: 30, Packed: 25,
	InfoOnly: 45, TruncatedRules: 15, Silent: 15,
}
