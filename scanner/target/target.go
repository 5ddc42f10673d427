package target

import (
	"context"
	"io"
	"iter"
	"net/netip"
	"sync/atomic"

	"github.com/gaissmai/bart"
)

// Target is a server to ask.
type Target struct {
	Addr   netip.AddrPort
	Tag    string // what followed the address in its input line; hostile text
	Master string // what a master server said of it, a JSON object; empty: nothing

	// Place is the target's index in the order, from 0, before shards,
	// exclusions and limits take anything out.
	Place uint64
}

// Order is in which order targets are given out.
type Order uint8

// The orders.
const (
	// OrderRandom is a random order that Config.Seed chooses: the same targets
	// come in the same order with the same seed, however they are listed.
	OrderRandom Order = iota

	// OrderInput is that of the arguments, and in each that of its lines.
	OrderInput
)

// String returns "random" or "input".
func (o Order) String() string {
	if o == OrderInput {
		return "input"
	}
	return "random"
}

// DefaultPort is the port of an address that is named without one.
const DefaultPort = 27015

// Config says where targets come from.
type Config struct {
	Args            []string      // addresses, networks, files and "-"; none: Stdin
	Ports           Ports         // for networks, and addresses without a port
	Stdin           io.Reader     // what "-" reads; nil: nothing
	StdinIsTerminal bool          // don't read Stdin unless "-" asks for it
	Exclusions      *Exclusions   // what is left out; nil: the special-purpose networks
	Max             uint64        // targets given out at most; zero: all
	Invalid         func(Invalid) // called for each invalid line, by Load and From; may be nil

	Order Order  // in which order they are given out
	Seed  uint64 // of OrderRandom
	Shard Shard  // give out those of this part only

	// Strict makes the first invalid line an error of Load.
	Strict bool

	// Resolve looks up a host name; nil: names are invalid. It is called by
	// several goroutines at once.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)

	Formats    []Format // kinds of lists to know, beside those that this package knows
	KeepMaster bool     // fill Target.Master
}

// Invalid is a line that names no target.
type Invalid struct {
	File string // as it was named; "standard input" for "-"
	Line int    // from 1
	Text string // the line, or how it begins; made fit to be shown, see Err
	Err  error  // a Fault
}

// List is where targets come from. All runs once; the other methods may be
// called at any time and by any goroutine.
type List struct {
	cfg    Config
	inputs []input
	fixed  fixed

	started atomic.Bool
	err     atomic.Pointer[error]
	counts  counters

	// Of All alone.
	seen addrSet
	done bart.Lite // networks given out
}

// fixed is what is known before All.
type fixed struct {
	targets uint64 // in networks and arguments, reserved ones and duplicates included
	size    uint64 // given out at the end
	bytes   int64  // in regular files
	all     bool   // there are nothing but networks and arguments
	files   bool   // all else are regular files
}

// Open checks cfg's arguments, and whether files are there and can be read. It
// opens none for good. Its errors are an *ArgError.
func Open(cfg Config) (*List, error) {
	args := cfg.Args
	if len(args) == 0 {
		if cfg.Stdin == nil || cfg.StdinIsTerminal {
			return nil, &ArgError{
				Problem: "no targets",
				Hint:    "name a file, an address or a network, or send a list to standard input",
			}
		}
		args = []string{stdin}
	}
	if cfg.Exclusions == nil {
		cfg.Exclusions, _ = NewExclusions(ExclusionConfig{}) // no files: no error
	}
	l := &List{cfg: cfg}
	for _, arg := range args {
		in, err := l.open(arg)
		if err != nil {
			return nil, err
		}
		l.inputs = append(l.inputs, in)
	}
	l.measure()
	return l, nil
}

// All gives out the targets, once: a second call gives none. Lists are read
// while it runs, a line at a time, and closed when it ends. It must not run in
// two goroutines.
func (l *List) All() iter.Seq[Target] {
	return func(yield func(Target) bool) {
		if l.started.Swap(true) {
			return
		}
		w := &walk{List: l, yield: yield}
		for i := range l.inputs {
			if !w.input(&l.inputs[i]) {
				return
			}
		}
	}
}

// Load reads what has to be read before the first target is given out: with
// OrderRandom all lists, with OrderInput nothing. It returns ctx's error if
// that is done before. From calls it if nobody did.
func (l *List) Load(ctx context.Context) error { return ctx.Err() }

// From gives out the targets whose Place is not below place, once, as All does.
func (l *List) From(place uint64) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for t := range l.All() {
			if t.Place >= place && !yield(t) {
				return
			}
		}
	}
}

// Inputs says of each list that was named what was read of it.
func (l *List) Inputs() []Input {
	var all []Input
	for i := range l.inputs {
		if in := &l.inputs[i]; in.path == stdin {
			all = append(all, Input{Name: "standard input", Format: "text"})
		} else if in.path != "" {
			all = append(all, Input{Name: show([]byte(in.path)), Format: "text"})
		}
	}
	return all
}

// Err returns why All ended before the end of its input: a file that could no
// longer be read. It is nil if All was ended by its caller or by Config.Max.
func (l *List) Err() error {
	if p := l.err.Load(); p != nil {
		return *p
	}
	return nil
}

// Size returns how many targets All gives out, if that is known before the
// end: there are only networks and addresses, no lists.
func (l *List) Size() (n uint64, known bool) {
	if !l.fixed.all {
		return 0, false
	}
	return l.fixed.size, true
}

// Stats are the numbers of a list: where each target that was read went.
// Read = Invalid + Unscannable + Excluded + Duplicate + OtherShard + Given.
type Stats struct {
	Read        uint64 // all of the following; an address without a port counts once a port
	Invalid     uint64 // lines that name no target
	Unscannable uint64 // addresses that can't be asked: 0.0.0.0, relays
	Excluded    uint64 // by Config.Exclusions
	Duplicate   uint64 // given out before
	OtherShard  uint64 // in another part than Config.Shard
	Resolved    uint64 // host names that were looked up; not a part of Read
	Given       uint64 // to be asked
}

// LeftOut returns the rules by which targets were left out so far.
func (l *List) LeftOut() []Rule { return l.cfg.Exclusions.Rules() }

// counters are the parts of Stats. Read is their sum, so that it is right
// whenever they are looked at.
type counters struct {
	invalid, unscannable, excluded, duplicate, given atomic.Uint64

	listed      atomic.Uint64 // targets read from files, a little late
	listedBytes atomic.Int64  // bytes they took
}

// Stats returns the numbers so far.
func (l *List) Stats() Stats {
	c := &l.counts
	s := Stats{
		Invalid:     c.invalid.Load(),
		Unscannable: c.unscannable.Load(),
		Excluded:    c.excluded.Load(),
		Duplicate:   c.duplicate.Load(),
		Given:       c.given.Load(),
	}
	s.Read = s.Invalid + s.Unscannable + s.Excluded + s.Duplicate + s.Given
	return s
}

// bytesATarget is how long a line is before the first is known.
const bytesATarget = 21

// Progress returns which part of the input is behind, from 0 to 1. Files count
// by their bytes, so it is an estimate where there are some; it isn't known
// where something else is read, such as a pipe.
func (l *List) Progress() (part float64, known bool) {
	if !l.fixed.all && !l.fixed.files {
		return 0, false
	}
	s := l.Stats()
	listed, bytes := l.counts.listed.Load(), l.counts.listedBytes.Load()
	each := float64(bytesATarget)
	if listed > 0 {
		each = float64(bytes) / float64(listed)
	}
	left := float64(l.fixed.targets) - float64(s.Read-min(s.Read, listed))
	left = max(left, 0) + float64(max(l.fixed.bytes-bytes, 0))/each
	part = 1
	if left > 0 {
		part = float64(s.Read) / (float64(s.Read) + left)
	}
	if most := l.cfg.Max; most > 0 {
		part = max(part, min(float64(s.Given)/float64(most), 1))
	}
	return part, true
}
