// Package geo looks up where an address is and who owns its network, in databases
// of MaxMind's format.
package geo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"time"

	// This library reads MaxMind's format, which other publishers use too.
	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Databases look up locations and the owners of networks. Later databases fill in what
// earlier ones do not know.
type Databases []*Database

// Database is one database. It is read into memory, so that changes to the file
// cannot disturb a scan. Only one goroutine may use it.
type Database struct {
	name  string
	size  int64
	db    *maxminddb.Reader
	known map[uintptr]scanner.Geo // decoded places, by the offset of their data in the file

	before []time.Time // build times of the databases that earlier runs used

	faults uint64 // addresses whose data is damaged
	fault  error  // the first error in such data, until it is reported
}

// maxKnown is the maximum number of decoded places in memory: 65,536 of about 250 bytes
// are 16 MiB. Servers are in fewer places than that. Decoding a place again takes 30
// times as long as finding it in the map.
const maxKnown = 1 << 16

// Open reads the databases in files.
func Open(files []string) (bases Databases, err error) {
	for _, name := range files {
		b, err := readFile(name)
		if err != nil {
			return nil, withName(name, err)
		}
		bases = append(bases, b)
	}
	return bases, nil
}

// withName adds the name of the database to an error.
func withName(name string, err error) error {
	f, ok := errors.AsType[*console.Failure](err)
	if !ok {
		f = console.Fail(console.ExitInput, "%w", err)
	}
	f.Err = fmt.Errorf("--mmdb %s: %w", console.Plain(name, 200), f.Err)
	return f
}

func readFile(name string) (*Database, error) {
	file, err := readDatabase(name)
	if err != nil {
		return nil, err
	}
	return newDatabase(name, file)
}

// newDatabase returns a database with the content of a file.
func newDatabase(name string, file []byte) (*Database, error) {
	db, err := maxminddb.OpenBytes(file)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "is damaged: %w", err).WithHint("fetch it again")
	}
	b := &Database{name: name, size: int64(len(file)), db: db, known: map[uintptr]scanner.Geo{}}
	return b, b.check()
}

const (
	metadataMark = "\xAB\xCD\xEFMaxMind.com" // begins the metadata
	metadataRoom = 128 << 10                 // the metadata is within this many bytes of the end
)

// readDatabase reads a file in MaxMind's format. If the file has another format, it
// reads only the end.
func readDatabase(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, console.WithoutPath(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, console.WithoutPath(err)
	case !info.Mode().IsRegular():
		return nil, console.Fail(console.ExitInput, "is no regular file").WithHint("%s", wantedFile)
	}
	from := max(info.Size()-metadataRoom, 0)
	tail, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	switch {
	case err != nil:
		return nil, console.WithoutPath(err)
	case !bytes.Contains(tail, []byte(metadataMark)):
		return nil, noDatabase(f)
	}
	file := make([]byte, info.Size())
	if _, err := io.ReadFull(f, file); err != nil {
		return nil, console.WithoutPath(err)
	}
	return file, nil
}

const wantedFile = "name a file such as GeoLite2-City.mmdb, dbip-country-lite.mmdb or ipinfo_lite.mmdb"

// noDatabase returns the error for a file of another format.
func noDatabase(f io.ReaderAt) error {
	var head [2]byte
	f.ReadAt(head[:], 0)
	if head == [2]byte{0x1F, 0x8B} {
		return console.Fail(console.ExitInput, "is compressed").WithHint("unpack it first: gunzip, or tar -xzf")
	}
	return console.Fail(console.ExitInput, "is no database in MaxMind's format").WithHint("%s", wantedFile)
}

// maxSample is the maximum number of networks that check tries in order to find one
// with a place or an owner. Networks without data count too, because the tree of a
// damaged file may be endless.
const maxSample = 100_000

// check returns an error if the database has neither places nor owners.
func (b *Database) check() error {
	n := 0
	all := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	for r := range b.db.NetworksWithin(all, maxminddb.IncludeNetworksWithoutData()) {
		if b.place(r) != (scanner.Geo{}) {
			clear(b.known)
			b.faults, b.fault = 0, nil
			return nil
		}
		if n++; n == maxSample {
			break
		}
	}
	if b.fault != nil {
		return console.Fail(console.ExitInput, "is damaged: %w", b.fault).WithHint("fetch it again")
	}
	const format = "a database of type %s has no country, city or network of IPv4 addresses"
	return console.Fail(console.ExitInput, format, console.Quoted(b.db.Metadata.DatabaseType, 60)).
		WithHint("use a database of countries, cities or ASNs")
}

// Fill adds the place and the owner of an address to g, as far as g lacks them.
func (d Databases) Fill(g *scanner.Geo, addr netip.Addr) {
	for _, b := range d {
		g2 := b.place(b.db.Lookup(addr))
		// A place is not put together from places in different countries.
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

// place returns the place and the owner in one entry of the database.
func (b *Database) place(r maxminddb.Result) scanner.Geo {
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
	var v any // the library limits the size of what a hostile database can produce here
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

// ReportDamage prints that a database is damaged, once for each.
func (d Databases) ReportDamage(t *console.Terminal) {
	for _, b := range d {
		if b.fault != nil {
			t.Say("--mmdb %s: is damaged: %v", console.Plain(b.name, 200), b.fault)
			b.fault = nil
		}
	}
}

// ID identifies a database in a checkpoint.
type ID struct {
	Type   string      `json:"type"`
	Built  time.Time   `json:"built"`
	Before []time.Time `json:"before,omitempty"` // build times of the databases that earlier runs used
}

func (d Databases) IDs() (ids []ID) {
	for _, b := range d {
		ids = append(ids, ID{b.kind(), b.built(), b.before})
	}
	return ids
}

// Resume records which databases the earlier runs of a scan used. They have the
// same types but may be older.
func (d Databases) Resume(past []ID, t *console.Terminal) {
	for i, b := range d {
		was := past[i]
		b.before = was.Before
		if b.built().Equal(was.Built) {
			continue
		}
		b.before = append(b.before, was.Built)
		t.Say("--mmdb %s: the database was built %s; the scan so far used the one of %s", console.Plain(b.name, 200),
			b.built().Format(time.RFC3339), was.Built.Format(time.RFC3339))
	}
}

func (b *Database) kind() string     { return console.Plain(b.db.Metadata.DatabaseType, 60) }
func (b *Database) built() time.Time { return b.db.Metadata.BuildTime().UTC() }

// Bytes returns how many bytes of memory the databases take.
func (d Databases) Bytes() (n int64) {
	for _, b := range d {
		n += b.size
	}
	return n
}

// Note describes a database in a summary.
type Note struct {
	Name   string      `json:"name"`
	Type   string      `json:"type"`
	Built  time.Time   `json:"built"`
	Before []time.Time `json:"built_before,omitempty"` // build times of the databases that earlier runs used
	Faults uint64      `json:"faults,omitempty"`       // addresses whose data is damaged, in this run
}

func (d Databases) Notes() (notes []Note) {
	for _, b := range d {
		notes = append(notes, Note{b.name, b.kind(), b.built(), b.before, b.faults})
	}
	return notes
}
