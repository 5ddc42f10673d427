package census

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// Comparison holds the numbers that Diff found.
type Comparison struct {
	Old Night `json:"old"`
	New Night `json:"new"`

	// Same is the number of servers that answered in both censuses and have no changes
	// except volatile changes.
	Same uint64 `json:"unchanged"`
	// Changes has the number of changes of each kind. Volatile changes count, and so do
	// changes that Diff does not report.
	Changes  map[Kind]uint64 `json:"changes"`
	Volatile map[Kind]uint64 `json:"volatile"` // number of volatile changes among Changes

	// ByGame counts changes by game and kind, without volatile changes, for at most 400
	// games. The key "" stands for unknown games and for all games that do not fit.
	ByGame map[string]map[Kind]uint64 `json:"by_game"`

	Compared    uint64 `json:"compared"` // number of servers that answered in both censuses
	MoreMaps    uint64 `json:"map_rotations"`
	PeopleMore  uint64 `json:"people_more"`  // number of people gained by the servers that gained people
	PeopleFewer uint64 `json:"people_fewer"` // number of people lost by the servers that lost people

	// Unknown is the number of servers that may or may not be new: they answer in the new
	// census, and the old census may have lost their records.
	Unknown uint64 `json:"unknown,omitempty"`
	// AskedKnown is "unanswered" if the new census has records of silent servers, which
	// show that the scan queried these servers. Otherwise it is "", and no server counts
	// as gone.
	AskedKnown string `json:"asked_known,omitempty"`
	// LikelyLost estimates how many of the gone servers are alive, and silent only
	// because datagrams were lost. It is nil if there is no estimate.
	LikelyLost *float64 `json:"likely_lost,omitempty"`
}

// Night describes one of the two censuses that Diff compares.
type Night struct {
	Scans        []string `json:"scans"`
	All          Sums     `json:"all"`
	WithoutFarms Sums     `json:"without_farms"`
	Farms        uint64   `json:"farms"`
	Silent       uint64   `json:"silent"`                    // number of records of servers that did not answer
	Complete     bool     `json:"complete"`                  // whether the summary says that the scan is complete
	Summary      bool     `json:"summary"`                   // whether there is a summary
	Missed       *float64 `json:"missed_estimate,omitempty"` // see Run.Missed
	Lost         []string `json:"lost,omitempty"`            // see Census.Lost
}

type differ struct {
	old, new *Census
	report   kinds // the kinds to report
	always   kinds // the kinds to report even if they are volatile
	chance   float64
	out      *Comparison
	events   []event

	// For each server that has moved, movedTo has its new record, with the old record as
	// the key. movedFrom has the old record, with the new record as the key.
	movedTo, movedFrom map[*Server]*Server
	// movedBy has the Change.By of each move, with the new record as the key.
	movedBy     map[*Server]string
	unreachable uint64 // number of gone servers whose new status is unreachable
}

type event struct {
	before, after *Server // the records of the server in both censuses; nil if a census has none
	kinds         kinds

	lists []byte // the old rules and mods, as the JSON of a record
	// rules and mods are those that the server has in only one census: at index 0 those in the
	// old census, and at index 1 those in the new census.
	rules [2]map[string]string
	mods  [2][]string
}

// Diff compares two censuses. It calls do(c) for each change c of the given kinds, in the
// order of addresses, and for one address in the order of Kinds. If no kinds are given, it
// reports all lasting changes and, if volatile is set, the volatile changes too. The
// callee may keep the Change. If it returns an error, Diff ends and returns that error. To
// find the rules and mods that changed, Diff reads both censuses again.
func Diff(before, after *Census, kinds []Kind, volatile bool, do func(*Change) error) (*Comparison, error) {
	if once := ReadableOnce(slices.Concat(before.files, after.files)); once != "" {
		return nil, fmt.Errorf("%s can't be compared, because a comparison reads each file more than once; save the input to a file", once)
	}
	d := &differ{
		old: before, new: after,
		out:     &Comparison{Changes: map[Kind]uint64{}, Volatile: map[Kind]uint64{}, ByGame: map[string]map[Kind]uint64{}},
		movedTo: map[*Server]*Server{}, movedFrom: map[*Server]*Server{}, movedBy: map[*Server]string{},
	}
	for _, k := range kinds {
		if k.bit() == 0 {
			return nil, fmt.Errorf("unknown kind of change %q", string(k))
		}
		d.always |= k.bit()
	}
	if d.report = d.always; len(kinds) == 0 {
		d.report = 1<<len(Kinds) - 1
	}
	if volatile {
		d.always = d.report
	}
	var group sync.WaitGroup
	group.Go(before.findFarms)
	after.findFarms()
	group.Wait()
	d.out.Old, d.out.New = before.night(), after.night()
	if d.out.New.Silent > 0 {
		d.out.AskedKnown = "unanswered"
	}
	// After damage, a server may seem to have moved although it is at both addresses.
	if len(before.Lost)+len(after.Lost) == 0 {
		d.accept(d.match((*Server).persistentID, false), "steam_id")
		d.accept(d.match((*Server).placeless, true), "identity")
	}
	a, b := before.addressed(), after.addressed()
	for len(a) > 0 || len(b) > 0 {
		var was, is *Server
		first := len(b) == 0 || len(a) > 0 && a[0].key < b[0].key
		if second := len(a) == 0 || !first && b[0].key < a[0].key; !second {
			was, a = a[0], a[1:]
		}
		if !first {
			is, b = b[0], b[1:]
		}
		d.pair(was, is)
	}
	d.estimateLost()
	d.out.limitGames()
	return d.out, d.details(do)
}

// addressed returns the servers that have an address. Records without one are from captures.
func (c *Census) addressed() []*Server {
	i, _ := slices.BinarySearchFunc(c.servers, 1, func(s *Server, key uint64) int { return cmp.Compare(s.key, key) })
	return c.servers[i:]
}

func (c *Census) night() Night {
	n := Night{Scans: c.scans[:min(len(c.scans), maxScans)], Lost: c.Lost}
	farms := map[int32]bool{}
	for _, s := range c.loaded {
		switch {
		case !s.answered():
			if !s.unasked {
				n.Silent++
			}
		case !s.other:
			n.All.add(s)
			if s.farm > 0 {
				farms[s.farm] = true
			} else {
				n.WithoutFarms.add(s)
			}
		}
	}
	n.Farms = uint64(len(farms))
	if run := c.run(); run != nil {
		n.Summary, n.Complete, n.Missed = true, run.Ended == "complete", run.Missed
	}
	return n
}

// pair compares the two records of an address. A record that does not exist is nil.
func (d *differ) pair(before, after *Server) {
	if from := d.movedFrom[after]; from != nil {
		d.compare(from, after, kindMoved)
		after = nil
		if before == nil || d.movedTo[before] != nil {
			return
		}
	}
	was, is := before.answered() && d.movedTo[before] == nil, after.answered()
	switch {
	case was && is:
		d.compare(before, after, 0)
	case was:
		k := kindNotAsked
		if after != nil && !after.unasked {
			k = kindGone
			if after.Status == scanner.StatusUnreachable && !before.other {
				d.unreachable++
			}
		}
		d.note(before, after, k, 0)
	case is && before != nil && before.unasked:
		if !after.other {
			d.out.Unknown++
		}
	case is && before != nil && !before.answered():
		d.note(before, after, kindBack, 0)
	case is && len(d.old.Lost) > 0 && before == nil:
		if !after.other {
			d.out.Unknown++
		}
	case is:
		d.note(nil, after, kindNew, 0)
	}
}

// compare compares the records of a server that answered both times. k has the changes known so far.
func (d *differ) compare(before, after *Server, k kinds) {
	changed, volatile := changes(before, after)
	const verdict = wire.AskInfo | wire.AskPlayers // the answers that show whether a server is in a farm
	if before.replies.complete&after.replies.complete&verdict == verdict && (before.farm == 0) != (after.farm == 0) &&
		len(d.old.Lost)+len(d.new.Lost) == 0 {
		changed |= kindFarm
	}
	if !after.other {
		d.out.Compared++
		if volatile&kindMap != 0 {
			d.out.MoreMaps++
		}
		switch {
		case changed&kindPlayers == 0:
		case after.People > before.People:
			d.out.PeopleMore += uint64(after.People - before.People)
		default:
			d.out.PeopleFewer += uint64(before.People - after.People)
		}
		if (changed|k)&^volatile == 0 {
			d.out.Same++
		}
	}
	d.note(before, after, changed|k, volatile)
}

// note counts the changes whose kinds are in k, and adds an event for those to report.
func (d *differ) note(before, after *Server, k, volatile kinds) {
	shown := after
	if !shown.answered() {
		shown = before
	}
	if k == 0 || shown.other {
		return
	}
	for _, kind := range k.list() {
		d.out.Changes[kind]++
	}
	byGame := d.out.ByGame[shown.Game]
	if lasting := k &^ volatile; lasting != 0 {
		if byGame == nil {
			byGame = map[Kind]uint64{}
			d.out.ByGame[shown.Game] = byGame
		}
		for _, kind := range lasting.list() {
			byGame[kind]++
		}
	}
	for _, kind := range (k & volatile).list() {
		d.out.Volatile[kind]++
	}
	if k &= d.report &^ (volatile &^ d.always); k != 0 {
		d.events = append(d.events, event{before: before, after: after, kinds: k})
	}
}

// estimateLost sets LikelyLost and d.chance. It starts from Night.Missed of the new census. Not
// all of these servers were in the old census, and the Options may choose only some of them,
// so it scales the number down.
func (d *differ) estimateLost() {
	loss := d.out.New.Missed
	if loss == nil {
		return
	}
	silent := d.out.Changes["gone"] - d.unreachable
	answered := float64(max(d.new.run().Answered, d.out.New.All.Servers)) // Missed is about all servers of the scan
	known := float64(d.out.Compared + silent)
	lost := round6(math.Min(float64(silent), *loss*math.Min(1, known/math.Max(1, answered+*loss))))
	d.out.LikelyLost = &lost
	if silent > 0 {
		d.chance = lost / float64(silent)
	}
}

// limitGames reduces ByGame to maxGames games: it sums up the games with the fewest
// changes under the key "".
func (c *Comparison) limitGames() {
	if len(c.ByGame) <= maxGames {
		return
	}
	total := map[string]uint64{}
	for id, kinds := range c.ByGame {
		for _, n := range kinds {
			total[id] += n
		}
	}
	ids := slices.SortedFunc(maps.Keys(total), func(a, b string) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), strings.Compare(a, b))
	})
	rest := map[Kind]uint64{}
	for _, id := range append(ids[maxGames-1:], "") {
		for kind, n := range c.ByGame[id] {
			rest[kind] += n
		}
		delete(c.ByGame, id)
	}
	c.ByGame[""] = rest
}
