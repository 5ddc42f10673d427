package masterlist

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// condition is a condition of a master's filter. It can be set by its own flag or
// in the value of a group flag.
type condition struct {
	name  string
	value string // placeholder of the value in the help; empty: the flag takes no value
	help  string
	make  func(value string) (master.Condition, error)
	once  bool // no server can meet two conditions of this kind
}

// conditions are the conditions that masters know, in the order of the help. For a
// new condition, add its key and its constructor to scanner/master/filter.go.
var conditions = []condition{
	{"app", "ID", "only servers of the game with the Steam application `ID`, such as 440", numbered(master.App), true},
	{"not-app", "ID", "no servers of the game with this `ID`; may be repeated", numbered(master.NotApp), false},
	{"game-dir", "NAME", "only servers whose game or mod has the folder `NAME`, such as tf", named(master.GameDir), true},
	{"map", "NAME", "only servers on the map `NAME`", named(master.Map), true},
	{"name", "PATTERN", "only servers whose name matches `PATTERN`; * stands for any text", named(master.Name), false},
	{"game-version", "PATTERN", "only servers whose version matches `PATTERN`; * stands for any text", named(master.Version), false},
	{"address", "IP[:PORT]", "only servers at the address `IP[:PORT]`", addressed, true},
	{"dedicated", "", "only dedicated servers", bare(master.Dedicated), true},
	{"type", "LETTER", "only servers of the type `LETTER`; d is an old form of --dedicated", lettered, true},
	{"secure", "", "only servers with an anti-cheat system", bare(master.Secure), true},
	{"linux", "", "only servers on Linux", bare(master.Linux), true},
	{"no-password", "", "only servers without a password", bare(master.NoPassword), true},
	{"not-empty", "", "only servers with players", bare(master.NotEmpty), true},
	{"empty", "", "only servers without players", bare(master.Empty), true},
	{"not-full", "", "only servers with a free slot", bare(master.NotFull), true},
	{"proxy", "", "only spectator relays", bare(master.Proxy), true},
	{"whitelisted", "", "only servers that Valve has whitelisted", bare(master.Whitelisted), true},
	{"game-type", "TAGS", "only servers whose keywords have all of these `TAGS`, such as a,b", tagged(master.GameType), false},
	{"game-data", "TAGS", "only servers with all of these hidden `TAGS`, such as a,b (Left 4 Dead 2)", tagged(master.GameData), false},
	{"any-game-data", "TAGS", "only servers with at least one of these hidden `TAGS`, such as a,b (Left 4 Dead 2)", tagged(master.AnyGameData), false},
	{"one-per-address", "", "only one server per address; some masters ignore this, others return nothing", bare(master.OnePerAddress), true},
}

func named(of func(string) master.Condition) func(string) (master.Condition, error) {
	return func(s string) (master.Condition, error) { return of(s), nil }
}

func tagged(of func(...string) master.Condition) func(string) (master.Condition, error) {
	return func(s string) (master.Condition, error) { return of(strings.Split(s, ",")...), nil }
}

func bare(of func() master.Condition) func(string) (master.Condition, error) {
	return func(string) (master.Condition, error) { return of(), nil }
}

func numbered(of func(uint32) master.Condition) func(string) (master.Condition, error) {
	return func(s string) (master.Condition, error) {
		id, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return master.Condition{}, errors.New("want the number of a Steam application, such as 440")
		}
		return of(uint32(id)), nil
	}
}

func addressed(s string) (master.Condition, error) {
	if at, err := netip.ParseAddrPort(s); err == nil && at.Addr().Is4() {
		return master.Address(at.Addr(), at.Port()), nil
	}
	ip, err := netip.ParseAddr(s)
	if err != nil || !ip.Is4() {
		return master.Condition{}, errors.New("want an IPv4 address, with or without :PORT")
	}
	return master.Address(ip, 0), nil
}

func lettered(s string) (master.Condition, error) {
	if len(s) != 1 {
		return master.Condition{}, errors.New("want one letter, such as d")
	}
	return master.Type(s[0]), nil
}

// groups describes the flags whose value is a list of conditions.
var groups = []struct {
	name, help string
	make       func(...master.Condition) master.Condition
}{
	{"nor", "no servers that meet any condition of the `LIST`, such as map=cp_dustbowl,empty", master.Nor},
	{"nand", "no servers that meet all conditions of the `LIST`", master.Nand},
	{"or", "only servers that meet at least one condition of the `LIST` (undocumented, but in use)", master.Or},
}

// Value is the value of a flag.
type Value interface {
	Set(string) error
	String() string
	Type() string // placeholder of the value in the help
}

// Flag describes a flag that selects servers.
type Flag struct {
	Name   string
	Help   string
	Value  Value
	Switch bool // the flag takes no value
}

// FilterFlags returns the flags that set region and filter. Conditions are appended
// to the filter in the order in which the flags are set, because masters read them
// in order.
func FilterFlags(region *Region, filter *master.Filter) []Flag {
	all := []Flag{{"region", "only servers in the region `NAME`: us-east, us-west, south-america, europe, asia, australia, middle-east, africa or world", region, false}}
	for i := range conditions {
		c := &conditions[i]
		all = append(all, Flag{c.name, c.help, &conditionFlag{filter, c}, c.value == ""})
	}
	for _, g := range groups {
		all = append(all, Flag{g.name, g.help, &groupFlag{filter, g.make}, false})
	}
	return append(all, Flag{"filter", `more conditions, in the syntax that masters use: ` + "`TEXT`" + ` such as '\appid\440\empty\1'`, &rawFlag{filter}, false})
}

// Region is the value of a flag for a region of the world.
type Region master.Region

// Set parses a region's name or number.
func (r *Region) Set(s string) error {
	v, err := master.ParseRegion(s)
	*r = Region(v)
	return err
}

func (r *Region) String() string { return master.Region(*r).String() }

// Type returns the placeholder of the value in the help.
func (r *Region) Type() string { return "NAME" }

// conditionFlag is the value of a flag that adds one condition to a filter.
type conditionFlag struct {
	filter *master.Filter
	of     *condition
}

// Set parses the condition's value and adds the condition to the filter.
func (c *conditionFlag) Set(s string) error {
	if c.of.value == "" && s != "true" {
		return errors.New("takes no value")
	}
	made, err := c.of.check(s)
	if err != nil {
		return err
	}
	if c.of.once && slices.ContainsFunc(*c.filter, func(old master.Condition) bool { return old.Key == made.Key }) {
		return fmt.Errorf("no server meets two such conditions: --or %s=…,%s=… finds servers that meet one of them",
			c.of.name, c.of.name)
	}
	*c.filter = append(*c.filter, made)
	return nil
}

// check returns the condition with this value. It returns an error if the filter
// could not express the value.
func (c *condition) check(value string) (master.Condition, error) {
	made, err := c.make(value)
	if err == nil {
		_, err = master.Filter{made}.Append(nil)
	}
	return made, err
}

func (c *conditionFlag) String() string { return "" }

// Type returns the placeholder of the value in the help.
func (c *conditionFlag) Type() string {
	if c.of.value == "" {
		return "bool" // pflag shows no placeholder for this type
	}
	return c.of.value
}

// Repeatable reports whether a server can meet two conditions of this kind.
func (c *conditionFlag) Repeatable() bool { return !c.of.once }

// groupFlag is the value of a flag that adds a group of conditions to a filter.
type groupFlag struct {
	filter *master.Filter
	make   func(...master.Condition) master.Condition
}

// Set parses a list of conditions, separated by commas, and adds the group to the
// filter. Each condition is the name of a flag, or NAME=VALUE.
func (g *groupFlag) Set(s string) error {
	var cs []master.Condition
	for word := range strings.SplitSeq(s, ",") {
		c, err := parseCondition(word)
		if err != nil {
			return err
		}
		cs = append(cs, c)
	}
	made := g.make(cs...)
	if _, err := (master.Filter{made}).Append(nil); err != nil {
		return err
	}
	*g.filter = append(*g.filter, made)
	return nil
}

// parseCondition parses one condition of a group.
func parseCondition(word string) (master.Condition, error) {
	name, value, has := strings.Cut(word, "=")
	for i := range conditions {
		c := &conditions[i]
		switch {
		case c.name != name:
		case has && c.value == "":
			return master.Condition{}, fmt.Errorf("%s takes no value", name)
		case !has && c.value != "":
			return master.Condition{}, fmt.Errorf("%s needs a value: %s=%s", name, name, c.value)
		default:
			return c.check(value)
		}
	}
	return master.Condition{}, fmt.Errorf(
		"%s is no condition: want names of flags, such as map=cp_dustbowl,empty; --filter takes everything else",
		console.Quoted(name, 40))
}

func (g *groupFlag) String() string { return "" }

// Type returns the placeholder of the value in the help.
func (g *groupFlag) Type() string { return "LIST" }

// Repeatable returns true: a filter may have several groups of one kind.
func (g *groupFlag) Repeatable() bool { return true }

// Words returns the names of the conditions for shell completion, followed by "="
// if the condition needs a value.
func (g *groupFlag) Words() (names []string) {
	for _, c := range conditions {
		if c.value != "" {
			c.name += "="
		}
		names = append(names, c.name)
	}
	return names
}

// rawFlag is the value of a flag that adds conditions in the syntax of masters to a
// filter.
type rawFlag struct{ filter *master.Filter }

// Set parses a filter in the syntax of masters and appends its conditions.
func (r *rawFlag) Set(s string) error {
	f, err := master.ParseFilter(s)
	*r.filter = append(*r.filter, f...)
	return err
}

func (r *rawFlag) String() string { return "" }

// Type returns the placeholder of the value in the help.
func (r *rawFlag) Type() string { return "TEXT" }

// Repeatable returns true: Set appends the conditions of each use of the flag.
func (r *rawFlag) Repeatable() bool { return true }
