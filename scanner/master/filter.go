package master

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// MaxUDPFilter is the maximum length in bytes of a filter for a master server; the
// Web API accepts far longer ones.
const MaxUDPFilter = 190

// The keys of the filters. They are the protocol's and must not be changed. A new key
// also belongs in known, below; its flag is a row of conditions in the command's
// package masterlist.
const (
	keyNor           = "nor"
	keyNand          = "nand"
	keyOr            = "or"
	keyDedicated     = "dedicated"
	keySecure        = "secure"
	keyGameDir       = "gamedir"
	keyMap           = "map"
	keyLinux         = "linux"
	keyPassword      = "password"
	keyNotEmpty      = "empty"
	keyNotFull       = "full"
	keyProxy         = "proxy"
	keyApp           = "appid"
	keyNotApp        = "napp"
	keyEmpty         = "noplayers"
	keyWhitelisted   = "white"
	keyGameType      = "gametype"
	keyGameData      = "gamedata"
	keyAnyGameData   = "gamedataor"
	keyName          = "name_match"
	keyVersion       = "version_match"
	keyOnePerAddress = "collapse_addr_hash"
	keyAddress       = "gameaddr"
	keyType          = "type"
)

// Filter selects the servers that meet all of its conditions. The conditions are
// sent in the given order. An empty Filter selects all servers.
//
// Masters do not guarantee that the servers they return meet the filter.
type Filter []Condition

// Condition is one condition of a Filter. The functions of this package return the
// known conditions; ParseFilter can return others.
type Condition struct {
	Key   string      // as in the protocol, without the backslash
	Value string      // of a condition that is not a group
	Group []Condition // of nor, nand and or
}

// App chooses servers of one game by its Steam application ID.
func App(id uint32) Condition { return Condition{Key: keyApp, Value: decimal(id)} }

// NotApp excludes the servers of one game.
func NotApp(id uint32) Condition { return Condition{Key: keyNotApp, Value: decimal(id)} }

// Dedicated chooses dedicated servers.
func Dedicated() Condition { return Condition{Key: keyDedicated, Value: "1"} }

// Secure chooses servers with an anti-cheat system.
func Secure() Condition { return Condition{Key: keySecure, Value: "1"} }

// Linux chooses servers on Linux.
func Linux() Condition { return Condition{Key: keyLinux, Value: "1"} }

// NoPassword chooses servers without a password.
func NoPassword() Condition { return Condition{Key: keyPassword, Value: "0"} }

// NotEmpty chooses servers with players. Its key is "empty", which suggests the
// opposite.
func NotEmpty() Condition { return Condition{Key: keyNotEmpty, Value: "1"} }

// NotFull chooses servers with a free place. Its key is "full", which suggests the
// opposite.
func NotFull() Condition { return Condition{Key: keyNotFull, Value: "1"} }

// Empty chooses servers without players.
func Empty() Condition { return Condition{Key: keyEmpty, Value: "1"} }

// Proxy chooses spectator relays.
func Proxy() Condition { return Condition{Key: keyProxy, Value: "1"} }

// Whitelisted chooses servers on Valve's whitelist.
func Whitelisted() Condition { return Condition{Key: keyWhitelisted, Value: "1"} }

// OnePerAddress asks for one server per IP address. Some masters ignore it, and
// some return nothing.
func OnePerAddress() Condition { return Condition{Key: keyOnePerAddress, Value: "1"} }

// GameDir chooses servers of one game or mod by the name of its folder.
func GameDir(name string) Condition { return Condition{Key: keyGameDir, Value: name} }

// Map chooses servers on one map.
func Map(name string) Condition { return Condition{Key: keyMap, Value: name} }

// GameType chooses servers that have all of the tags in their public keywords.
func GameType(tags ...string) Condition {
	return Condition{Key: keyGameType, Value: strings.Join(tags, ",")}
}

// GameData chooses servers that have all of the tags in their hidden keywords
// (Left 4 Dead 2).
func GameData(tags ...string) Condition {
	return Condition{Key: keyGameData, Value: strings.Join(tags, ",")}
}

// AnyGameData chooses servers that have one of the tags in their hidden
// keywords (Left 4 Dead 2).
func AnyGameData(tags ...string) Condition {
	return Condition{Key: keyAnyGameData, Value: strings.Join(tags, ",")}
}

// Name chooses servers by their name; a * in the pattern stands for any text.
func Name(pattern string) Condition { return Condition{Key: keyName, Value: pattern} }

// Version chooses servers by their version; a * in the pattern stands for any
// text.
func Version(pattern string) Condition { return Condition{Key: keyVersion, Value: pattern} }

// Address chooses the servers at one IP address, or only the one with this port if
// port is not 0.
func Address(ip netip.Addr, port uint16) Condition {
	if port == 0 {
		return Condition{Key: keyAddress, Value: ip.String()}
	}
	return Condition{Key: keyAddress, Value: netip.AddrPortFrom(ip, port).String()}
}

// Type chooses servers by the letter of their type, such as 'd' for dedicated. It
// is an older form of Dedicated.
func Type(letter byte) Condition { return Condition{Key: keyType, Value: string(rune(letter))} }

// Nor excludes servers that meet any of the conditions. A group counts as one
// condition.
func Nor(cs ...Condition) Condition { return Condition{Key: keyNor, Group: cs} }

// Nand excludes servers that meet all of the conditions.
func Nand(cs ...Condition) Condition { return Condition{Key: keyNand, Group: cs} }

// Or chooses servers that meet any of the conditions. It is undocumented, but
// clients use it.
func Or(cs ...Condition) Condition { return Condition{Key: keyOr, Group: cs} }

func decimal(id uint32) string { return strconv.FormatUint(uint64(id), 10) }

// FilterError is the error for a condition that can't be sent to a master, or that
// the master would misinterpret.
type FilterError struct {
	Key     string // of the condition; empty: the problem is the filter itself
	Problem string // what is wrong, and what to do about it
}

// Error returns key and problem in one line.
func (e *FilterError) Error() string {
	if e.Key == "" {
		return "filter: " + e.Problem
	}
	return "filter " + show(e.Key) + ": " + e.Problem
}

// maxDepth limits the nesting of groups.
const maxDepth = 8

// Append appends the filter in the form that masters read. If it returns a
// *FilterError, dst is unchanged.
func (f Filter) Append(dst []byte) ([]byte, error) {
	if err := check(f, 0); err != nil {
		return dst, err
	}
	return appendConditions(dst, f), nil
}

// String returns the filter in the form that masters read, without checking it.
func (f Filter) String() string { return string(appendConditions(nil, f)) }

func appendConditions(dst []byte, cs []Condition) []byte {
	for i := range cs {
		c := &cs[i]
		dst = append(append(append(dst, '\\'), c.Key...), '\\')
		if !isGroup(c.Key) {
			dst = append(dst, c.Value...)
			continue
		}
		dst = strconv.AppendInt(dst, int64(len(c.Group)), 10)
		dst = appendConditions(dst, c.Group)
	}
	return dst
}

func isGroup(key string) bool { return key == keyNor || key == keyNand || key == keyOr }

// check returns an error if masters would misinterpret the conditions.
func check(cs []Condition, depth int) error {
	for i := range cs {
		if err := cs[i].check(depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *Condition) check(depth int) error {
	if err := c.checkKey(); err != nil {
		return err
	}
	if !isGroup(c.Key) {
		return c.checkValue()
	}
	switch {
	case c.Value != "":
		return &FilterError{c.Key, "has a value beside its conditions"}
	case len(c.Group) == 0:
		return &FilterError{c.Key, "there is no condition in it"}
	case depth == maxDepth:
		return &FilterError{c.Key, fmt.Sprintf("more than %d groups in each other", maxDepth)}
	case c.Key == keyNor && addresses(c.Group) == 1:
		// Masters drop such a condition silently, and then return nothing.
		return &FilterError{c.Key, "masters return nothing where a nor has a single " + keyAddress +
			" in it; name two or none"}
	}
	return check(c.Group, depth+1)
}

func addresses(cs []Condition) (n int) {
	for i := range cs {
		if cs[i].Key == keyAddress {
			n++
		}
	}
	return n
}

func (c *Condition) checkKey() error {
	if c.Key == "" {
		return &FilterError{"", "a condition has no key"}
	}
	if strings.ContainsAny(c.Key, "\\\x00*") {
		return &FilterError{c.Key, "a key must not hold \\, * or NUL"}
	}
	return nil
}

// checkValue refuses a value that would end early or mean something else. The
// protocol has no escapes.
func (c *Condition) checkValue() error {
	switch {
	case len(c.Group) > 0:
		return &FilterError{c.Key, "takes no conditions"}
	case c.Value == "":
		return &FilterError{c.Key, "the value is empty"}
	case strings.ContainsAny(c.Value, "\\\x00"):
		return &FilterError{c.Key, "the value " + show(c.Value) + " must not hold \\ or NUL"}
	case known[c.Key] && !wild[c.Key] && strings.Contains(c.Value, "*"):
		return &FilterError{c.Key, "the value " + show(c.Value) + " must not hold *, which " +
			keyName + " and " + keyVersion + " alone understand"}
	}
	return nil
}

// wild holds the keys whose values are patterns.
var wild = map[string]bool{keyName: true, keyVersion: true}

// known holds all keys that are documented or in use.
var known = map[string]bool{
	keyNor: true, keyNand: true, keyOr: true, keyDedicated: true, keySecure: true,
	keyGameDir: true, keyMap: true, keyLinux: true, keyPassword: true, keyNotEmpty: true,
	keyNotFull: true, keyProxy: true, keyApp: true, keyNotApp: true, keyEmpty: true,
	keyWhitelisted: true, keyGameType: true, keyGameData: true, keyAnyGameData: true,
	keyName: true, keyVersion: true, keyOnePerAddress: true, keyAddress: true, keyType: true,
}

// Unknown returns the keys of the filter that no document and no client is known to
// use. Masters ignore keys that they do not know.
func (f Filter) Unknown() (keys []string) {
	for i := range f {
		if !known[f[i].Key] {
			keys = append(keys, f[i].Key)
		}
		keys = append(keys, Filter(f[i].Group).Unknown()...)
	}
	return keys
}

// appendUDP returns the encoded filter, or an error if it is longer than
// MaxUDPFilter.
func (f Filter) appendUDP() ([]byte, error) {
	b, err := f.Append(nil)
	if err == nil && len(b) > MaxUDPFilter {
		err = &FilterError{"", fmt.Sprintf("%d bytes long, and masters take %d over UDP; "+
			"leave out conditions, or ask the Web API", len(b), MaxUDPFilter)}
	}
	return b, err
}
