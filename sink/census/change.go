package census

// Kind says what changed about a server.
type Kind string

// The kinds of changes. KindPlayers is volatile; so is KindMap in games that rotate
// their maps, and a KindMode that comes with it. Diff counts volatile changes, but
// reports them only if DiffOptions.Volatile is set or DiffOptions.Kinds names them.
const (
	KindNew       Kind = "new"       // answers in the new census; the old one has no record of it
	KindGone      Kind = "gone"      // answered before; was queried again and did not answer
	KindNotAsked  Kind = "not_asked" // answered before; not known to have been queried again
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

// Kinds lists all kinds, in the order in which the changes of one server are reported.
var Kinds = []Kind{
	KindNew, KindGone, KindNotAsked, KindBack, KindMoved, KindRenamed, KindMap, KindVersion,
	KindCapacity, KindMode, KindMods, KindRules, KindFlags, KindChallenge, KindFarm, KindPlayers,
}

// Change is one change of one server: a line of diff's NDJSON.
type Change struct {
	Kind Kind   `json:"change"`
	Addr string `json:"addr"` // ip:port; of a server that moved, the new address
	Game string `json:"game"` // Group.ID of the game; "": unknown
	Name string `json:"name"` // of the server; untrusted text
	// People is how many people played on the server on the last night it answered.
	People uint32 `json:"people,omitempty"`

	// By says how a server that moved was recognised: "steam_id", or "identity" for
	// name, game and map.
	By string `json:"by,omitempty"`
	// LikelyLoss is set if LossChance is at least 0.5: the server is gone, but probably
	// alive (see Comparison.LikelyLost).
	LikelyLoss bool `json:"likely_loss,omitempty"`
	// LossChance is the probability, from 0 to 1, that a server is gone only because
	// datagrams were lost. It is 0 for unreachable servers, and if the new scan has no
	// estimate of its losses.
	LossChance float64 `json:"loss_chance,omitempty"`

	Before *Facts `json:"before,omitempty"` // what differs; for gone and not_asked, all that is known
	After  *Facts `json:"after,omitempty"`  // what differs; for new and back, all that is known
}

// Facts are the properties of a server on one night. An absent property is unknown,
// or the same on both nights.
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
	Mods       []string          `json:"mods,omitempty"`         // mods that only this night has: "id name hash"
	Rules      map[string]string `json:"rules,omitempty"`        // rules that differ or that only this night has
	Flags      []string          `json:"flags,omitempty"`        // flags that only this night has
	Challenged []string          `json:"challenged,omitempty"`   // questions that demanded a challenge
	Open       []string          `json:"unchallenged,omitempty"` // questions that did not demand a challenge
	Farm       string            `json:"farm,omitempty"`         // Farm.ID
	Status     string            `json:"status,omitempty"`       // for back and gone: the status in the record
	Country    string            `json:"country,omitempty"`
	Network    string            `json:"network,omitempty"` // "AS64496"
}

// Comparison is what Diff found, in numbers.
type Comparison struct {
	Old Night `json:"old"`
	New Night `json:"new"`

	Same     uint64          `json:"unchanged"` // servers that answered on both nights, with at most volatile changes
	Changes  map[Kind]uint64 `json:"changes"`   // by kind; includes volatile changes, and those not reported
	Volatile map[Kind]uint64 `json:"volatile"`  // the volatile changes among Changes

	// ByGame counts changes by game and kind, for at most MaxGames games; "" stands for
	// unknown games and for the rest.
	ByGame map[string]map[Kind]uint64 `json:"by_game"`

	// Volatile facts of servers that answered on both nights.
	Compared    uint64 `json:"compared"` // number of these servers
	MoreMaps    uint64 `json:"map_rotations"`
	PeopleMore  uint64 `json:"people_more"`  // people gained, summed over the servers that gained
	PeopleFewer uint64 `json:"people_fewer"` // people lost, summed over the servers that lost

	// AskedKnown says what proves which servers the new scan queried: "unanswered"
	// (records of silent servers), "targets" (a list whose hash the summary names),
	// or "" (nothing: no server counts as gone).
	AskedKnown string `json:"asked_known,omitempty"`
	// NotAskedWhy says why the list in DiffOptions.Asked does not prove which
	// servers the new scan queried.
	NotAskedWhy string `json:"not_asked_why,omitempty"`
	// LikelyLost estimates how many of the gone servers are alive, and silent only
	// because datagrams were lost. Nil: there is no estimate.
	LikelyLost *float64 `json:"likely_lost,omitempty"`
}

// Stable returns the number of changes of a kind that are not volatile.
func (c *Comparison) Stable(k Kind) uint64 { return c.Changes[k] - c.Volatile[k] }

// Night is one side of a comparison.
type Night struct {
	Scans        []string `json:"scans"`
	All          Sums     `json:"all"`
	WithoutFarms Sums     `json:"without_farms"`
	Farms        uint64   `json:"farms"`
	Silent       uint64   `json:"silent"`                    // records of servers that did not answer
	Complete     bool     `json:"complete"`                  // the summary says that the scan is complete
	Summary      bool     `json:"summary"`                   // there is a summary
	Missed       *float64 `json:"missed_estimate,omitempty"` // see Run.Missed
}
