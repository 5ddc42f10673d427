package master

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Filter is a list of conditions, in the order in which masters read them. It selects the
// servers that meet all conditions; an empty Filter selects all servers. Masters do not
// guarantee that the servers they return meet the filter.
type Filter []Condition

// Condition is one condition of a Filter, such as appid and 440.
type Condition struct {
	Key   string      // as in the protocol, but without the backslash
	Value string      // empty for a group
	Group []Condition // the conditions of a "nor", "nand" or "or" group
}

// maxUDPFilter is the maximum length in bytes of a filter that is sent to a master
// server over UDP. The Web API accepts far longer filters.
const maxUDPFilter = 190

// known holds the filter keys that are documented, or that a client uses (docs/FORMATS.md,
// section 1).
var known = strings.Fields(`nor nand or dedicated secure gamedir map linux password empty full
	proxy appid napp noplayers white gametype gamedata gamedataor name_match version_match
	collapse_addr_hash gameaddr type`)

func isGroup(key string) bool { return key == "nor" || key == "nand" || key == "or" }

// ParseFilter parses a filter in the form that masters read:
// `\appid\440\nor\1\map\cp_dustbowl`. The value of a group is the number of conditions
// that follow; a group inside a group counts as one condition. ParseFilter accepts
// unknown keys. It returns an error for a filter that masters would misinterpret.
func ParseFilter(s string) (Filter, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '\\' {
		return nil, fmt.Errorf(`filter: %s must begin with \, as in \appid\440\empty\1`, show(s))
	}
	parts := strings.Split(s[1:], `\`)
	var f Filter
	for len(parts) > 0 {
		c, err := parseCondition(&parts)
		if err != nil {
			return nil, fmt.Errorf("filter: %w", err)
		}
		f = append(f, c)
	}
	return f, nil
}

// parseCondition parses a condition and removes it from parts, the keys and values that have
// not been parsed yet.
func parseCondition(parts *[]string) (Condition, error) {
	c := Condition{Key: (*parts)[0]}
	if len(*parts) < 2 {
		return c, fmt.Errorf("the key %s has no value", show(c.Key))
	}
	value := (*parts)[1]
	*parts = (*parts)[2:]
	if !isGroup(c.Key) {
		c.Value = value
		return c, c.check()
	}
	n, err := strconv.ParseUint(value, 10, 16)
	switch {
	case err != nil:
		return c, fmt.Errorf("the value of %s must be the number of conditions that follow, but is %s", c.Key, show(value))
	case n == 0:
		return c, fmt.Errorf("the group %s has no conditions", c.Key)
	}
	addresses := 0
	for range n {
		if len(*parts) == 0 {
			return c, fmt.Errorf("the value of the group %s is %d, but the number of conditions after it is %d", c.Key, n, len(c.Group))
		}
		inner, err := parseCondition(parts)
		if err != nil {
			return c, err
		}
		if inner.Key == "gameaddr" {
			addresses++
		}
		c.Group = append(c.Group, inner)
	}
	if c.Key == "nor" && addresses == 1 {
		return c, fmt.Errorf("masters return nothing for a nor group with a single gameaddr condition; use two such conditions, or none")
	}
	return c, nil
}

// check returns an error if masters would misinterpret c, which must not be a group. The
// protocol has no escapes.
func (c *Condition) check() error {
	wild := c.Key == "name_match" || c.Key == "version_match"
	switch {
	case c.Key == "":
		return fmt.Errorf("a condition has no key")
	case strings.ContainsAny(c.Key, "\\\x00*"):
		return fmt.Errorf(`the key %s must not contain \, * or NUL`, show(c.Key))
	case c.Value == "":
		return fmt.Errorf("the value of %s is empty", show(c.Key))
	case strings.ContainsAny(c.Value, "\\\x00"):
		return fmt.Errorf(`the key %s has the value %s, which must not contain \ or NUL`, show(c.Key), show(c.Value))
	case slices.Contains(known, c.Key) && !wild && strings.Contains(c.Value, "*"):
		return fmt.Errorf("the key %s has the value %s, but only name_match and version_match may have a value with *", c.Key, show(c.Value))
	}
	return nil
}

// String returns the filter in the form that masters read.
func (f Filter) String() string {
	var b strings.Builder
	for _, c := range f {
		b.WriteString(`\` + c.Key + `\` + c.Value)
		if isGroup(c.Key) {
			b.WriteString(strconv.Itoa(len(c.Group)) + Filter(c.Group).String())
		}
	}
	return b.String()
}

func (f Filter) unknown() (keys []string) {
	for _, c := range f {
		if !slices.Contains(known, c.Key) {
			keys = append(keys, c.Key)
		}
		keys = append(keys, Filter(c.Group).unknown()...)
	}
	return keys
}

// Region is a part of the world, as a number that the protocol defines. Each server
// claims a region, and most servers claim World.
type Region uint8

// World is all regions.
const World Region = 0xFF

// regionNames are indexed by Region; the protocol defines the numbers.
var regionNames = [...]string{
	"us-east", "us-west", "south-america", "europe", "asia", "australia", "middle-east", "africa",
}

// ParseRegion parses the name of a region in upper or lower case, or its number:
// "eu", "Europe", "3".
func ParseRegion(s string) (Region, error) {
	name := strings.ToLower(s)
	switch name {
	case "world", "255":
		return World, nil
	case "eu":
		name = "europe"
	case "sa":
		name = "south-america"
	}
	for i, known := range regionNames {
		if name == known || name == strconv.Itoa(i) {
			return Region(i), nil
		}
	}
	return 0, fmt.Errorf("the region %s is unknown; choose from %s, world", show(s), strings.Join(regionNames[:], ", "))
}

// String returns the region's name, or its number if the region has no name.
func (r Region) String() string {
	switch {
	case r == World:
		return "world"
	case int(r) < len(regionNames):
		return regionNames[r]
	}
	return strconv.Itoa(int(r))
}
