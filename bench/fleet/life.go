package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// Life describes what happens to the servers of a fleet while the fleet runs. A server has
// at most one fate, an event that happens only to this server. A cut affects all servers.
type Life struct {
	Counts  [len(fateWords)]int // number of servers for each of fateWords
	Cuts    []Cut               // periods in which no server answers
	Span    time.Duration       // all fates begin within this time after the start
	Longest time.Duration       // maximum length of an outage, and of each silence in a flap
}

// fateWords are the kinds of fates. ParseLife reads fateWords[i].flag, and WriteLife
// writes fateWords[i].what.
var fateWords = [...]struct{ flag, what string }{
	{"outages", "outage"},   // the server is silent for 5 s to Longest
	{"restarts", "restart"}, // the server is silent for 5 s, and then has new players; a Steam ID changes, too
	{"renames", "renamed"},
	{"maps", "map"},         // the server has another map; about half of these servers also have new players
	{"steamids", "steamid"}, // the Steam ID changes without a restart; only servers with a Steam ID have this fate
	{"moves", "moved"},      // the server moves to an address that had no server
	{"flaps", "flap"},       // the server is silent three times; silences and the times between them are equally long
}

// flapPhases is the number of phases of equal length in a flap: three silences, and two
// phases with answers between them.
const flapPhases = 5

// Cut is a period without answers. At is its beginning, as the time since the start of the
// fleet. For is its length.
type Cut struct{ At, For time.Duration }

// ParseLife reads a Life, such as "outages=100,restarts=30,cut=90s@5m,span=30m".
func ParseLife(spec string) (l *Life, err error) {
	l = &Life{Span: 10 * time.Minute, Longest: 10 * time.Minute}
	for part := range strings.SplitSeq(spec, ",") {
		name, value, _ := strings.Cut(part, "=")
		wrong := "write times such as 30s or 10m"
		switch name {
		case "span":
			l.Span, err = time.ParseDuration(value)
		case "longest":
			l.Longest, err = time.ParseDuration(value)
		case "cut":
			var c Cut
			length, at, _ := strings.Cut(value, "@")
			if c.For, err = time.ParseDuration(length); err == nil {
				c.At, err = time.ParseDuration(at)
			}
			if err == nil && (c.For <= 0 || c.At < 0) {
				return l, fmt.Errorf("%q: the length must be above 0, and the time must not be negative", part)
			}
			l.Cuts = append(l.Cuts, c)
		default:
			i := slices.IndexFunc(fateWords[:], func(f struct{ flag, what string }) bool { return f.flag == name })
			if i < 0 {
				return l, fmt.Errorf("%q is not known; use NAME=NUMBER for outages, restarts, renames, maps, steamids, moves or flaps, or use cut=LENGTH@TIME, span=TIME or longest=TIME", part)
			}
			wrong = "the value is not a number, 0 or more"
			var n uint64
			n, err = strconv.ParseUint(value, 10, 31)
			l.Counts[i] = int(n)
		}
		if err != nil {
			return l, fmt.Errorf("%q: %s", part, wrong)
		}
	}
	if l.Span < time.Second || l.Longest < silence {
		return l, fmt.Errorf("span=%v,longest=%v: span must be at least 1s, and longest must be at least %v", l.Span, l.Longest, silence)
	}
	if l.Counts == [len(fateWords)]int{} && len(l.Cuts) == 0 {
		return l, errors.New("the list has no events; add some, such as outages=9 or cut=90s@5m")
	}
	return l, nil
}

// Fate is an event that happens to one server, or a cut, which affects all servers.
// WriteLife writes each Fate as one line, but a flap as one line for each silence.
type Fate struct {
	What string `json:"event"` // outage, restart, renamed, map, steamid, moved, flap or cut
	// The server's address; for a server that moved, the new address.
	Addr string    `json:"addr,omitempty"`
	Old  string    `json:"old,omitempty"` // for a server that moved, the old address
	From time.Time `json:"from"`          // beginning of the event
	// The time when the server answers again, or From if the event does not silence it.
	To time.Time `json:"to"`
	// Whether the answers of a restarted server show the restart.
	Sign bool          `json:"evidence"`
	at   time.Duration // From, as the time since the start of the fleet
	end  time.Duration // To, as the time since the start of the fleet
	from uint64        // packed old address of a server that moved
}

// silence is the time for which a server does not answer when it restarts or moves.
const silence = 5 * time.Second

// lives are the kinds whose servers can have a fate: these servers answer all
// questions, and always in the same way.
var lives = []Kind{Source, SourceLists, SourceOpen, Split, GoldSource}

func (l *Life) plan(m *model) (fates map[uint64]*Fate, err error) {
	fates = map[uint64]*Fate{}
	r := random.Stream(random.Hash(m.Seed, streamLife))
	places := int(m.places())
	choose := func(suits func(addr uint64, n *nature, exists bool) bool) (uint64, *nature) {
		for range 100 * places {
			addr := m.place(uint64(r.Below(places)))
			if n, ok := m.nature(addr); fates[addr] == nil && suits(addr, &n, ok) {
				return addr, &n
			}
		}
		return 0, nil
	}
	free := func(addr uint64, _ *nature, exists bool) bool { return !exists && addr>>16 != loopback.Broadcast }
	for i, kind := range fateWords {
		for planned := range l.Counts[i] {
			tooFew := func(of string) error {
				return fmt.Errorf("life: %s=%d is too many: the fleet has room for %d, because no other %s; each server has at most one event, and only servers of the kinds %s have events",
					kind.flag, l.Counts[i], planned, of, Words(lives))
			}
			needs, lack := kind.what == "steamid", "server can have such an event"
			if needs {
				lack = "server has a Steam ID"
			}
			addr, n := choose(func(_ uint64, n *nature, exists bool) bool {
				return exists && slices.Contains(lives, n.kind) && (!needs || m.hasSteamID(n))
			})
			if n == nil {
				return nil, tooFew(lack)
			}
			at := time.Duration(r.Below(int(l.Span/time.Second))) * time.Second
			f := &Fate{What: kind.what, Addr: udp.Unpack(addr).String(), at: at, end: at}
			switch kind.what {
			case "outage":
				f.end = at + l.outage(&r)
			case "flap":
				f.end = at + flapPhases*l.outage(&r)
			case "restart":
				f.end, f.Sign = at+silence, m.showsRestart(n)
			case "moved":
				to, none := choose(free)
				if none == nil {
					return nil, tooFew("address is free (a lower share of servers alive leaves more addresses free)")
				}
				f.Old, f.Addr, f.end, f.from = f.Addr, udp.Unpack(to).String(), at+silence, addr
				fates[to] = f
			}
			fates[addr] = f
		}
	}
	return fates, nil
}

func (l *Life) outage(r *random.Stream) time.Duration {
	return time.Duration(r.Between(5, int(l.Longest/time.Second))) * time.Second
}

func (m *model) hasSteamID(n *nature) bool {
	var c content
	c.fill(n, 1<<wire.QuestionInfo)
	return c.info.Has&wire.HasSteamID != 0
}

// showsRestart reports whether a restart of the server can be seen: the server has a Steam
// ID, and before the restart a player was connected for more than half an hour.
func (m *model) showsRestart(n *nature) bool {
	var c content
	c.fill(n, 1<<wire.QuestionInfo|1<<wire.QuestionPlayers)
	longest := float32(0)
	for _, p := range c.players {
		longest = max(longest, p.Duration)
	}
	return c.info.SteamID != 0 && longest > 1800
}

// now(addr, now) returns the nature of the server at addr, and its fate if that has ended. It
// returns false if the server does not answer at that time.
func (m *model) now(addr uint64, now time.Duration) (n nature, ended *Fate, ok bool) {
	n, ok = m.nature(addr)
	if m.Life == nil {
		return n, nil, ok
	}
	for _, c := range m.Life.Cuts {
		if now >= c.At && now < c.At+c.For {
			return n, nil, false
		}
	}
	f := m.fates[addr]
	switch {
	case f == nil:
		return n, nil, ok
	case f.What == "moved" && f.from == addr:
		return n, nil, ok && now < f.at
	case f.What == "moved":
		n, _ = m.nature(f.from)
		n.addr = addr
		return n, nil, now >= f.end
	case now >= f.end:
		return n, f, ok
	}
	// In a flap, the server is silent in every second phase, beginning with the first.
	answers := now < f.at || f.What == "flap" && (now-f.at)*flapPhases/(f.end-f.at)%2 == 1
	return n, nil, ok && answers
}

// apply changes c as the fate did, which ended some time before.
func (f *Fate) apply(c *content, since time.Duration) {
	anew := f.What == "restart" || f.What == "map" && f.at/time.Second%2 == 0
	for i := range c.players {
		if p := &c.players[i]; anew && p.Duration > 0 {
			p.Duration = min(p.Duration, float32(math.Round(since.Seconds())))
		}
	}
	switch f.What {
	case "restart", "steamid":
		if c.info.Has&wire.HasSteamID != 0 {
			c.info.SteamID ^= 0xFFFF
		}
	case "renamed":
		c.info.Name = append([]byte("renamed: "), c.info.Name...)
	case "map":
		c.info.Map = append([]byte("new_"), c.info.Map...)
	}
}

// WriteLife writes the fates of all servers, and the cuts, as JSON lines. The argument
// start is the time at which the fleet started. The Config must have the port numbers that
// the fleet uses.
func (c Config) WriteLife(w io.Writer, start time.Time) error {
	if c.Life == nil {
		return nil
	}
	m, err := newModel(c)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(w)
	for _, c := range c.Life.Cuts {
		if err := lines.Encode(Fate{What: "cut", From: start.Add(c.At), To: start.Add(c.At + c.For)}); err != nil {
			return err
		}
	}
	for addr, fate := range m.fates {
		if fate.from == addr {
			continue // the line of the new address also has the old address
		}
		silences, length := 1, fate.end-fate.at
		if fate.What == "flap" {
			silences, length = (flapPhases+1)/2, length/flapPhases
		}
		for i := range silences {
			line := *fate
			line.From = start.Add(fate.at + time.Duration(2*i)*length)
			line.To = line.From.Add(length)
			if err := lines.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
}
