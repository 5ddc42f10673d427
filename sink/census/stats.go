package census

import (
	"encoding/json"
	"fmt"
	"time"
)

// statsSchema is the version of the stats.json schema. It is incremented when the
// meaning of a key changes, but not when keys are added.
const statsSchema = 1

// Limits of the lists in Stats. The struct tags of Stats repeat the limits. Groups.Other
// sums up the groups that do not fit; other lists are cut off. The limits keep the stats
// of a night under 1 MB, whatever names servers send.
const (
	maxGames     = 400
	maxMaps      = 500
	maxVersions  = 500
	maxModes     = 200
	maxSystems   = 20
	maxCountries = 300
	maxNetworks  = 500
	maxFarms     = 100 // number of farms, each with at most maxMembers addresses
	maxMembers   = 20
	maxStacks    = 50
	maxAccounts  = 50
	maxNameBytes = 128 // maximum length of a name in bytes; the rest is cut off
)

// Stats are the aggregates of one census: the stats.json of a night. They do not
// depend on how the census is divided into files, in which order its records come,
// or how they are compressed. They contain no player names and no list of servers
// that answer without a challenge.
//
// The explanation of a key is in its struct tag about:"…". StatsSchema prints the
// explanations.
type Stats struct {
	Schema int      `json:"schema" about:"version of the schema, now 1; rises when the meaning of a key changes"`
	Scans  []string `json:"scans" about:"names of the scans in the records, sorted"`

	First *Moment `json:"first_record,omitempty" about:"earliest time of a record, as the record writes it"`
	Last  *Moment `json:"last_record,omitempty" about:"latest time of a record, as the record writes it"`

	Run  *Run     `json:"run,omitempty" about:"sums over the summaries of the scans; absent if there is no summary"`
	Lost []string `json:"lost,omitempty" about:"a sentence for each thing that is damaged or missing; absent if no damage is known"`

	Records    uint64            `json:"records" about:"number of records, one per address"`
	Duplicates uint64            `json:"duplicates" about:"number of ignored records, whose addresses have another record that counts"`
	Statuses   map[string]uint64 `json:"statuses" about:"number of records with each status"`

	All          Sums `json:"all" about:"servers that answered"`
	WithoutFarms Sums `json:"without_farms" about:"servers that answered and are in no farm"`

	Flagged struct {
		Doubtful Sums `json:"doubtful" about:"servers with a flag that contradicts the number or the list of players"`
		Unusual  Sums `json:"unusual" about:"servers that have only other flags"`
	} `json:"flagged" about:"servers that have a flag and are in no farm"`

	Games     Groups `json:"games" about:"servers by game; at most 400 games"`
	Maps      Groups `json:"maps" about:"servers by game and map; at most 500 maps"`
	Versions  Groups `json:"versions" about:"servers by game and version; at most 500 versions"`
	Modes     Groups `json:"modes" about:"servers by game and mode; at most 200 modes"`
	Systems   Groups `json:"systems" about:"servers by operating system; at most 20 systems"`
	Countries Groups `json:"countries" about:"servers by ISO 3166-1 code; at most 300 countries; unknown sums up the servers without a known country"`
	Networks  Groups `json:"networks" about:"servers by autonomous system; at most 500 networks"`

	RoundTrips *Distribution `json:"round_trips_ms,omitempty" about:"round trip of the first question that was answered, in milliseconds"`
	Capacity   *Distribution `json:"capacity,omitempty" about:"places for people"`
	Fill       *Distribution `json:"fill_percent,omitempty" about:"people as a percentage of the places"`

	Questions struct {
		Info    Question `json:"info"`
		Players Question `json:"players"`
		Rules   Question `json:"rules"`
	} `json:"questions" about:"how each question was answered by the servers that sent any reply"`

	Flags map[string]uint64 `json:"flags" about:"number of servers with each flag"`

	Farms struct {
		Found uint64 `json:"found" about:"how many farms there are"`
		Sums  Sums   `json:"sums" about:"sums over the servers of all farms"`
		Top   []Farm `json:"top" about:"farms with the most servers first; at most 100 farms"`
	} `json:"farms" about:"groups of servers with a verdict: clones or shared player lists"`

	Stacks   []Stack   `json:"stacks" about:"addresses and /24 networks with the most servers; at most 50; context, not a verdict"`
	Accounts []account `json:"accounts" about:"persistent Steam IDs at several IP addresses; at most 50; context, not a verdict"`
}

// Sums are totals over a set of servers that answered. People and Bots are the game's
// own counts if it gives them. Otherwise they are INFO's, and the bots are subtracted
// from the players.
type Sums struct {
	Servers  uint64 `json:"servers" about:"how many servers"`
	Occupied uint64 `json:"occupied" about:"servers with people"`
	People   uint64 `json:"people" about:"people on the servers, as the games count them, without bots"`
	Bots     uint64 `json:"bots" about:"players that are programs"`
	Places   uint64 `json:"places" about:"places for people"`
}

// Moment is a time that is written as records write times: in UTC, to the millisecond.
type Moment struct{ time.Time }

// MarshalJSON encodes the time as records write it.
func (m Moment) MarshalJSON() ([]byte, error) {
	return []byte(m.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// Groups has sums for each value of a property. Only servers that answered count.
type Groups struct {
	Distinct uint64  `json:"distinct" about:"number of different values"`
	Top      []Group `json:"top" about:"the largest groups; most servers first, then by game, id and name"`
	Other    Sums    `json:"other" about:"sums over the servers whose values are not listed in top"`
	Unknown  Sums    `json:"unknown" about:"sums over the servers without a value"`
}

// Group sums up the servers that have the same value of a property.
type Group struct {
	// ID is a stable identifier. For a game, it is a word such as "rust" or, if the game
	// is not known, a text such as "app:440" or "folder:valve". For a country, it is the
	// code, and for a network a text such as "AS64496". Groups of other properties have no
	// ID.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"` // untrusted text, except for known games
	Game string `json:"game,omitempty"` // for maps, versions and modes: Group.ID of the game

	Sums
	Farmed *Sums `json:"farmed,omitempty" about:"sums over the servers of this group that are in farms"`

	// Unchallenged is set only in Stats.Games.
	Unchallenged uint64 `json:"unchallenged,omitempty" about:"servers that answered without a challenge"`
}

// Distribution describes how a number varies among servers. Quantiles are exact: at
// least half of the servers have P50 or less.
type Distribution struct {
	Servers uint64  `json:"servers" about:"how many servers"`
	Min     float64 `json:"min"`
	P10     float64 `json:"p10"`
	P25     float64 `json:"p25"`
	P50     float64 `json:"p50"`
	P75     float64 `json:"p75"`
	P90     float64 `json:"p90"`
	P99     float64 `json:"p99"`
	Max     float64 `json:"max"`
	Mean    float64 `json:"mean"`
	Bins    []Bin   `json:"bins" about:"servers with from ≤ number < to; the bounds are the same every night"`
}

// Bin counts the servers with From ≤ number < To.
type Bin struct {
	From    float64  `json:"from"`
	To      *float64 `json:"to,omitempty"` // absent if the bin has no upper bound
	Servers uint64   `json:"servers" about:"how many servers"`
}

// Question counts how one question was answered by the servers that sent any reply.
type Question struct {
	Answered     uint64            `json:"answered" about:"servers that answered completely"`
	Unchallenged uint64            `json:"unchallenged" about:"servers that answered without a challenge, at least in part"`
	Errors       map[string]uint64 `json:"errors" about:"number of servers without a complete answer, by the word for the error in the record"`
	NotAsked     uint64            `json:"not_asked" about:"servers that neither answered nor failed the question"`
}

// Farm is a group of servers that are clones, share a player list, or both.
type Farm struct {
	ID      string   `json:"id" about:"hash of the game and the name that most servers of the farm have, so the ID stays the same while these do; of several farms with the same game and name, only the largest has this ID"`
	Reasons []string `json:"reasons" about:"why it is a farm: clones, shared_list, or both"`
	Sums
	Addresses uint64   `json:"addresses" about:"distinct IP addresses"`
	Networks  uint64   `json:"networks" about:"distinct /24 networks"`
	Game      string   `json:"game"` // Group.ID
	Name      string   `json:"name,omitempty"`
	Map       string   `json:"map,omitempty"`
	Capacity  uint64   `json:"capacity,omitempty" about:"places for people"`
	Evidence  []string `json:"evidence" about:"a sentence for each reason"`
	Members   []string `json:"members" about:"the first 20 addresses, in numerical order"`
}

// Stack is an address or a /24 network with many servers.
type Stack struct {
	Network string `json:"network"` // "203.0.113.7" or "203.0.113.0/24"
	Sums
}

// account is a Steam ID that servers at several IP addresses send.
type account struct {
	SteamID   string   `json:"steam_id"`
	Servers   uint64   `json:"servers" about:"how many servers"`
	Addresses uint64   `json:"addresses" about:"distinct IP addresses"`
	Members   []string `json:"members" about:"the first 20 addresses, in numerical order"`
}

// ParseStats reads a stats.json.
func ParseStats(b []byte) (*Stats, error) {
	var s Stats
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("not a stats.json: %w", err)
	}
	if s.Schema != statsSchema {
		return nil, fmt.Errorf("the stats.json has schema %d, but this version of a2sscan knows only schema %d; use a newer version", s.Schema, statsSchema)
	}
	return &s, nil
}
