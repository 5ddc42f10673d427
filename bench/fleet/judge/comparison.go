package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"net/netip"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

// Comparison holds a census against the records that it should have, of which
// it keeps no more than a digest each: both must have their keys in the order in
// which a scan writes them. What Compare leaves aside it leaves aside too.
type Comparison struct {
	Servers    int              // records of servers that answer
	Same       int              // of those: found again as they were
	Differ     []netip.AddrPort // the first of those that are not as they were
	MoreDiffer int              // how many more those are
	Others     int              // records of other places, or after the first of one

	seed    maphash.Seed
	digests map[uint64]digest
	members []member
	hash    maphash.Hash
}

// digest is that of a record, and whether it was found again.
type digest struct {
	sum  uint64
	seen bool
}

// NewComparison returns one that knows no server.
func NewComparison() *Comparison {
	return &Comparison{seed: maphash.MakeSeed(), digests: map[uint64]digest{}}
}

// Want adds a record that the census should have, of a server at another place
// than the record says. One of a server that never answered claims nothing.
func (c *Comparison) Want(at netip.AddrPort, line []byte) error {
	line, status, err := tidy(line)
	if err != nil || claimsNothing(status) {
		return err
	}
	sum, err := c.digest(line)
	if err == nil {
		c.Servers++
		c.digests[udp.Pack(at)] = digest{sum: sum}
	}
	return err
}

// tidy returns a record without spaces, and its status.
func tidy(line []byte) ([]byte, string, error) {
	status := ""
	keep := func(key, value []byte) {
		if string(key) == "status" {
			status = string(bytes.Trim(value, `"`))
		}
	}
	if eachMember(line, keep) {
		return line, status, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, line); err != nil {
		return nil, "", err
	}
	eachMember(b.Bytes(), keep)
	return b.Bytes(), status, nil
}

// Got judges the next record of the census. The error says that it is none.
func (c *Comparison) Got(line []byte) error {
	line, at, status, err := identifyAny(line)
	if err != nil || claimsNothing(status) {
		return err
	}
	sum, err := c.digest(line)
	if err != nil {
		return err
	}
	d, ok := c.digests[udp.Pack(at)]
	switch {
	case !ok || d.seen:
		c.Others++
		return nil
	case d.sum == sum:
		c.Same++
	case len(c.Differ) < maxExamples:
		c.Differ = append(c.Differ, at)
	default:
		c.MoreDiffer++
	}
	d.seen = true
	c.digests[udp.Pack(at)] = d
	return nil
}

func claimsNothing(status string) bool {
	return status == scanner.StatusNoReply.String() || status == scanner.StatusUnreachable.String()
}

// digest returns that of what a record says.
func (c *Comparison) digest(line []byte) (uint64, error) {
	ms, ok := members(c.members[:0], line)
	if !ok {
		return 0, errors.New("not a record")
	}
	c.members = ms
	c.hash.SetSeed(c.seed)
	for _, m := range ms {
		c.hash.Write(m.key)
		c.hash.WriteByte(0)
		c.hash.Write(m.value)
		c.hash.WriteByte(0)
	}
	return c.hash.Sum64(), nil
}

// Missing is how many servers were not found again.
func (c *Comparison) Missing() int {
	return c.Servers - c.Same - len(c.Differ) - c.MoreDiffer
}

// Good reports whether the census has all that it should have, and no more.
func (c *Comparison) Good() bool { return c.Same == c.Servers && c.Others == 0 }

// Differs reports whether a server is one of Differ.
func (c *Comparison) Differs(at netip.AddrPort) bool {
	for _, a := range c.Differ {
		if a == at {
			return true
		}
	}
	return false
}

// AddrOf returns whose record a line is.
func AddrOf(line []byte) (netip.AddrPort, error) {
	_, at, _, err := identifyAny(line)
	return at, err
}

// LeftAside reports whether a comparison does not look at a key of a record, or
// at the one that begins a path of keys with points between them:
// times, counts, and what depends on the input or on the way there.
func LeftAside(key string) bool {
	key, _, _ = strings.Cut(key, ".")
	return isLeftAside(key)
}
