package master

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// MaxUDPFilter is the maximum length in bytes of a filter that is sent to a master
// server over UDP. The Web API accepts far longer filters.
const MaxUDPFilter = 190

// The keys of the conditions. The protocol defines them, so they must not be
// changed. A new key must be added to known, below. To give it a flag, add a row to
// conditions in the command's package masterlist.
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

// Condition is one condition of a Filter. Functions such as App and Map return
// conditions with known keys; ParseFilter accepts unknown keys too.
type Condition struct {
	Key   string      // as in the protocol, without the backslash
	Value string      // empty for a group
	Group []Condition // the conditions in a nor, nand or or
}

// App selects the servers of one game by its Steam application ID.
func App(id uint32) Condition { return Condition{Key: keyApp, Value: decimal(id)} }

// NotApp excludes the servers of one game.
func NotApp(id uint32) Condition { return Condition{Key: keyNotApp, Value: decimal(id)} }

// Dedicated selects dedicated servers.
func Dedicated() Condition { return Condition{Key: keyDedicated, Value: "1"} }

// Secure selects servers with an anti-cheat system.
func Secure() Condition { return Condition{Key: keySecure, Value: "1"} }

// Linux selects servers that run on Linux.
func Linux() Condition { return Condition{Key: keyLinux, Value: "1"} }

// NoPassword selects servers without a password.
func NoPassword() Condition { return Condition{Key: keyPassword, Value: "0"} }

// NotEmpty selects servers with players. Its key is "empty", which suggests the
// opposite.
func NotEmpty() Condition { return Condition{Key: keyNotEmpty, Value: "1"} }

// NotFull selects servers with a free player slot. Its key is "full", which
// suggests the opposite.
func NotFull() Condition { return Condition{Key: keyNotFull, Value: "1"} }

// Empty selects servers without players.
func Empty() Condition { return Condition{Key: keyEmpty, Value: "1"} }

// Proxy selects spectator relays.
func Proxy() Condition { return Condition{Key: keyProxy, Value: "1"} }

// Whitelisted selects servers on Valve's whitelist.
func Whitelisted() Condition { return Condition{Key: keyWhitelisted, Value: "1"} }

// OnePerAddress requests only one server per IP address. Some masters ignore this
// condition, and others return no servers.
func OnePerAddress() Condition { return Condition{Key: keyOnePerAddress, Value: "1"} }

// GameDir selects the servers of one game or mod by the name of its folder.
func GameDir(name string) Condition { return Condition{Key: keyGameDir, Value: name} }

// Map selects servers by the name of their current map.
func Map(name string) Condition { return Condition{Key: keyMap, Value: name} }

// GameType selects servers whose public keywords contain all of the tags.
func GameType(tags ...string) Condition {
	return Condition{Key: keyGameType, Value: strings.Join(tags, ",")}
}

// GameData selects servers whose hidden keywords contain all of the tags (Left 4
// Dead 2).
func GameData(tags ...string) Condition {
	return Condition{Key: keyGameData, Value: strings.Join(tags, ",")}
}

// AnyGameData selects servers whose hidden keywords contain at least one of the
// tags (Left 4 Dead 2).
func AnyGameData(tags ...string) Condition {
	return Condition{Key: keyAnyGameData, Value: strings.Join(tags, ",")}
}

// Name selects servers by name; a * in the pattern matches any text.
func Name(pattern string) Condition { return Condition{Key: keyName, Value: pattern} }

// Version selects servers by version; a * in the pattern matches any text.
func Version(pattern string) Condition { return Condition{Key: keyVersion, Value: pattern} }

// Address selects the servers at one IP address and port, or on all ports of the
// address if port is 0.
func Address(ip netip.Addr, port uint16) Condition {
	if port == 0 {
		return Condition{Key: keyAddress, Value: ip.String()}
	}
	return Condition{Key: keyAddress, Value: netip.AddrPortFrom(ip, port).String()}
}

// Type selects servers by the letter of their type, such as 'd' for dedicated. It
// is an older form of Dedicated.
func Type(letter byte) Condition { return Condition{Key: keyType, Value: string(rune(letter))} }

// Nor excludes servers that meet any of the conditions. If one of the conditions is
// a group, it counts as one condition.
func Nor(cs ...Condition) Condition { return Condition{Key: keyNor, Group: cs} }

// Nand excludes servers that meet all of the conditions.
func Nand(cs ...Condition) Condition { return Condition{Key: keyNand, Group: cs} }

// Or selects servers that meet any of the conditions. It is undocumented, but
// clients use it.
func Or(cs ...Condition) Condition { return Condition{Key: keyOr, Group: cs} }

func decimal(id uint32) string { return strconv.FormatUint(uint64(id), 10) }

// FilterError is the error for a filter that can't be parsed or sent to a master,
// or that the master would misinterpret.
type FilterError struct {
	Key     string // of the condition; empty: the problem is not that of one key
	Problem string // what is wrong, and in some cases how to fix it
}

// Error returns the key and the problem in one line.
func (e *FilterError) Error() string {
	if e.Key == "" {
		return "filter: " + e.Problem
	}
	return "filter " + show(e.Key) + ": " + e.Problem
}

// maxDepth is the maximum nesting depth of groups.
const maxDepth = 8

// Append appends the filter in the form that masters read. If the filter is
// invalid, Append returns dst unchanged and a *FilterError.
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

// check returns a *FilterError if a condition is invalid or would be misinterpreted
// by masters. depth is the number of groups that contain cs.
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
		// Masters silently drop an address condition that is alone in a nor, and
		// then return nothing.
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

// checkValue checks a condition that is not a group. It returns an error if the
// condition has a Group, or if its value is empty, contains \ or NUL (the protocol
// has no escapes), or contains a * although its key is known to take no pattern.
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

// known holds all keys that are documented or used by a client.
var known = map[string]bool{
	keyNor: true, keyNand: true, keyOr: true, keyDedicated: true, keySecure: true,
	keyGameDir: true, keyMap: true, keyLinux: true, keyPassword: true, keyNotEmpty: true,
	keyNotFull: true, keyProxy: true, keyApp: true, keyNotApp: true, keyEmpty: true,
	keyWhitelisted: true, keyGameType: true, keyGameData: true, keyAnyGameData: true,
	keyName: true, keyVersion: true, keyOnePerAddress: true, keyAddress: true, keyType: true,
}

// Unknown returns the keys in the filter, including those in groups, that are
// neither documented nor used by a known client. Masters ignore keys that they do
// not know.
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
