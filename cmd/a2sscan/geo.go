package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	// The format of MaxMind's databases, in which others give away theirs too.
	"github.com/oschwald/maxminddb-golang/v2"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/scanner"
)

// addGeoFlag names the flag with which databases are.
func addGeoFlag(fs *pflag.FlagSet, files *[]string) {
	fs.StringArrayVar(files, "mmdb", nil, "say in each record where its server is, by the database in `FILE` (MaxMind's format: GeoLite2, DB-IP, IPinfo); may be repeated: City and ASN")
}

// geoBases are databases that say where an address is and whose. Each is asked
// for what those before it don't know.
type geoBases []*geoBase

// geoBase is one of them, read into memory: a file that is written over while a
// scan runs does no harm. It serves one goroutine.
type geoBase struct {
	name  string
	size  int64
	db    *maxminddb.Reader
	known map[uintptr]scanner.Geo // by the place of their data in the file

	before []time.Time // when those were built that earlier parts of the scan asked

	faults uint64 // addresses whose data is damaged
	fault  error  // the first of them, until it was said
}

// maxGeoKnown bounds the memory of what is known already: 65,536 of some 250
// bytes are 16 MiB. Servers are in fewer places than that, and to read one anew
// takes 30 times as long.
const maxGeoKnown = 1 << 16

// openGeo reads the databases.
func openGeo(files []string) (bases geoBases, err error) {
	for _, name := range files {
		b, err := readGeo(name)
		if err != nil {
			return nil, geoFailure(name, err)
		}
		bases = append(bases, b)
	}
	return bases, nil
}

// geoFailure says which database an error is about.
func geoFailure(name string, err error) error {
	f, ok := errors.AsType[*console.Failure](err)
	if !ok {
		f = console.Fail(console.ExitInput, "%w", err)
	}
	f.Err = fmt.Errorf("--mmdb %s: %w", console.Plain(name, 200), f.Err)
	return f
}

func readGeo(name string) (*geoBase, error) {
	file, err := readDatabase(name)
	if err != nil {
		return nil, err
	}
	return newGeoBase(name, file)
}

// newGeoBase takes a file that was read.
func newGeoBase(name string, file []byte) (*geoBase, error) {
	db, err := maxminddb.OpenBytes(file)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "is damaged: %w", err).WithHint("fetch it again")
	}
	b := &geoBase{name: name, size: int64(len(file)), db: db, known: map[uintptr]scanner.Geo{}}
	return b, b.check()
}

const (
	geoMark = "\xAB\xCD\xEFMaxMind.com" // stands before what such a file says of itself
	geoTail = 128 << 10                 // where that is, from the end
)

// readDatabase reads a file of that format whole, and of another only its end.
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
		return nil, console.Fail(console.ExitInput, "is no regular file").WithHint("%s", geoHint)
	}
	from := max(info.Size()-geoTail, 0)
	tail, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	switch {
	case err != nil:
		return nil, console.WithoutPath(err)
	case !bytes.Contains(tail, []byte(geoMark)):
		return nil, noDatabase(f)
	}
	file := make([]byte, info.Size())
	if _, err := io.ReadFull(f, file); err != nil {
		return nil, console.WithoutPath(err)
	}
	return file, nil
}

const geoHint = "it wants a file such as GeoLite2-City.mmdb, dbip-country-lite.mmdb or ipinfo_lite.mmdb"

// noDatabase says what to do with a file of another kind.
func noDatabase(f io.ReaderAt) error {
	var head [2]byte
	f.ReadAt(head[:], 0)
	if head == [2]byte{0x1F, 0x8B} {
		return console.Fail(console.ExitInput, "is compressed").WithHint("unpack it first: gunzip, or tar -xzf")
	}
	return console.Fail(console.ExitInput, "is no database in MaxMind's format").WithHint("%s", geoHint)
}

// maxGeoSample is in how many networks a database must say what is wanted. Those
// that it does not know count too: the tree of a damaged one may have no end.
const maxGeoSample = 100_000

// check refuses a database that tells nothing of what is wanted.
func (b *geoBase) check() error {
	n := 0
	all := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	for r := range b.db.NetworksWithin(all, maxminddb.IncludeNetworksWithoutData()) {
		if b.place(r) != (scanner.Geo{}) {
			clear(b.known)
			b.faults, b.fault = 0, nil
			return nil
		}
		if n++; n == maxGeoSample {
			break
		}
	}
	if b.fault != nil {
		return console.Fail(console.ExitInput, "is damaged: %w", b.fault).WithHint("fetch it again")
	}
	const format = "a database of type %s tells no country, city or network of IPv4 addresses"
	return console.Fail(console.ExitInput, format, console.Quoted(b.db.Metadata.DatabaseType, 60)).
		WithHint("databases of countries, cities and ASNs do")
}

// fill says where an address is, and whose.
func (bs geoBases) fill(g *scanner.Geo, addr netip.Addr) {
	for _, b := range bs {
		g2 := b.place(b.db.Lookup(addr))
		// Two that disagree about the country are not mixed.
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

// geo is what the databases say of an address.
func (bs geoBases) geo(addr netip.Addr) (g scanner.Geo) {
	bs.fill(&g, addr)
	return g
}

// place is what the database says of an address.
func (b *geoBase) place(r maxminddb.Result) scanner.Geo {
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
	var v any // the library bounds what a hostile database can make of this
	if err := r.Decode(&v); err != nil {
		return b.damaged(err)
	}
	if len(b.known) == maxGeoKnown {
		clear(b.known)
	}
	g := geoOf(v)
	b.known[at] = g
	return g
}

func (b *geoBase) damaged(err error) scanner.Geo {
	if b.faults++; b.faults == 1 {
		b.fault = err
	}
	return scanner.Geo{}
}

// sayDamaged says once that a database is damaged.
func (bs geoBases) sayDamaged(t *console.Terminal) {
	for _, b := range bs {
		if b.fault != nil {
			t.Say("--mmdb %s: is damaged: %v", console.Plain(b.name, 200), b.fault)
			b.fault = nil
		}
	}
}

// geoID is a database as a checkpoint has it.
type geoID struct {
	Type   string      `json:"type"`
	Built  time.Time   `json:"built"`
	Before []time.Time `json:"before,omitempty"` // those of earlier parts
}

func (bs geoBases) ids() (ids []geoID) {
	for _, b := range bs {
		ids = append(ids, geoID{b.kind(), b.built(), b.before})
	}
	return ids
}

// typesOf names databases as they call themselves.
func typesOf(ids []geoID) string {
	var types []string
	for _, id := range ids {
		types = append(types, id.Type)
	}
	return strings.Join(types, ", ")
}

// goOn takes over which databases the earlier parts of a scan asked: the same
// ones, of which there may be newer files by now.
func (bs geoBases) goOn(past []geoID, t *console.Terminal) {
	for i, b := range bs {
		was := past[i]
		b.before = was.Before
		if b.built().Equal(was.Built) {
			continue
		}
		b.before = append(b.before, was.Built)
		t.Say("--mmdb %s: the database is of %s, and was of %s before", console.Plain(b.name, 200),
			b.built().Format(time.RFC3339), was.Built.Format(time.RFC3339))
	}
}

func (b *geoBase) kind() string     { return console.Plain(b.db.Metadata.DatabaseType, 60) }
func (b *geoBase) built() time.Time { return b.db.Metadata.BuildTime().UTC() }

// bytes is how much memory the databases take.
func (bs geoBases) bytes() (n int64) {
	for _, b := range bs {
		n += b.size
	}
	return n
}

// geoNote is what a summary says of a database.
type geoNote struct {
	Name   string      `json:"name"`
	Type   string      `json:"type"`
	Built  time.Time   `json:"built"`
	Before []time.Time `json:"built_before,omitempty"` // of those that earlier parts asked
	Faults uint64      `json:"faults,omitempty"`       // addresses whose data is damaged, in this part
}

func (bs geoBases) notes() (notes []geoNote) {
	for _, b := range bs {
		notes = append(notes, geoNote{b.name, b.kind(), b.built(), b.before, b.faults})
	}
	return notes
}
