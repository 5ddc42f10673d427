package list

import (
	"cmp"
	"context"
	"io"
	"iter"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/a2sscan/a2sscan/scanner/target"
)

// Config describes where targets come from.
type Config struct {
	// Args holds addresses, networks, ranges, host names, paths of files, and "-" for
	// Stdin. If Args and Sources are empty, Stdin is read.
	Args []string

	Sources         []Source    // lists that are read before Args
	Ports           []uint16    // the ports of networks and addresses that name no ports themselves
	Stdin           io.Reader   // the input that "-" names; may be nil
	StdinIsTerminal bool        // read Stdin only if "-" is named
	Exclusions      *Exclusions // nil excludes the special-purpose networks
	Max             uint64      // maximum number of targets to yield; 0: no limit

	// Invalid is called for each invalid line, unless Strict is set. It may be nil.
	Invalid func(Invalid)

	// From calls Passed with the address of each target before the place at which From
	// begins, except for targets that are excluded, in another shard or at port 0. Passed
	// may be nil.
	Passed func(netip.Addr)

	InOrder bool   // yield the targets in the order of the input, while reading it; false: in random order
	Seed    uint64 // seed of the random order: the same targets and seed give the same order
	Shard   Shard  // yield only the targets of this part

	// Strict makes Load and From stop at the first invalid line of a list, or at the first
	// line that names only Unscannable addresses. If Load finds such a line, Load returns it
	// as an error; if From finds such a line, Err returns it.
	Strict bool

	// Resolve returns the addresses of a host name. Several goroutines may call it at the
	// same time. If Resolve is nil, host names are invalid.
	Resolve  func(ctx context.Context, host string) ([]netip.Addr, error)
	OnlyArgs bool // host names in lists are invalid, and only those in Args are looked up

	// Note is called with remarks for the user, such as that a named pipe has had no
	// writer for a second, or that rows are skipped. It may be nil.
	Note func(note string)

	Formats    []Format // more formats of lists, such as answers of master servers
	KeepMaster bool     // fill Target.Master
}

// List yields the targets of its inputs. Only one call of From or Count is possible. The
// other methods may be called at any time from any goroutine.
type List struct {
	cfg     Config
	ports   portRule
	inputs  []*input
	formats []Format

	bytes int64 // total size of the lists; 0 if there are none, -1 if it is unknown

	loading sync.Once
	failed  error                 // the error that Load returned
	order   *order                // set by Load, if the order is random
	sized   atomic.Pointer[order] // set as soon as the number of targets is known

	started atomic.Bool
	err     atomic.Pointer[error]
	counts  counters
}

// Open checks the arguments, and that regular files can be read. It leaves no file open.
// Its errors are of type *ArgError.
func Open(cfg Config) (*List, error) {
	args := cfg.Args
	if len(args) == 0 && len(cfg.Sources) == 0 {
		if cfg.Stdin == nil || cfg.StdinIsTerminal {
			return nil, &ArgError{
				Problem: "no targets",
				Hint:    "name a file, an address or a network, or send a list to standard input",
			}
		}
		args = []string{stdin}
	}
	if cfg.Exclusions == nil {
		cfg.Exclusions, _ = NewExclusions(false, nil, nil, nil) // without files there is no error
	}
	l := &List{cfg: cfg, ports: cfg.Ports}
	l.formats = append([]Format{xml, masscanJSON}, cfg.Formats...)
	l.formats = append(append(l.formats, jsonArray, httpx, ndjson, masscanList, nmapList, rustScanList, xashList), tables...)
	for i := range cfg.Sources {
		s := &cfg.Sources[i]
		l.inputs = append(l.inputs, &input{path: s.Name, size: s.Size, source: s})
	}
	for i, arg := range args {
		in, err := l.open(arg)
		if err != nil {
			return nil, err
		}
		in.number = i + 1
		l.inputs = append(l.inputs, in)
	}
	lists := 0 // number of inputs that are lists or hosts
	for _, in := range l.inputs {
		switch {
		case in.host == nil && in.path == "":
			continue
		case in.host != nil || in.size < 0 || l.bytes < 0:
			l.bytes = -1
		default:
			l.bytes += in.size
		}
		lists++
	}
	if lists == 0 {
		ld := newLoader(l)
		for _, in := range l.inputs {
			ld.take(in.names[0], labels{})
		}
		l.sized.Store(ld.finish())
	} else if cfg.InOrder && lists < len(l.inputs) {
		l.bytes = -1 // bytes of lists do not measure the progress through other arguments
	}
	return l, nil
}

// Load reads what From needs before it can yield a target: all inputs, or none if
// Config.InOrder is set. With Config.Strict, Load returns the first invalid line as an
// error of type Invalid. With InOrder and Strict, Load searches the lists of known size,
// except standard input, for an invalid line. If ctx ends early, Load returns the error
// of ctx.
//
// Load also looks up the host names among the arguments. If a host has no IPv4 address,
// Load returns an *ArgError. From calls Load if the caller did not. A second call of Load
// returns the same result as the first.
func (l *List) Load(ctx context.Context) error {
	l.loading.Do(func() { l.failed = l.load(ctx) })
	return l.failed
}

func (l *List) load(ctx context.Context) error {
	if err := l.lookUpArgs(ctx); err != nil {
		return err
	}
	if l.cfg.InOrder {
		if !l.cfg.Strict {
			return nil
		}
		// Search for invalid lines before From yields targets. An input of unknown size
		// can't be read twice.
		files := slices.DeleteFunc(slices.Clone(l.inputs), func(in *input) bool { return in.isStdin() || in.size < 0 })
		return l.read(ctx, files, nil)
	}
	ld := newLoader(l)
	if err := l.read(ctx, l.inputs, ld.take); err != nil {
		return err
	}
	l.order = ld.finish()
	named := uint64(0)
	for _, in := range l.inputs {
		named += in.read.Targets
	}
	l.counts.duplicate.Store(named - l.order.total - l.order.ipv6)
	l.sized.Store(l.order)
	return nil
}

// From yields the targets whose index in the order is at least as large as its argument. It
// counts the targets before this index only if they are duplicates. A second call yields
// nothing. If Config.InOrder is set, From reads the lists while it yields targets.
func (l *List) From(place uint64) iter.Seq[target.Target] {
	return func(yield func(target.Target) bool) {
		if l.started.Swap(true) {
			return
		}
		err := l.Load(context.Background())
		g := giver{cfg: &l.cfg, counts: &l.counts, yield: yield, from: place}
		switch o := l.order; {
		case err != nil:
		case o != nil:
			if l.cfg.Passed == nil {
				g.place = min(place, o.total)
			}
			for c := o.from(g.place); c.place < o.total; {
				ip, port := c.next()
				if g.pass(ip, port) && !g.give(ip, port, o.labels(ip, port)) {
					return
				}
			}
			l.counts.place.Store(g.place)
			g.ipv6(o.ipv6)
		default:
			w := &walk{giver: g, ports: l.ports, seen: map[uint64]struct{}{}}
			err = l.read(context.Background(), l.inputs, w.take)
			l.counts.place.Store(w.place)
		}
		if err != nil {
			l.err.Store(&err)
		}
	}
}

// Inputs describes what was read from each list, in the order in which the lists
// were named.
func (l *List) Inputs() []Input {
	var all []Input
	for _, in := range l.inputs {
		if in.path != "" {
			in.mu.Lock()
			read := in.read
			in.mu.Unlock()
			read.Name, read.Format = in.title(), cmp.Or(read.Format, "text")
			all = append(all, read)
		}
	}
	return all
}

// Err returns the error that ended From or Count early, such as an invalid line if
// Config.Strict is set. It is nil if the caller or Config.Max ended From.
func (l *List) Err() error {
	if p := l.err.Load(); p != nil {
		return *p
	}
	return nil
}

// Size returns the number of targets before shards, exclusions and limits remove any. The
// number is known if all inputs are addresses, networks or ranges. In random order, it is
// also known after Load.
func (l *List) Size() (n uint64, known bool) {
	if o := l.sized.Load(); o != nil {
		return o.total, true
	}
	return 0, false
}

// Listed returns approximately how many of the targets that Size counts were named one by
// one. The others are in networks and ranges, or belong to an address with several ports.
// If Size is not known, Listed returns 0.
func (l *List) Listed() uint64 {
	if o := l.sized.Load(); o != nil {
		return o.list.len() - min(o.small, o.list.len())
	}
	return 0
}

// Stats counts the outcome of each target and invalid line that was read. Invalid,
// BadPort, Duplicate and DefaultPort count everything that was read. The other fields
// count only the targets that From has passed, without those before the place at which
// From began.
type Stats struct {
	Read uint64 // the sum of the next six counts; an address without a port counts once per port of Config.Ports

	Invalid     uint64 // lines that name no target
	Unscannable uint64 // 0.0.0.0, Steam's relays, port 0, and IPv6 addresses
	Excluded    uint64 // targets that Config.Exclusions excludes
	Duplicate   uint64 // targets that were named before
	OtherShard  uint64 // targets outside Config.Shard
	Given       uint64 // targets that were yielded

	NoPort      uint64 // how many of the Unscannable targets have port 0
	BadPort     uint64 // how many of the Invalid lines have a port that was not understood
	DefaultPort uint64 // addresses without a port, which get port 27015; not part of Read
}

type counters struct {
	invalid, unscannable, excluded, duplicate, otherShard, given atomic.Uint64
	noPort, badPort, defaultPort                                 atomic.Uint64
	place                                                        atomic.Uint64 // number of places that From has passed; updated with a short delay
}

// Stats returns the current numbers.
func (l *List) Stats() Stats {
	c := &l.counts
	s := Stats{
		Invalid:     c.invalid.Load(),
		Unscannable: c.unscannable.Load(),
		Excluded:    c.excluded.Load(),
		Duplicate:   c.duplicate.Load(),
		OtherShard:  c.otherShard.Load(),
		Given:       c.given.Load(),
		NoPort:      c.noPort.Load(),
		BadPort:     c.badPort.Load(),
		DefaultPort: c.defaultPort.Load(),
	}
	s.Read = s.Invalid + s.Unscannable + s.Excluded + s.Duplicate + s.OtherShard + s.Given
	return s
}

// Progress returns how many targets and invalid lines have been read from lists, and
// which part of the work is done, from 0 to 1. If Size is known, part is the fraction of
// targets that From has passed. Otherwise it is the fraction of the lists' bytes that has
// been used. With Config.Max, part is at least the yielded fraction of Config.Max.
//
// The part is unknown if Size is unknown and one of these holds: a list has an unknown
// size; an argument is a host name; or Config.InOrder is set, and an argument is no list.
func (l *List) Progress() (lines uint64, part float64, known bool) {
	used := int64(0)
	for _, in := range l.inputs {
		if in.path != "" {
			in.mu.Lock()
			lines += in.read.Targets + in.read.Invalid
			used += in.used
			in.mu.Unlock()
		}
	}
	c := &l.counts
	size, sized := l.Size()
	passed, total := float64(c.place.Load()), float64(size)
	if !sized {
		if l.bytes < 0 {
			return lines, 0, false
		}
		passed, total = float64(used), float64(l.bytes)
	}
	part = 1
	if total > 0 {
		part = passed / total
	}
	if most := l.cfg.Max; most > 0 {
		part = max(part, float64(c.given.Load())/float64(most))
	}
	return lines, min(part, 1), true
}
