package master

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseFilter parses a filter in the form that masters read:
// `\appid\440\nor\1\map\cp_dustbowl`. It accepts unknown keys. Its error is a
// *FilterError. Appending the result gives the same text, except for leading zeros
// of counts.
func ParseFilter(s string) (Filter, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '\\' {
		return nil, &FilterError{"", show(s) + ` must begin with \, as in \appid\440\empty\1`}
	}
	p := filterParser{parts: strings.Split(s[1:], `\`)}
	var f Filter
	for len(p.parts) > 0 {
		c, err := p.condition(0)
		if err != nil {
			return nil, err
		}
		f = append(f, c)
	}
	return f, check(f, 0)
}

// filterParser holds the keys and values that have not been parsed yet.
type filterParser struct{ parts []string }

func (p *filterParser) condition(depth int) (Condition, error) {
	key := p.parts[0]
	if len(p.parts) < 2 {
		return Condition{}, &FilterError{key, "has no value"}
	}
	value := p.parts[1]
	p.parts = p.parts[2:]
	if !isGroup(key) {
		return Condition{Key: key, Value: value}, nil
	}
	n, err := strconv.ParseUint(value, 10, 16)
	if err != nil || depth > maxDepth {
		problem := show(value) + " is not the number of conditions that follow"
		return Condition{}, &FilterError{key, problem}
	}
	c := Condition{Key: key}
	for range n {
		if len(p.parts) == 0 {
			problem := fmt.Sprintf("%d conditions announced, %d there", n, len(c.Group))
			return Condition{}, &FilterError{key, problem}
		}
		inner, err := p.condition(depth + 1)
		if err != nil {
			return Condition{}, err
		}
		c.Group = append(c.Group, inner)
	}
	return c, nil
}
