package census

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Options are the options of Open.
type Options struct {
	// Summaries are the names of the summaries of the scans. If Summaries is nil, Open
	// reads the summaries beside the files, if there are any.
	Summaries []string

	// Games are the IDs or names, in any letter case, of the games whose servers are chosen.
	// Nil means all games.
	Games []string
	// Top is the maximum number of groups in each of Stats's lists of games, maps, versions,
	// modes, systems, countries and networks. 0 selects the usual limits.
	Top int
	// Locate, if set, returns the place and network of an address. Open uses it instead of
	// what the record says. Several goroutines call it at the same time.
	Locate func(netip.Addr) scanner.Geo

	// Networks are the networks, such as 203.0.113.0/24 or AS64496, whose servers are
	// chosen. Nil means all networks.
	Networks []string
}

// Census holds the content of one census.
type Census struct {
	// Lost has a sentence for each thing that is damaged or missing.
	Lost []string

	files     []string
	summaries []*Summary
	// servers has one server per address, in the order of addresses, first those without one.
	servers []*Server
	// loaded has the same servers in the order of memory, which makes a pass over all of them
	// several times as fast.
	loaded     []*Server
	duplicates uint64   // number of records whose address already has a record
	scans      []string // names of the scans, sorted
	orgs       map[uint32]string
	once       sync.Once // guards farms
	farms      []farm    // see findFarms
	top        int       // Options.Top
	locate     func(netip.Addr) scanner.Geo
}

// Open reads a census from files: parts, shards, or files of several formats. An address
// with several records counts once. The name "-" stands for standard input. Open skips
// lines that are not records; a record of another schema is an error.
func Open(files []string, o Options) (*Census, error) {
	c := &Census{files: files, orgs: map[uint32]string{}, top: o.Top, locate: o.Locate}
	chosen, err := o.Filter()
	if err != nil {
		return nil, err
	}
	if c.summaries, err = ReadSummaries(files, o.Summaries); err != nil {
		return nil, err
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	for _, s := range c.loaded {
		s.other = !chosen(s)
	}
	return c, nil
}

// ReadableOnce returns the first of the files that can be read only once: "standard input", or
// the name of a pipe or a device. It returns "" if there is none.
func ReadableOnce(files []string) string {
	for _, file := range files {
		if file == "-" || file == "" {
			return "standard input"
		}
		info, err := os.Stat(file)
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return file
		}
	}
	return ""
}

// Farms returns the Farm.ID of each server that is in a farm, by its address.
func (c *Census) Farms() map[netip.AddrPort]string {
	c.findFarms()
	all := map[netip.AddrPort]string{}
	for i := range c.farms {
		for _, s := range c.farms[i].servers {
			all[s.Addr()] = c.farms[i].id
		}
	}
	return all
}

// Games returns the IDs and names of the games of all servers, in lower case.
func (c *Census) Games() map[string]bool {
	all := map[string]bool{}
	for _, s := range c.servers {
		all[s.Game], all[s.GameName] = true, true
	}
	lower := map[string]bool{}
	for name := range all {
		lower[strings.ToLower(name)] = true
	}
	return lower
}

// Servers calls do(s) for every server s that the Options choose, in the order of
// addresses.
func (c *Census) Servers(do func(*Server)) {
	for _, s := range c.servers {
		if !s.other {
			do(s)
		}
	}
}

// keys are the keys that maker.server uses, if the record has the hash of its players.
var keys = []string{
	"addr", "scan", "time", "status", "errors", "rtt_ms", "sent", "received", "unchallenged", "hashes", "rules", "flags", "geo",
	"info.format", "info.name", "info.map", "info.folder", "info.game", "info.app_id", "info.players", "info.max_players", "info.bots",
	"info.server_type", "info.environment", "info.version", "info.steam_id", "info.game_id",
	"players.name", "players.name_hash", "players.duration",
	"game.id", "game.name", "game.players", "game.max_players", "game.bots", "game.version", "game.map", "game.mode", "game.pvp", "game.mods", "game.sources",
}

// unasked reports whether a record shows that the scan sent nothing to the server, or that a
// fault of the scan prevented an answer. Records from captures lack these counts.
func unasked(r *record.Record) bool {
	replied := r.Received > 0 || r.HasInfo || r.HasPlayers || r.HasRules
	return !replied && (r.Has("sent") && r.Sent == 0 || r.Has("received") && r.Status == scanner.StatusError)
}

// A loader makes Servers from blocks of lines. Each goroutine has its own loader.
type loader struct {
	reader *record.Reader
	whole  *record.Reader // decodes all keys
	maker  maker
	usual  int                          // number of servers in the last block
	locate func(netip.Addr) scanner.Geo // Options.Locate
	slab   []Server                     // unused Servers, allocated together to save work for the garbage collector
}

func newLoader(locate func(netip.Addr) scanner.Geo) *loader {
	// If the record has the hash of its players, more of them can't change what is known.
	reader := record.NewReader(keys...).Until("players", func(r *record.Record) bool {
		return r.PlayersHash != 0 && uncommon(r.Players)
	})
	return &loader{reader: reader, whole: record.NewReader(), maker: maker{texts: texts{}}, locate: locate}
}

func (l *loader) read(line []byte) (*record.Record, error) {
	r, err := l.reader.Read(line)
	if err == nil && r.PlayersHash == 0 && len(r.Players) > 0 {
		return l.whole.Read(line)
	}
	return r, err
}

type loaded struct {
	servers []*Server
	bad     uint64
	why     error
	scans   map[string]bool
	orgs    map[uint32]string
}

func (l *loader) load(b *sink.Block) (out loaded) {
	out.scans, out.orgs = map[string]bool{}, map[uint32]string{}
	out.servers = make([]*Server, 0, l.usual)
	for _, line := range b.Lines() {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		r, err := l.read(line)
		if err != nil {
			out.bad, out.why = out.bad+1, err
			continue
		}
		if l.locate != nil {
			r.Geo = l.locate(r.Addr.Addr())
		}
		if len(l.slab) == 0 {
			l.slab = make([]Server, 64)
		}
		s := &l.slab[0]
		l.slab = l.slab[1:]
		*s = l.maker.server(&r.Result)
		s.unasked = unasked(r)
		out.servers = append(out.servers, s)
		if r.Scan != "" {
			out.scans[r.Scan] = true
		}
		addOrg(out.orgs, r.Geo.ASN, r.Geo.Org)
	}
	l.usual = len(out.servers)
	return out
}

// addOrg notes the owner of a network: of several names, the first in alphabetical order.
func addOrg(orgs map[uint32]string, asn uint32, org string) {
	if known, ok := orgs[asn]; org != "" && (!ok || org < known) {
		orgs[asn] = strings.Clone(cut(org, maxText))
	}
}

func (c *Census) load() error {
	var readings []Reading
	scans := map[string]bool{}
	for _, file := range c.files {
		reading := Reading{Part: sink.Part{Name: file}}
		parser := func() func(*sink.Block) loaded { return newLoader(c.locate).load }
		var err error
		reading.Damage, err = sink.PipeFile(file, parser, func(_ *sink.Block, l loaded) error {
			reading.Records += uint64(len(l.servers))
			if l.bad > 0 {
				reading.Bad, reading.Why = reading.Bad+l.bad, l.why
			}
			c.servers = append(c.servers, l.servers...)
			maps.Copy(scans, l.scans)
			for asn, org := range l.orgs {
				addOrg(c.orgs, asn, org)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if reading.Records == 0 && reading.Bad > 0 {
			return fmt.Errorf("%s has no complete record; one of its lines: %w", file, reading.Why)
		}
		readings = append(readings, reading)
	}
	c.scans = append([]string{}, slices.Sorted(maps.Keys(scans))...)
	c.Lost = Lost(readings, c.summaries, true)
	c.loaded = slices.Clone(c.servers)
	c.sort()
	c.servers = slices.CompactFunc(c.servers, func(s, before *Server) bool {
		s.duplicate = s.key == before.key && s.key != 0
		return s.duplicate
	})
	c.duplicates = uint64(len(c.loaded) - len(c.servers))
	c.loaded = slices.DeleteFunc(c.loaded, func(s *Server) bool { return s.duplicate })
	return nil
}

// sort sorts the servers. Comparisons are faster if the keys are side by side in memory.
func (c *Census) sort() {
	type keyed struct {
		key uint64
		*Server
	}
	all := make([]keyed, len(c.servers))
	for i, s := range c.servers {
		all[i] = keyed{s.key, s}
	}
	slices.SortFunc(all, func(a, b keyed) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return a.compare(b.Server)
	})
	for i := range all {
		c.servers[i] = all[i].Server
	}
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func (c *Census) find(key uint64) *Server {
	i, ok := slices.BinarySearchFunc(c.servers, key, func(s *Server, key uint64) int { return cmp.Compare(s.key, key) })
	if !ok || key == 0 {
		return nil
	}
	return c.servers[i]
}
