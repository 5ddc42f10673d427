package census

import (
	"encoding/json"
	"fmt"
	"time"
)

// statsSchema is the version of the stats.json schema. It is incremented when the
// meaning of a key changes, but not when keys are added.
const statsSchema = 1

// Limits of the lists in Stats. Groups.Other sums up the groups that do not fit; other
// lists are cut off. The limits keep the stats of a night under 1 MB, whatever names
// servers send.
const (
	maxGames     = 400
	maxMaps      = 500
	maxVersions  = 500
	maxModes     = 200
	maxSystems   = 20
	maxCountries = 300
	maxNetworks  = 500
	maxFarms     = 100 // farms, with maxMembers addresses each
	maxMembers   = 20
	maxStacks    = 50
	maxAccounts  = 50
	maxNameBytes = 128 // bytes of a name; the rest is cut off
)

// Stats are the aggregates of one census: the stats.json of a night. They do not
// depend on how the census is divided into files, in which order its records come,
// or how they are compressed. They contain no player names and no list of servers
// that answer without a challenge.
type Stats struct {
	Schema int      `json:"schema"`
	Scans  []string `json:"scans"` // names of the scans in the records, sorted

	First *time.Time `json:"first_record,omitempty"` // earliest time of a record
	Last  *time.Time `json:"last_record,omitempty"`  // latest

	Run *Run `json:"run,omitempty"` // from the summaries; absent: there was none

	Lost []string `json:"lost,omitempty"` // what is damaged or missing, a sentence each

	Records    uint64            `json:"records"`    // one per address
	Duplicates uint64            `json:"duplicates"` // further records of an address, ignored
	Statuses   map[string]uint64 `json:"statuses"`   // records by status; all five words

	All          Sums `json:"all"`           // servers that answered
	WithoutFarms Sums `json:"without_farms"` // of these, servers in no farm

	Games     Groups `json:"games"`
	Maps      Groups `json:"maps"`     // by game and map
	Versions  Groups `json:"versions"` // by game and version
	Modes     Groups `json:"modes"`    // by game and mode
	Systems   Groups `json:"systems"`
	Countries Groups `json:"countries"` // by ISO 3166-1 code
	Networks  Groups `json:"networks"`  // by autonomous system

	RoundTrips *Distribution `json:"round_trips_ms,omitempty"` // first answered question
	Capacity   *Distribution `json:"capacity,omitempty"`       // player slots per server
	Fill       *Distribution `json:"fill_percent,omitempty"`   // people per player slot, in percent

	Questions struct {
		Info    Question `json:"info"`
		Players Question `json:"players"`
		Rules   Question `json:"rules"`
	} `json:"questions"` // how each question was answered

	Flags map[string]uint64 `json:"flags"` // servers by flag

	Farms struct {
		Found uint64 `json:"found"` // number of farms
		Sums  Sums   `json:"sums"`  // of all their servers
		Top   []Farm `json:"top"`   // most servers first, at most maxFarms
	} `json:"farms"`

	Stacks   []Stack   `json:"stacks"`   // addresses and /24 networks with the most servers: context, no verdict
	Accounts []account `json:"accounts"` // Steam IDs at several addresses: context, no verdict
}

// Sums are totals over a set of servers that answered. People and Bots are the game's
// own counts if it gives them. Otherwise they are INFO's, and the bots are subtracted
// from the players.
type Sums struct {
	Servers  uint64 `json:"servers"`
	Occupied uint64 `json:"occupied"` // servers with people
	People   uint64 `json:"people"`
	Bots     uint64 `json:"bots"`
	Places   uint64 `json:"places"` // player slots
}

// Groups sums up, by one property, the servers that answered.
type Groups struct {
	Distinct uint64  `json:"distinct"` // number of different values
	Top      []Group `json:"top"`      // most servers first; then by game, id and name
	Other    Sums    `json:"other"`    // values beyond Top
	Unknown  Sums    `json:"unknown"`  // servers without a value
}

// Group sums up the servers with one value of a property.
type Group struct {
	// ID is a stable word: a game's word, or "app:440" or "folder:valve" for a game
	// without one; a country's code; "AS64496". Only games, countries and networks have
	// an ID.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"` // untrusted text, except for known games
	Game string `json:"game,omitempty"` // for maps, versions and modes: Group.ID of the game

	Sums
	Farmed *Sums `json:"farmed,omitempty"` // of these, servers in farms

	// Unchallenged counts servers that answered at least one question without a
	// challenge. For games only.
	Unchallenged uint64 `json:"unchallenged,omitempty"`
}

// Distribution describes how a number varies among servers. Quantiles are exact: at
// least half of the servers have P50 or less.
type Distribution struct {
	Servers uint64  `json:"servers"` // with a known number
	Min     float64 `json:"min"`
	P10     float64 `json:"p10"`
	P25     float64 `json:"p25"`
	P50     float64 `json:"p50"`
	P75     float64 `json:"p75"`
	P90     float64 `json:"p90"`
	P99     float64 `json:"p99"`
	Max     float64 `json:"max"`
	Mean    float64 `json:"mean"`
	Bins    []Bin   `json:"bins"` // the same bounds every night; empty ones included
}

// Bin counts the servers with From ≤ number < To.
type Bin struct {
	From    float64  `json:"from"`
	To      *float64 `json:"to,omitempty"` // absent: no upper bound
	Servers uint64   `json:"servers"`
}

// Question counts how the servers that sent any reply answered one question.
type Question struct {
	Answered     uint64            `json:"answered"`     // completely
	Unchallenged uint64            `json:"unchallenged"` // answered, in part at least, without a challenge
	Errors       map[string]uint64 `json:"errors"`       // not answered completely, by the record's word
	NotAsked     uint64            `json:"not_asked"`    // neither answered nor failed
}

// Farm is a group with a verdict: clones, a shared player list, or both.
type Farm struct {
	ID      string   `json:"id"`      // hash of the evidence: the same every night while the evidence does not change
	Reasons []string `json:"reasons"` // clones, shared_list, or both
	Sums
	Addresses uint64   `json:"addresses"` // distinct IP addresses
	Networks  uint64   `json:"networks"`  // distinct /24 networks
	Game      string   `json:"game"`      // Group.ID
	Name      string   `json:"name,omitempty"`
	Map       string   `json:"map,omitempty"`
	Capacity  uint64   `json:"capacity,omitempty"`
	Evidence  []string `json:"evidence"` // a sentence for each reason
	Members   []string `json:"members"`  // ip:port in numerical order, at most maxMembers
}

// Stack is an address or a /24 network with many servers.
type Stack struct {
	Network string `json:"network"` // "203.0.113.7" or "203.0.113.0/24"
	Sums
}

// account is a Steam ID that servers at several IP addresses send.
type account struct {
	SteamID   string   `json:"steam_id"`
	Servers   uint64   `json:"servers"`
	Addresses uint64   `json:"addresses"`
	Members   []string `json:"members"` // ip:port in numerical order, at most maxMembers
}

// ParseStats reads a stats.json, also one of an earlier version.
func ParseStats(b []byte) (*Stats, error) {
	var s Stats
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("not a stats.json: %w", err)
	}
	if s.Schema != statsSchema {
		return nil, fmt.Errorf("stats.json of schema %d: this version knows %d", s.Schema, statsSchema)
	}
	return &s, nil
}
