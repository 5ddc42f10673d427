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

// Comparison compares a census with the records that it should contain. It keeps
// only a digest of each record, so all records must have their keys in the order in
// which a scan writes them. It ignores the same keys as Compare.
type Comparison struct {
	Servers    int              // records of servers that answer
	Same       int              // servers whose record the census has unchanged
	Differ     []netip.AddrPort // the first maxExamples servers whose records differ
	MoreDiffer int              // number of further servers whose records differ
	Others     int              // records of other addresses, or further records of an address

	seed    maphash.Seed
	digests map[uint64]digest
	members []member
	hash    maphash.Hash
}

// digest is the digest of a wanted record. seen means that the census has a record
// of the same server.
type digest struct {
	sum  uint64
	seen bool
}

// NewComparison returns a Comparison without any records.
func NewComparison() *Comparison {
	return &Comparison{seed: maphash.MakeSeed(), digests: map[uint64]digest{}}
}

// Want adds a record that the census should contain. at is the current address of
// the server, which may differ from the address in the record. Want ignores records
// of servers that never answered.
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

// Got compares the next record of the census with the wanted record of the same
// address. It returns an error if line is not a record.
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

// digest returns the digest of the members of a record that are compared.
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

// Missing returns how many of the wanted servers have no record.
func (c *Comparison) Missing() int {
	return c.Servers - c.Same - len(c.Differ) - c.MoreDiffer
}

// Good reports whether the census contains everything that it should, and nothing
// else.
func (c *Comparison) Good() bool { return c.Same == c.Servers && c.Others == 0 }

// Differs reports whether a server is in Differ.
func (c *Comparison) Differs(at netip.AddrPort) bool {
	for _, a := range c.Differ {
		if a == at {
			return true
		}
	}
	return false
}

// AddrOf returns the address in a record.
func AddrOf(line []byte) (netip.AddrPort, error) {
	_, at, _, err := identifyAny(line)
	return at, err
}

// LeftAside reports whether comparisons ignore a key of a record. In a path of keys
// separated by dots, the first key decides. Comparisons ignore times, counts,
// values that depend on the input or on the network path, and values that only
// follow from the answers.
func LeftAside(key string) bool {
	key, _, _ = strings.Cut(key, ".")
	return isLeftAside(key)
}
