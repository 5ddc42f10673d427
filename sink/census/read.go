package census

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Options are the options of Open.
type Options struct {
	// Summaries are the names of the summaries of the scans. Nil: those beside the
	// files, if there are any.
	Summaries []string

	// Source opens the files and the summaries. The zero value opens files of this
	// machine.
	Source sink.Source

	// Workers is the number of goroutines that unpack and decode. Zero: one for
	// each processor, at most 8.
	Workers int

	Games    []string // leave out servers of other games: IDs or names, in any letter case; nil: all
	Networks []string // leave out other servers: such as 203.0.113.0/24 or AS64496; nil: all
}

// Census holds what one census says about its servers.
type Census struct {
	// Lost describes what is damaged or missing: see Lost.
	Lost []string

	files      []string
	from       sink.Source
	workers    int
	summaries  []*Summary
	servers    []*Server // one for each address, in the order of addresses; first those without
	duplicates uint64    // further records of an address
	scans      []string  // names of the scans, sorted
	orgs       map[uint32]string
	farms      []farm
}

// Open reads the census in files: parts, shards, or files of several formats. An address
// with several records counts once. The name "-" stands for standard input. Open skips
// lines that are not records; a record of another schema is an error.
func Open(files []string, o Options) (*Census, error) {
	c := &Census{files: files, from: o.Source, workers: o.Workers, orgs: map[uint32]string{}}
	if c.workers <= 0 {
		c.workers = min(runtime.GOMAXPROCS(0), 8)
	}
	chosen, err := o.Filter()
	if err != nil {
		return nil, err
	}
	if c.summaries, err = ReadSummaries(o.Source, files, o.Summaries); err != nil {
		return nil, err
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	for _, s := range c.servers {
		s.other = !chosen(s)
	}
	c.findFarms()
	return c, nil
}

// Farm returns the addresses of the members of a farm, by Farm.ID, or of all farms if id is
// "".
func (c *Census) Farm(id string) map[netip.AddrPort]bool {
	members := map[netip.AddrPort]bool{}
	for _, f := range c.farms {
		for _, s := range f.servers {
			if id == "" || id == f.id() {
				members[s.Addr()] = true
			}
		}
	}
	return members
}

// Servers calls do with every server that the Options choose, in the order of addresses.
func (c *Census) Servers(do func(*Server)) {
	for _, s := range c.servers {
		if !s.other {
			do(s)
		}
	}
}

// keys are the keys of a record that a Server is made of.
var keys = []string{
	"addr", "scan", "time", "status", "errors", "rtt_ms", "unchallenged", "hashes", "info", "players", "rules", "game", "flags", "geo",
}

// loader makes servers of records; it serves one worker.
type loader struct {
	read    *record.Reader
	common  common
	chunk   []Server // of the last servers; each is allocated with others
	servers []*Server
	scans   map[string]bool
	orgs    map[uint32]string
	records uint64
	bad     uint64
	why     error // what is wrong with the last line that is not a record
}

// line adds the record in a line, and counts a line that is not a record. The only
// error is a SchemaError.
func (l *loader) line(line []byte) error {
	r, err := l.read.Read(line)
	var schema record.SchemaError
	switch {
	case errors.As(err, &schema):
		return err
	case err != nil:
		l.bad, l.why = l.bad+1, err
		return nil
	}
	if len(l.chunk) == cap(l.chunk) {
		l.chunk = make([]Server, 0, 1024)
	}
	s := newServer(&r.Result, &l.common)
	if !r.Has("addr") {
		s.has &^= hasMeaning
	}
	l.chunk = append(l.chunk, s)
	l.servers = append(l.servers, &l.chunk[len(l.chunk)-1])
	l.records++
	if r.Scan != "" {
		l.scans[r.Scan] = true
	}
	if r.Geo.Org != "" {
		noteOrg(l.orgs, r.Geo.ASN, r.Geo.Org)
	}
	return nil
}

// noteOrg keeps the name of a network's owner. If a network has several names, it keeps
// the one that comes first in the alphabet.
func noteOrg(orgs map[uint32]string, asn uint32, org string) {
	if old, ok := orgs[asn]; !ok || org < old {
		orgs[asn] = strings.Clone(cut(org, maxText))
	}
}

// load reads all records.
func (c *Census) load() error {
	loaders := make([]*loader, c.workers)
	for i := range loaders {
		loaders[i] = &loader{read: record.NewReader(keys...), common: common{words: words{}}, scans: map[string]bool{}, orgs: map[uint32]string{}}
	}
	var readings []Reading
	for _, file := range c.files {
		r := Reading{File: file}
		damage, err := c.eachLine(file, func(worker int, line []byte) error { return loaders[worker].line(line) })
		if err != nil {
			return err
		}
		for _, l := range loaders {
			r.Records, r.Bad = r.Records+l.records, r.Bad+l.bad
			if l.bad > 0 {
				r.Why = l.why
			}
			l.records, l.bad = 0, 0
		}
		if r.Records == 0 && r.Bad > 0 {
			return fmt.Errorf("%s has no whole record: a line %w", file, r.Why)
		}
		r.Damage = damage
		readings = append(readings, r)
	}
	scans := map[string]bool{}
	for _, l := range loaders {
		c.servers = append(c.servers, l.servers...)
		maps.Copy(scans, l.scans)
		for asn, org := range l.orgs {
			noteOrg(c.orgs, asn, org)
		}
	}
	c.scans = append([]string{}, slices.Sorted(maps.Keys(scans))...)
	c.Lost = Lost(readings, c.summaries, true)
	slices.SortFunc(c.servers, (*Server).compare)
	all := len(c.servers)
	c.servers = slices.CompactFunc(c.servers, func(a, b *Server) bool { return a.key == b.key && a.key != 0 })
	c.duplicates = uint64(all - len(c.servers))
	return nil
}

// eachLine reads a file on several goroutines, and calls do with each line that is not
// empty.
func (c *Census) eachLine(file string, do func(worker int, line []byte) error) (sink.Damage, error) {
	return c.from.EachBlock(file, c.workers, func(worker int, block []byte) error {
		for line := range bytes.Lines(block) {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			if err := do(worker, line); err != nil {
				return err
			}
		}
		return nil
	})
}

// millis returns a record's time in Unix milliseconds, or 0 if it is not known.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// find returns the server with an address, or nil.
func (c *Census) find(key uint64) *Server {
	i, ok := slices.BinarySearchFunc(c.servers, key, func(s *Server, key uint64) int { return cmp.Compare(s.key, key) })
	if !ok || key == 0 {
		return nil
	}
	return c.servers[i]
}
