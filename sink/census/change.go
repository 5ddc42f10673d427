package census

// Kind is what changed about a server.
type Kind string

// The kinds of changes. KindMap of games that rotate their maps, and KindPlayers, are
// volatile: Diff counts them, and reports them only if DiffOptions.Volatile is set.
const (
	KindNew       Kind = "new"       // in the new census only, and the old one has no record of it
	KindGone      Kind = "gone"      // answered before; asked again, and silent
	KindNotAsked  Kind = "not_asked" // answered before; not known to have been asked again
	KindBack      Kind = "back"      // was silent in the old census, answers in the new one
	KindMoved     Kind = "moved"     // left one address and appeared at another
	KindRenamed   Kind = "renamed"
	KindMap       Kind = "map"
	KindVersion   Kind = "version"
	KindCapacity  Kind = "capacity"
	KindMode      Kind = "mode"
	KindMods      Kind = "mods"
	KindRules     Kind = "rules"
	KindFlags     Kind = "flags"
	KindChallenge Kind = "challenge" // began or stopped demanding a challenge
	KindFarm      Kind = "farm"      // joined or left a farm
	KindPlayers   Kind = "players"
)

// Kinds are all kinds, in the order in which the changes of one server are reported.
var Kinds = []Kind{
	KindNew, KindGone, KindNotAsked, KindBack, KindMoved, KindRenamed, KindMap, KindVersion,
	KindCapacity, KindMode, KindMods, KindRules, KindFlags, KindChallenge, KindFarm, KindPlayers,
}

// Change is one change of one server: a line of diff's NDJSON.
type Change struct {
	Kind Kind   `json:"change"`
	Addr string `json:"addr"` // ip:port; of a server that moved, the new one
	Game string `json:"game"` // Group.ID of the game; "": unknown
	Name string `json:"name"` // of the server; text from strangers
	// People is how many play on the server, on the last night on which that is known.
	People uint32 `json:"people,omitempty"`

	// By says how a server that moved was recognised: "steam_id", or "identity" for
	// name, game and map.
	By string `json:"by,omitempty"`
	// LikelyLoss marks a server that is gone, but whose silence is likely the loss of
	// datagrams (see Comparison.LikelyLost).
	LikelyLoss bool `json:"likely_loss,omitempty"`
	// LossChance is how likely that is, from 0 to 1: of servers that are gone by
	// silence, if the scan has an estimate of its losses.
	LossChance float64 `json:"loss_chance,omitempty"`

	Before *Facts `json:"before,omitempty"` // what differs; of gone and not_asked all that is known
	After  *Facts `json:"after,omitempty"`  // what differs; of new and back all that is known
}

// Facts are values of a server on one night. Absent ones are unknown, or the same on
// both nights.
type Facts struct {
	Addr       string            `json:"addr,omitempty"`
	Name       *string           `json:"name,omitempty"`
	Map        *string           `json:"map,omitempty"`
	Version    *string           `json:"version,omitempty"`
	MaxPlayers *uint32           `json:"max_players,omitempty"`
	People     *uint32           `json:"people,omitempty"`
	Bots       *uint32           `json:"bots,omitempty"`
	Mode       *string           `json:"mode,omitempty"`
	PVP        *bool             `json:"pvp,omitempty"`
	Mods       []string          `json:"mods,omitempty"`         // those that only this night has: "id name"
	Rules      map[string]string `json:"rules,omitempty"`        // those that differ or that only this night has
	Flags      []string          `json:"flags,omitempty"`        // those that only this night has
	Challenged []string          `json:"challenged,omitempty"`   // questions that demanded a challenge
	Open       []string          `json:"unchallenged,omitempty"` // questions that demanded none
	Farm       string            `json:"farm,omitempty"`         // Farm.ID
	Status     string            `json:"status,omitempty"`       // of back and gone: the record's
	Country    string            `json:"country,omitempty"`
	Network    string            `json:"network,omitempty"` // "AS64496"
}

// Comparison is what Diff found, in numbers.
type Comparison struct {
	Old Night `json:"old"`
	New Night `json:"new"`

	Same    uint64          `json:"unchanged"` // servers of both nights without any change that is not volatile
	Changes map[Kind]uint64 `json:"changes"`   // of all kinds, also those that were filtered or are volatile

	// ByGame counts changes by game and kind: at most MaxGames games.
	ByGame map[string]map[Kind]uint64 `json:"by_game"`

	// Volatile facts of servers that answered on both nights.
	Compared    uint64 `json:"compared"` // how many these are
	MoreMaps    uint64 `json:"map_rotations"`
	PeopleMore  uint64 `json:"people_more"` // sum over servers that have more people
	PeopleFewer uint64 `json:"people_fewer"`

	// AskedKnown says how it is known who was asked: "unanswered" (records of silent
	// servers), "targets" (a list whose hash the summary names), or "" (not known: no
	// server is gone).
	AskedKnown string `json:"asked_known,omitempty"`
	// NotAskedWhy is why a list does not prove that its targets were asked.
	NotAskedWhy string `json:"not_asked_why,omitempty"`
	// LikelyLost is how many of the gone are probably losses of datagrams. Nil: it
	// can't be told.
	LikelyLost *float64 `json:"likely_lost,omitempty"`
}

// Night is one side of a comparison.
type Night struct {
	Scans        []string `json:"scans"`
	All          Sums     `json:"all"`
	WithoutFarms Sums     `json:"without_farms"`
	Farms        uint64   `json:"farms"`
	Silent       uint64   `json:"silent"`   // records of servers that did not answer
	Complete     bool     `json:"complete"` // the summary says that all targets were asked
	Summary      bool     `json:"summary"`  // there is one
	Missed       *float64 `json:"missed_estimate,omitempty"`
}
