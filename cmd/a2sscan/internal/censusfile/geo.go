package censusfile

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"

	// This library reads MaxMind's format, which other publishers use too.
	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
)

// Databases look up locations and the owners of networks. Later databases fill in what
// earlier databases do not know.
type Databases []*Database

// Database is one database. It is read into memory, so that changes to the file
// cannot disturb a scan.
type Database struct {
	name string
	size int64
	db   *maxminddb.Reader

	mu     sync.Mutex              // guards the following fields
	known  map[uintptr]scanner.Geo // decoded places, by offset in the file
	faults uint64                  // number of lookups that found damaged data
	fault  error                   // the first error, or nil once it has been reported
}

// maxKnown is the maximum number of decoded places in memory. They take about 250 bytes
// each, together 16 MiB. Servers are in fewer than maxKnown places. To decode a place
// again takes 30 times as long as to find the place in the map.
const maxKnown = 1 << 16

const wantedFile = "name an unpacked file such as GeoLite2-City.mmdb, dbip-country-lite.mmdb or ipinfo_lite.mmdb"

// OpenDatabases reads the databases in files.
func OpenDatabases(files []string) (bases Databases, err error) {
	for _, name := range files {
		b, hint, err := openDatabase(name)
		if err != nil {
			return nil, console.Fail(console.ExitInput, "--mmdb %s: %w", console.Plain(name, 200), console.WithoutPath(err)).WithHint("%s", hint)
		}
		bases = append(bases, b)
	}
	return bases, nil
}

// openDatabase reads a database. If it can't be used, hint says what to do.
func openDatabase(name string) (b *Database, hint string, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, wantedFile, errors.New("this is not a regular file")
	}
	mapped, err := maxminddb.Open(name) // maps the file, so that a huge file that is no database takes no memory
	_, system := errors.AsType[syscall.Errno](err)
	switch {
	case err == nil:
		mapped.Close()
	case system:
		return nil, "", err
	case strings.HasSuffix(err.Error(), "invalid MaxMind DB file"): // the library found no metadata
		return nil, wantedFile, errors.New("this is not a database in MaxMind's format")
	default:
		return nil, "download the file again", fmt.Errorf("the file is damaged: %w", err)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		return nil, "", err
	}
	b, err = newDatabase(name, file)
	if err == nil && !b.useful() {
		if err = b.fault; err == nil {
			return nil, "use a database of countries, cities or ASNs", fmt.Errorf(
				"a database of type %s has no countries, cities or networks of IPv4 addresses", console.Quoted(b.db.Metadata.DatabaseType, 60))
		}
	}
	if err != nil {
		return nil, "download the file again", fmt.Errorf("the file is damaged: %w", err)
	}
	return b, "", nil
}

func newDatabase(name string, file []byte) (*Database, error) {
	db, err := maxminddb.OpenBytes(file)
	if err != nil {
		return nil, err
	}
	return &Database{name: name, size: int64(len(file)), db: db, known: map[uintptr]scanner.Geo{}}, nil
}

// useful reports whether the database has a place or an owner for one of the first IPv4
// networks. Networks without data count too: the tree of a damaged file may be endless.
func (b *Database) useful() bool {
	const most = 100_000
	n := 0
	all := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	for r := range b.db.NetworksWithin(all, maxminddb.IncludeNetworksWithoutData()) {
		if b.place(r) != (scanner.Geo{}) {
			clear(b.known)
			b.faults, b.fault = 0, nil
			return true
		}
		if n++; n == most {
			break
		}
	}
	return false
}

// Fill sets the empty fields of g to the place and the owner of an address.
func (d Databases) Fill(g *scanner.Geo, addr netip.Addr) {
	for _, b := range d {
		g2 := b.place(b.db.Lookup(addr))
		// Never combine data of different countries into one place.
		if g.Country == g2.Country || g.Country == "" || g2.Country == "" {
			g.Continent = cmp.Or(g.Continent, g2.Continent)
			g.Country = cmp.Or(g.Country, g2.Country)
			g.Region = cmp.Or(g.Region, g2.Region)
			g.City = cmp.Or(g.City, g2.City)
		}
		if g.ASN == g2.ASN || g.ASN == 0 {
			g.ASN = g2.ASN
			g.Org = cmp.Or(g.Org, g2.Org)
		}
	}
}

// Lookup returns the place and the owner of an address.
func (d Databases) Lookup(addr netip.Addr) (g scanner.Geo) {
	d.Fill(&g, addr)
	return g
}

func (b *Database) place(r maxminddb.Result) scanner.Geo {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := r.Err(); err != nil {
		return b.damaged(err)
	}
	if !r.Found() {
		return scanner.Geo{}
	}
	at := r.Offset()
	if g, known := b.known[at]; known {
		return g
	}
	var v any // the library limits the size of the value
	if err := r.Decode(&v); err != nil {
		return b.damaged(err)
	}
	if len(b.known) == maxKnown {
		clear(b.known)
	}
	g := parsePlace(v)
	b.known[at] = g
	return g
}

func (b *Database) damaged(err error) scanner.Geo {
	if b.faults++; b.faults == 1 {
		b.fault = err
	}
	return scanner.Geo{}
}

// ReportDamage prints that a database is damaged, once per database.
func (d Databases) ReportDamage(t *console.Terminal) {
	for _, b := range d {
		b.mu.Lock()
		fault := b.fault
		b.fault = nil
		b.mu.Unlock()
		if fault != nil {
			t.Say("--mmdb %s: the file is damaged: %v", console.Plain(b.name, 200), fault)
		}
	}
}

// Types returns the types that the databases declare.
func (d Databases) Types() (types []string) {
	for _, b := range d {
		types = append(types, console.Plain(b.db.Metadata.DatabaseType, 60))
	}
	return types
}

// Bytes returns the total size of the database files, which are in memory.
func (d Databases) Bytes() (n int64) {
	for _, b := range d {
		n += b.size
	}
	return n
}

// Notes describes the databases for a summary.
func (d Databases) Notes() (notes []ledger.Database) {
	for i, kind := range d.Types() {
		notes = append(notes, ledger.Database{Name: d[i].name, Type: kind, Built: d[i].db.Metadata.BuildTime().UTC(), Faults: d[i].faults})
	}
	return notes
}
