package scanner

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/scanner/target"
	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// Target is a server to query. The type is in package target, so that package list does
// not have to import this package.
type Target = target.Target

// Off as a Rate, AddressRate or MaxPerAddress means no limit, and Off as a Cooldown means
// no cooldown. Zero in one of these fields means the default.
const Off = -1

// The defaults of Config and Tuning.
const (
	DefaultRate        = 5000
	DefaultAddressRate = 10
	DefaultTimeout     = time.Second // how long the first attempt waits; Schedule derives the later waits from it
	defaultAttempts    = 3
	defaultCooldown    = 2 * time.Second
	DefaultByteBudget  = 256 << 20

	defaultSnapshotEvery = time.Second
)

// Config holds the options of a scan. The zero value asks each server for info, players
// and rules, at a moderate rate.
type Config struct {
	// Questions are the questions to send; zero: info, players and rules.
	Questions wire.Questions

	// Rate is in datagrams per second; zero: DefaultRate; Off: as high as possible without
	// loss.
	Rate float64
	// FindRate makes the scan find the rate that the path carries. Rate is then the
	// maximum, and zero means DefaultMostRate.
	FindRate bool
	// AddressRate is in datagrams per second for each address; zero: DefaultAddressRate;
	// Off: no limit.
	AddressRate float64
	// MaxPerAddress is the maximum number of servers queried per address; zero or Off: no
	// limit.
	MaxPerAddress int
	// Timeout is how long the first attempt waits; zero: learned from the round trips, at
	// most DefaultTimeout.
	Timeout time.Duration
	// Attempts is how many times a question without an answer is sent; zero: 3.
	Attempts int
	// SecondPass queries the silent targets once more when all other targets are finished.
	// Silent targets get a Result only after this second pass.
	SecondPass bool
	// Cooldown is how long the scan recognises late replies of a finished target, and how
	// long it waits for late replies before it returns. Zero: two seconds; if Timeout is
	// zero as well, the scan learns how long to wait before it returns. Off: none.
	Cooldown time.Duration

	// Raw stores every matched datagram in Result.Raw.
	Raw bool
	// Source is the local address and port to send from; zero: any.
	Source netip.AddrPort
	// Excluded, if set, is called before anything is sent to an address. If it returns
	// true, the scan sends nothing more to that address. Targets that were already queried
	// get a Result with what they have answered. One goroutine calls Excluded, which must be
	// quick.
	Excluded func(netip.Addr) bool

	Resume  Resume  // saves the state of a scan, and resumes an earlier scan
	Control Control // observes and steers a running scan
	Tuning  Tuning  // for unusual servers, networks and machines
}

// Resume saves the state of a scan, so that a later call of Scan can continue it. Each of
// these calls is a part of the scan. The zero value saves and continues nothing.
// For the place at which the list continues, see Target.Place and Snapshot.Place.
type Resume struct {
	// Asked has, for each address, the number of servers that earlier parts of the scan
	// queried. They count towards Config.MaxPerAddress, too.
	Asked map[netip.Addr]int
	// Silent yields the targets that still wait for the second pass. It is the result of
	// SilentTargets of the last Snapshot. Scan reads these targets before it sends the
	// first datagram, and does not count them in Stats.Taken.
	Silent iter.Seq[Target]

	// Snapshot, if set, is called every SnapshotEvery and when the scan ends. It never runs
	// at the same time as the function that takes Results. Before each call, that function
	// has received the Result of each target that the Snapshot counts as finished.
	Snapshot func(*Snapshot)
	// SnapshotEvery is the time between two calls of Snapshot; zero: a second.
	SnapshotEvery time.Duration
}

// Control observes and steers a running scan. The zero value does neither.
type Control struct {
	// Monitor, if set, shows Stats while the scan runs.
	Monitor *Monitor
	// Trace, if set, is called with every datagram that is sent, and with every datagram
	// that is received from any source. Its first argument is the time since the scan
	// began, not counting outages. Trace must be quick, because the scan's main loop calls
	// it. The datagram is valid until Trace returns.
	Trace func(now time.Duration, sent bool, addr netip.AddrPort, datagram []byte)

	// Rates, if set, delivers new values of Config.Rate while the scan runs. A value that
	// can't be a rate is ignored. All values are ignored if Rate is Off or FindRate
	// is set, since such a scan finds its own rate.
	Rates <-chan float64
	// Drain, if closed, makes Scan start no new targets and finish those in progress.
	Drain <-chan struct{}
}

// Tuning adapts a scan to unusual servers, networks and machines. The zero value suits
// most scans.
type Tuning struct {
	// InFlight is the maximum number of targets queried at once; zero: as many as rate and
	// timeouts need.
	InFlight int
	// ByteBudget is how many bytes of replies the scan may hold; zero: DefaultByteBudget.
	ByteBudget int64
	// SweepPort, if not 0, says that all targets have this port and no address occurs
	// twice. Then no limit per address applies.
	SweepPort uint16

	// With Fallback, a target that does not reply to INFO gets one PLAYER request and one
	// ping. With SecondPass, it gets them in the second pass.
	Fallback bool
	// With TryPlayers, the last of several attempts at a silent target sends PLAYER instead
	// of INFO, because some servers answer only PLAYER. If a reply comes, INFO is asked
	// again. Fallback overrides TryPlayers.
	TryPlayers bool
	// TrailingNUL adds a NUL to every request but INFO, as in document 004.
	TrailingNUL bool

	// NoGSO sends every datagram on its own: see udp.Packet.GSO.
	NoGSO bool
	// NoOutage makes failures of this machine's network count against the targets. Without
	// NoOutage, a scan whose network is away stops its clock and waits for the network.
	NoOutage bool

	transport transport // set by tests that simulate a network
	unhandled int       // maximum number of results that wait for the caller; tests set a small one
}

// settings are a Config with its defaults filled in, and values that are derived from it.
type settings struct {
	Config
	schedule     timing.Schedule
	freeInFlight bool          // Tuning.InFlight is derived from Rate
	waited       time.Duration // how long the scan waited until it could open its socket
}

// complete returns cfg with its defaults filled in. The error names an invalid value.
func (cfg Config) complete() (settings, error) {
	learns := cfg.Timeout == 0
	cools := learns && cfg.Cooldown == 0
	cfg.Questions = cmp.Or(cfg.Questions, wire.AskAll)
	cfg.Rate = cmp.Or(cfg.Rate, cfg.defaultRate())
	cfg.AddressRate = cmp.Or(cfg.AddressRate, DefaultAddressRate)
	cfg.MaxPerAddress = cmp.Or(cfg.MaxPerAddress, Off)
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.Attempts = cmp.Or(cfg.Attempts, defaultAttempts)
	if cfg.Cooldown = cmp.Or(cfg.Cooldown, defaultCooldown); cfg.Cooldown == Off {
		cfg.Cooldown = 0
	}
	cfg.Tuning.ByteBudget = cmp.Or(cfg.Tuning.ByteBudget, DefaultByteBudget)
	cfg.Tuning.unhandled = cmp.Or(cfg.Tuning.unhandled, maxUnhandled)
	cfg.Resume.SnapshotEvery = cmp.Or(cfg.Resume.SnapshotEvery, defaultSnapshotEvery)
	set := settings{Config: cfg, schedule: timing.Schedule{
		Timeout: cfg.Timeout, Attempts: cfg.Attempts, SecondPass: cfg.SecondPass,
		Cooldown: cfg.Cooldown, Learns: learns, Cools: cools,
	}}
	if set.freeInFlight = cfg.Tuning.InFlight == 0; set.freeInFlight {
		set.Tuning.InFlight = set.defaultInFlight()
	}
	return set, set.check()
}

func (cfg *Config) defaultRate() float64 {
	if cfg.FindRate {
		return DefaultMostRate
	}
	return DefaultRate
}

// maxInFlight is the highest default of InFlight. A silent target takes at most 104 bytes,
// so 2^18 targets take at most 26 MiB.
const maxInFlight = 1 << 18

// defaultInFlight returns 5/4 of the number of targets that are open at the full rate,
// within limits. It assumes that no target answers and each attempt has the longest wait.
func (set *settings) defaultInFlight() int {
	if set.Rate == Off {
		return maxInFlight
	}
	n := set.Rate * set.schedule.Longest().Seconds() * 1.25
	return int(min(max(n, 1024), maxInFlight))
}

// Schedule returns how long a scan with cfg waits for answers.
func (cfg Config) Schedule() timing.Schedule {
	set, _ := cfg.complete()
	return set.schedule
}

// The maxima of fields of Config. Sums of such values can't overflow.
const (
	maxTimeout  = 10 * time.Minute
	maxAttempts = 101
	maxRate     = 1e8
)

func isRate(perSecond float64) bool { return perSecond > 0 && perSecond <= maxRate }

// DefaultMostRate is the maximum rate of a scan with Config.FindRate whose Rate is
// zero.
const DefaultMostRate = 50_000

func (cfg *Config) check() error {
	bad := func(what string, got any, want string) error {
		return fmt.Errorf("%s %v: %s", what, got, want)
	}
	switch {
	case cfg.Questions&^(wire.AskAll|wire.AskPing) != 0:
		return errors.New("questions: use info, players, rules and ping only")
	case cfg.Questions == wire.AskPing:
		return errors.New("questions: ping alone is not enough; add info, players or rules")
	case cfg.Rate != Off && !isRate(cfg.Rate):
		return bad("rate", cfg.Rate, "must be above 0 and at most 100M datagrams per second")
	case cfg.Rate == Off && cfg.FindRate:
		return errors.New("rate: FindRate needs a maximum rate")
	case cfg.AddressRate != Off && !(cfg.AddressRate > 0):
		return bad("rate per address", cfg.AddressRate, "must be above 0")
	case cfg.Timeout < time.Millisecond || cfg.Timeout > maxTimeout:
		return bad("timeout", cfg.Timeout, "must be between 1ms and 10m")
	case cfg.Attempts < 1 || cfg.Attempts > maxAttempts:
		return bad("attempts", cfg.Attempts, "must be between 1 and 101")
	case cfg.Cooldown < 0 || cfg.Cooldown > maxTimeout:
		return bad("cooldown", cfg.Cooldown, "must be between 0 and 10m")
	case cfg.Tuning.InFlight < 1:
		return bad("targets in flight", cfg.Tuning.InFlight, "must be at least 1")
	case cfg.MaxPerAddress < 1 && cfg.MaxPerAddress != Off:
		return bad("servers per address", cfg.MaxPerAddress, "must not be negative")
	case cfg.Tuning.ByteBudget < minByteBudget:
		return bad("byte budget", cfg.Tuning.ByteBudget, "must be at least 4 MiB")
	}
	return nil
}

// minByteBudget is the minimum of ByteBudget. It has room for a few replies of the
// largest size.
const minByteBudget = 4 << 20
