package census

import (
	"bytes"
	"errors"
	"io/fs"
	"runtime"
	"sync"

	"github.com/a2sscan/a2sscan/sink/record"
)

// eachBlock reads all files, one after the other, each on several goroutines, and
// passes their lines to do in blocks.
func (c *Census) eachBlock(do func(worker int, block []byte) error) error {
	for i, file := range c.files {
		reading, err := c.from.EachBlock(file, c.workers, do)
		if err != nil {
			return err
		}
		c.readings[i] = FileReading{File: file, Damage: reading.Damage, Truncated: reading.Truncated}
	}
	return nil
}

// eachLine calls do with every line that is not empty.
func eachLine(block []byte, do func(line []byte) error) error {
	for len(block) > 0 {
		end := bytes.IndexByte(block, '\n')
		line := block[:end]
		block = block[end+1:]
		if len(line) == 0 || len(line) == 1 && line[0] == '\r' {
			continue
		}
		if err := do(line); err != nil {
			return err
		}
	}
	return nil
}

// loader fills a table; it serves one worker.
type loader struct {
	to    *table
	parse parser
	ids   cachedTexts
	names nameWriter
	rows  rowWriter
	bad   uint64
	name  []byte
	orgs  map[uint32]uint32
}

func newLoader(t *table) *loader {
	return &loader{
		to: t, ids: cachedTexts{shared: t.texts}, names: nameWriter{to: &t.names}, rows: rowWriter{to: t},
		orgs: map[uint32]uint32{},
	}
}

// line adds the record in a line, and counts a line that is not a record. The only
// error is a SchemaError.
func (l *loader) line(line []byte) error {
	var s Server
	err := l.parse.parse(line, &s)
	var schema record.SchemaError
	switch {
	case errors.As(err, &schema):
		return err
	case err != nil:
		l.bad++
	default:
		l.add(&s)
	}
	return nil
}

// add adds a row for s.
func (l *loader) add(s *Server) {
	r := l.rows.add()
	*r = row{
		key: keyOf(s.Addr), at: s.at, steam: s.SteamID, players: s.players, rules: s.rules, mods: s.mods,
		asn: s.ASN, people: s.People, bots: s.Bots, capacity: s.MaxPlayers, rtt: uint32(s.RTT.Microseconds()),
		has: s.has, flags: s.flags, status: s.status, open: s.open, errors: s.errors, source: s.source, pvp: s.pvp,
		scan: l.ids.id(s.Scan),
	}
	if s.has&hasName != 0 {
		r.name = l.names.add(l.exactName(s))
	}
	if s.Game != "" {
		r.game = l.ids.id([]byte(s.Game))
	}
	r.gameText = l.ids.id(s.GameName)
	r.level, r.version, r.mode = l.ids.id(s.Map), l.ids.id(s.Version), l.ids.id(s.Mode)
	if s.has&hasSystem != 0 {
		r.system = systemOf(s.System)
	}
	if len(s.Country) == 2 {
		r.country = [2]byte(s.Country)
	}
	if s.ASN != 0 && len(s.Org) > 0 {
		l.orgs[s.ASN] = l.ids.id(s.Org)
	}
}

// exactName returns the name. If it is not UTF-8, a NUL and the bytes of the name
// in hex follow.
func (l *loader) exactName(s *Server) []byte {
	if len(s.nameHex) == 0 {
		return s.Name
	}
	l.name = append(append(append(l.name[:0], cut(s.Name, maxText/4)...), 0), s.nameHex...)
	return l.name
}

// flush adds the worker's rows, counts and owners of networks to the table.
func (l *loader) flush() {
	l.rows.flush()
	t := l.to
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bad += l.bad
	for asn, org := range l.orgs {
		if old, ok := t.orgs[asn]; !ok || t.text(org) < t.text(old) {
			t.orgs[asn] = org
		}
	}
}

// load reads the census into a table.
func (c *Census) load(ids *texts) (*table, error) {
	t := &table{texts: ids, orgs: map[uint32]uint32{}}
	loaders := make([]*loader, c.workers)
	for i := range loaders {
		loaders[i] = newLoader(t)
	}
	err := c.eachBlock(func(w int, block []byte) error { return eachLine(block, loaders[w].line) })
	if err != nil {
		return nil, err
	}
	for _, l := range loaders {
		l.flush()
	}
	c.bad = t.bad
	t.sort()
	return t, nil
}

// Read calls do with every record, in no particular order but one at a time. It skips
// lines that are not records. The Server is valid until do returns. An error of do ends
// Read, which returns it.
func (c *Census) Read(do func(*Server) error) error {
	var mu sync.Mutex
	parsers := make([]parser, c.workers)
	return c.eachBlock(func(w int, block []byte) error {
		return eachLine(block, func(line []byte) error {
			var s Server
			if err := parsers[w].parse(line, &s); err != nil {
				var schema record.SchemaError
				if errors.As(err, &schema) {
					return err
				}
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			return do(&s)
		})
	})
}

// defaultWorkers returns one worker for each processor, but at most 8.
func defaultWorkers() int { return min(runtime.GOMAXPROCS(0), 8) }

// isMissing reports whether err says that a file does not exist.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
