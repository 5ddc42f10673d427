package ledger

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Frequent finds the most frequent of servers' games, maps, versions or addresses, in
// memory that does not grow with the scan. When maxFrequent names are exceeded twofold, it
// drops the rarest, and a name that comes up later continues from the largest count that
// was dropped. So a count may be too high, by at most Over, but a name of more than one in
// maxFrequent servers is never missed (after "space saving": Metwally and others, 2005).
//
// Names come from the network: they must be quoted when they are shown. The zero value is
// empty.
type Frequent struct {
	at      map[string]int // the index of each name in all
	all     []counted
	dropped uint64 // the largest count that was dropped
	cut     bool   // it comes from a checkpoint, which may have omitted names
}

// counted is a name with its number of servers.
type counted struct {
	Name    string
	Servers uint64
	Over    uint64 // maximum by which Servers may be too high
}

// saved is a counted in a checkpoint: its name is base64, because it need not be UTF-8.
type saved struct {
	Name    []byte `json:"name"`
	Servers uint64 `json:"servers"`
	Over    uint64 `json:"over,omitempty"`
}

// The limits of names: of how many there are, of those in a checkpoint, and of the length
// of each in bytes.
const (
	maxFrequent = 4096
	namesKept   = 256
	maxName     = 128
)

// add counts one server with this name. Names that have the same first maxName bytes
// count as equal.
func (f *Frequent) add(name []byte) {
	name = cutName(name)
	i, known := f.at[string(name)] // for a lookup, the compiler allocates no string
	if !known {
		if len(f.all) >= 2*maxFrequent {
			f.prune()
		}
		i = f.append(counted{string(name), f.dropped, f.dropped})
	}
	f.all[i].Servers++
}

// append adds a name, and returns its index.
func (f *Frequent) append(one counted) int {
	if f.at == nil {
		f.at = map[string]int{}
	}
	i := len(f.all)
	f.all, f.at[one.Name] = append(f.all, one), i
	return i
}

// prune drops all but maxFrequent names: those with the most servers, and any of equals.
func (f *Frequent) prune() {
	slices.SortFunc(f.all, func(x, y counted) int { return cmp.Compare(y.Servers, x.Servers) })
	f.dropped = f.all[maxFrequent].Servers
	f.all = f.all[:maxFrequent]
	clear(f.at)
	for i := range f.all {
		f.at[f.all[i].Name] = i
	}
}

// cutName shortens a name to at most maxName bytes, without splitting a character.
func cutName(name []byte) []byte {
	if len(name) <= maxName {
		return name
	}
	cut := maxName
	for cut > maxName-utf8.UTFMax && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut]
}

// top returns the n names with the most servers, those with equal numbers by name.
func (f *Frequent) top(n int) []counted {
	all := slices.Clone(f.all)
	slices.SortFunc(all, func(x, y counted) int {
		return cmp.Or(cmp.Compare(y.Servers, x.Servers), cmp.Compare(x.Name, y.Name))
	})
	return all[:min(n, len(all))]
}

// clone returns a copy that later calls of add do not change.
func (f *Frequent) clone() Frequent {
	return Frequent{at: maps.Clone(f.at), all: slices.Clone(f.all), dropped: f.dropped, cut: f.cut}
}

// MarshalJSON encodes the names with the most servers, up to namesKept of them: rare ones
// are not worth writing every second.
func (f Frequent) MarshalJSON() ([]byte, error) {
	list := []saved{}
	for _, one := range f.top(namesKept) {
		list = append(list, saved{[]byte(one.Name), one.Servers, one.Over})
	}
	return json.Marshal(list)
}

// UnmarshalJSON decodes what MarshalJSON returned.
func (f *Frequent) UnmarshalJSON(text []byte) error {
	var list []saved
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*f = Frequent{cut: len(list) >= namesKept}
	for _, one := range list[:min(len(list), maxFrequent)] {
		f.append(counted{string(cutName(one.Name)), one.Servers, one.Over})
	}
	return nil
}

// NameCount is a name in a summary, with its number of servers.
type NameCount struct {
	Name    string `json:"name"`
	NameHex string `json:"name_hex,omitempty"` // the bytes of a name that is not UTF-8
	Servers uint64 `json:"servers"`
	Over    uint64 `json:"over,omitempty"` // maximum by which Servers may be too high
}

// Top returns the n names with the most servers, for a summary.
func (f *Frequent) Top(n int) []NameCount {
	list := []NameCount{}
	for _, c := range f.top(n) {
		one := NameCount{Name: c.Name, Servers: c.Servers, Over: c.Over}
		if !utf8.ValidString(c.Name) {
			one.Name = strings.ToValidUTF8(c.Name, "\ufffd")
			one.NameHex = hex.EncodeToString([]byte(c.Name))
		}
		list = append(list, one)
	}
	return list
}

// AddressCount is an address in a summary, with its number of servers.
type AddressCount struct {
	Addr    netip.Addr `json:"address"`
	Servers uint64     `json:"servers"`
	Over    uint64     `json:"over,omitempty"` // maximum by which Servers may be too high
}

// topAddresses returns the n addresses with the most servers. Their names are their 16 bytes.
func (f *Frequent) topAddresses(n int) []AddressCount {
	list := []AddressCount{}
	for _, c := range f.top(n) {
		if addr, ok := netip.AddrFromSlice([]byte(c.Name)); ok {
			list = append(list, AddressCount{addr.Unmap(), c.Servers, c.Over})
		}
	}
	return list
}

// Line shortens each name to a quarter of the width, but to at least leastName and at
// most mostName characters.
const (
	leastName = 12
	mostName  = 28
)

// Line formats the names with the most servers: as many as fit into width characters, but
// at least one and at most n. all is the number of servers that percentages refer to.
func (f *Frequent) Line(n, width int, all uint64) string {
	s := ""
	for i, c := range f.top(n) {
		number := console.Grouped(c.Servers)
		if c.Over > 0 {
			number = "at most " + number
		}
		name := console.Quoted(c.Name, max(leastName, min(width/4, mostName)))
		part := fmt.Sprintf("%s %s (%s)", name, number, console.Percent(c.Servers, all))
		if i > 0 {
			part = ", " + part
		}
		if i > 0 && utf8.RuneCountInString(s)+utf8.RuneCountInString(part) > width {
			break
		}
		s += part
	}
	return s
}

// Number formats how many different names there are.
func (f *Frequent) Number() string {
	if f.cut || f.dropped > 0 {
		return fmt.Sprintf("%d or more", len(f.all))
	}
	return fmt.Sprint(len(f.all))
}
