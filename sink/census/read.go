package census

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Options are the options of Open.
type Options struct {
	// Summaries are the names of the summaries of the scans. If it is nil, Open reads
	// the summaries beside the files, if there are any.
	Summaries []string

	// Only servers of these games, by ID or name in any letter case; nil means all.
	Games []string
	// Only servers in these networks, such as 203.0.113.0/24 or AS64496; nil means all.
	Networks []string
}

// Census holds the content of one census.
type Census struct {
	// Lost has a sentence for each thing that is damaged or missing.
	Lost []string

	files     []string
	workers   int
	summaries []*Summary
	// One server per address, in the order of addresses. Servers without an address
	// come first.
	servers    []*Server
	duplicates uint64   // number of further records of addresses that already have one
	scans      []string // names of the scans, sorted
	orgs       map[uint32]string
	farms      []farm
}

// Open reads the census in files: parts, shards, or files of several formats. An address
// with several records counts once. The name "-" stands for standard input. Open skips
// lines that are not records; a record of another schema is an error.
func Open(files []string, o Options) (*Census, error) {
	c := &Census{files: files, workers: min(runtime.GOMAXPROCS(0), 8), orgs: map[uint32]string{}}
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

// keys are the keys of a record from which a Server is made.
var keys = []string{
	"addr", "scan", "time", "status", "errors", "rtt_ms", "sent", "received", "unchallenged", "hashes", "info", "players", "rules", "game", "flags", "geo",
}

// unasked reports whether a record shows that its server was not queried: the scan sent
// nothing, or a fault of the scan prevented an answer. Records of captures lack the
// counts that would show this.
func unasked(r *record.Record) bool {
	replied := r.Received > 0 || r.HasInfo || r.HasPlayers || r.HasRules
	return !replied && (r.Has("sent") && r.Sent == 0 || r.Has("received") && r.Status == scanner.StatusError)
}

// load reads all records.
func (c *Census) load() error {
	readers := make([]*record.Reader, c.workers)
	for i := range readers {
		readers[i] = record.NewReader(keys...)
	}
	var readings []Reading
	var mu sync.Mutex
	scans := map[string]bool{}
	for _, file := range c.files {
		reading := Reading{File: file}
		add := func(n int, line []byte) error {
			r, err := readers[n].Read(line)
			if errors.As(err, new(record.SchemaError)) {
				return err
			}
			var s Server
			if err == nil {
				s = NewServer(&r.Result)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				reading.Bad, reading.Why = reading.Bad+1, err
				return nil
			}
			reading.Records++
			s.unasked = unasked(r)
			c.servers = append(c.servers, &s)
			if r.Scan != "" {
				scans[r.Scan] = true
			}
			// If a network's owner has several names, the first in alphabetical order
			// counts.
			if org, known := c.orgs[r.Geo.ASN]; r.Geo.Org != "" && (!known || r.Geo.Org < org) {
				c.orgs[r.Geo.ASN] = strings.Clone(cut(r.Geo.Org, maxText))
			}
			return nil
		}
		var err error
		if reading.Damage, err = c.eachLine(file, add); err != nil {
			return err
		}
		if reading.Records == 0 && reading.Bad > 0 {
			return fmt.Errorf("%s has no complete record: one of its lines %w", file, reading.Why)
		}
		readings = append(readings, reading)
	}
	c.scans = append([]string{}, slices.Sorted(maps.Keys(scans))...)
	c.Lost = Lost(readings, c.summaries, true)
	slices.SortFunc(c.servers, (*Server).compare)
	all := len(c.servers)
	c.servers = slices.CompactFunc(c.servers, func(a, b *Server) bool { return a.key == b.key && a.key != 0 })
	c.duplicates = uint64(all - len(c.servers))
	return nil
}

// blockSize is the approximate size of a block of lines that one goroutine passes to
// another.
const blockSize = 1 << 20

// eachLine reads a file, and calls do with each line that is not empty, in no particular
// order. Several goroutines, numbered from 0 to c.workers-1, call do at the same time; a
// line is valid until do returns. The first error of do ends the reading and is returned.
func (c *Census) eachLine(file string, do func(worker int, line []byte) error) (sink.Damage, error) {
	r, err := sink.Open(file)
	if err != nil {
		return sink.Damage{}, err
	}
	defer r.Close()
	full, free := make(chan []byte, c.workers), make(chan []byte, 2*c.workers+1)
	for range cap(free) {
		free <- nil
	}
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for w := range c.workers {
		group.Go(func() {
			for block := range full {
				for line := range bytes.Lines(block) {
					if line = bytes.TrimSpace(line); len(line) == 0 {
						continue
					}
					if err := do(w, line); err != nil {
						failed.CompareAndSwap(nil, &err)
						break
					}
				}
				free <- block
			}
		})
	}
	for err == nil && failed.Load() == nil {
		block := (<-free)[:0]
		for err == nil && len(block) < blockSize {
			var line []byte
			if line, err = r.Next(); err == nil {
				block = append(append(block, line...), '\n')
			}
		}
		full <- block
	}
	close(full)
	group.Wait()
	if first := failed.Load(); first != nil {
		err = *first
	}
	if err == io.EOF {
		err = nil
	}
	return r.Damage(), err
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
