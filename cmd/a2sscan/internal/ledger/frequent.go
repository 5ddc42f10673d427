package ledger

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	at      map[string]*counted
	dropped uint64 // the largest count that was dropped
	cut     bool   // it comes from a checkpoint, which may have omitted names
}

// counted is a name with its number of servers. JSON has the name as base64, because it
// need not be UTF-8.
type counted struct {
	Name    []byte `json:"name"`
	Servers uint64 `json:"servers"`
	Over    uint64 `json:"over,omitempty"` // maximum by which Servers may be too high
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
	if one := f.at[string(name)]; one != nil { // with this lookup, the compiler allocates no string
		one.Servers++
		return
	}
	f.addText(string(name))
}

// addText counts one server with a name of this program, or one that add has cut.
func (f *Frequent) addText(name string) {
	one := f.at[name]
	if one == nil {
		if f.at == nil {
			f.at = map[string]*counted{}
		}
		if len(f.at) >= 2*maxFrequent {
			f.prune()
		}
		one = &counted{[]byte(name), f.dropped, f.dropped}
		f.at[name] = one
	}
	one.Servers++
}

// prune drops all but maxFrequent names: those with the most servers, and any of equals. It
// sorts numbers, not names: the addresses of a scan are all different, so that it runs often.
func (f *Frequent) prune() {
	counts := make([]uint64, 0, len(f.at))
	for _, one := range f.at {
		counts = append(counts, one.Servers)
	}
	slices.Sort(counts)
	f.dropped = counts[len(counts)-maxFrequent-1]
	above, _ := slices.BinarySearch(counts, f.dropped+1)
	equals := maxFrequent - (len(counts) - above)
	for name, one := range f.at {
		switch {
		case one.Servers > f.dropped:
		case one.Servers == f.dropped && equals > 0:
			equals--
		default:
			delete(f.at, name)
		}
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
	all := make([]counted, 0, len(f.at))
	for _, one := range f.at {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(x, y counted) int {
		return cmp.Or(cmp.Compare(y.Servers, x.Servers), slices.Compare(x.Name, y.Name))
	})
	return all[:min(n, len(all))]
}

// clone returns an independent copy.
func (f *Frequent) clone() Frequent {
	c := Frequent{at: make(map[string]*counted, len(f.at)), dropped: f.dropped, cut: f.cut}
	for name, one := range f.at {
		same := *one
		c.at[name] = &same
	}
	return c
}

// MarshalJSON encodes the names with the most servers, up to namesKept of them: rare ones
// are not worth writing every second.
func (f Frequent) MarshalJSON() ([]byte, error) { return json.Marshal(f.top(namesKept)) }

// UnmarshalJSON decodes what MarshalJSON returned.
func (f *Frequent) UnmarshalJSON(text []byte) error {
	var list []counted
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	list = list[:min(len(list), maxFrequent)]
	*f = Frequent{at: make(map[string]*counted, len(list)), cut: len(list) >= namesKept}
	for i := range list {
		list[i].Name = cutName(list[i].Name)
		f.at[string(list[i].Name)] = &list[i]
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
		one := NameCount{Name: string(c.Name), Servers: c.Servers, Over: c.Over}
		if !utf8.Valid(c.Name) {
			one.Name = strings.ToValidUTF8(one.Name, "\ufffd")
			one.NameHex = hex.EncodeToString(c.Name)
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
		if addr, ok := netip.AddrFromSlice(c.Name); ok {
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
		name := console.Quoted(string(c.Name), max(leastName, min(width/4, mostName)))
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
		return fmt.Sprintf("%d or more", len(f.at))
	}
	return fmt.Sprint(len(f.at))
}
