package tally

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// TopNames finds the most frequent names of servers' games, maps or versions. The
// names come from the network, so their number and length are limited, and they
// must be quoted when they are shown.
type TopNames struct {
	spaceSaving[string]
	cut bool // it comes from a checkpoint, which may have omitted names
}

// maxName is the maximum length of a name in bytes. namesKept is the maximum number
// of names in a checkpoint.
const (
	maxName   = 128
	namesKept = 256
)

// add counts one server with this name. Names that have the same first maxName
// bytes count as equal.
func (t *TopNames) add(name []byte) {
	name = cutName(name)
	if old := t.at[string(name)]; old != nil { // with this lookup, the compiler allocates no string
		t.again(old)
		return
	}
	t.spaceSaving.add(string(name))
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

func (t *TopNames) top(n int) []counted[string] { return t.spaceSaving.top(n, strings.Compare) }

func (t *TopNames) clone() TopNames { return TopNames{t.spaceSaving.clone(), t.cut} }

// Number formats how many different names there are.
func (t *TopNames) Number() string {
	if t.cut || t.full() {
		return fmt.Sprintf("%d or more", len(t.by))
	}
	return fmt.Sprint(len(t.by))
}

// nameCount is one of the names in a checkpoint. JSON has the name as base64,
// because it need not be UTF-8.
type nameCount struct {
	Name    []byte `json:"name"`
	Servers uint64 `json:"servers"`
	Over    uint64 `json:"over,omitempty"`
}

// MarshalJSON encodes the names with the most servers, up to namesKept of them.
func (t TopNames) MarshalJSON() ([]byte, error) {
	list := []nameCount{}
	for _, c := range t.top(namesKept) {
		list = append(list, nameCount{[]byte(c.Key), c.Servers, c.Over})
	}
	return json.Marshal(list)
}

// UnmarshalJSON decodes what MarshalJSON returned.
func (t *TopNames) UnmarshalJSON(text []byte) error {
	var list []nameCount
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	all := make([]counted[string], len(list))
	for i, one := range list {
		all[i] = counted[string]{Key: string(cutName(one.Name)), Servers: one.Servers, Over: one.Over}
	}
	*t = TopNames{frequentOf(all), len(all) >= namesKept}
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
func (t *TopNames) Top(n int) []NameCount {
	list := []NameCount{}
	for _, c := range t.top(n) {
		one := NameCount{Name: c.Key, Servers: c.Servers, Over: c.Over}
		if !utf8.ValidString(c.Key) {
			one.Name = strings.ToValidUTF8(c.Key, "\ufffd")
			one.NameHex = hex.EncodeToString([]byte(c.Key))
		}
		list = append(list, one)
	}
	return list
}

// Shown shortens each name to width/nameParts characters, but to at least leastName
// and at most mostName.
const (
	leastName = 12
	mostName  = 28
	nameParts = 4
)

// Shown formats the names with the most servers: as many as fit into width
// characters, but at least one and at most n. all is the number of servers that the
// percentages refer to.
func (t *TopNames) Shown(n, width int, all uint64) string {
	s := ""
	each := max(leastName, min(width/nameParts, mostName))
	for i, c := range t.top(n) {
		part := fmt.Sprintf("%s %s (%s)", console.Quoted(c.Key, each), c.number(), console.Percent(c.Servers, all))
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

// number formats the number of servers of a key, with "at most" if it may be too
// high.
func (c *counted[K]) number() string {
	if c.Over > 0 {
		return "at most " + console.Grouped(c.Servers)
	}
	return console.Grouped(c.Servers)
}
