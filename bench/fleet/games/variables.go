package games

import (
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/data"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// variable is a console variable that servers send as a rule.
type variable struct {
	name   string
	games  []string // games that have it; nil: all games of the engine
	plugin string   // plugin that adds it; "": the game itself
	values []string // the default first
}

// engineVariables are the variables of the engines, in the order in which servers
// send them.
var engineVariables = map[string][]variable{"source": readVariables("source.txt"), "goldsource": readVariables("goldsource.txt")}

func readVariables(file string) (all []variable) {
	data.Rows(file, func(cells []string) {
		v := variable{name: cells[0], values: strings.Split(cells[3], "|")}
		if cells[1] != "*" {
			v.games = strings.Split(cells[1], ",")
		}
		if cells[2] == "plugin" { // all variables of a plugin have the same prefix
			words := strings.Split(v.name, "_")
			v.plugin = words[0]
			if words[0] == "sm" && len(words) > 1 {
				v.plugin = "sm_" + words[1]
			}
		}
		all = append(all, v)
	})
	return all
}

// variables adds the variables of a game and, if plugins is set, those of the plugins
// that this server has.
func (s *Server) variables(engine, id string, plugins bool) {
	share := 0 // percentage of the plugins that the server has
	if plugins {
		share = s.lasting.Between(5, 45)
	}
	plugin, here := "", false
	for i := range engineVariables[engine] {
		v := &engineVariables[engine][i]
		if v.games != nil && !slices.Contains(v.games, id) {
			continue
		}
		if v.plugin != "" && v.plugin != plugin {
			plugin, here = v.plugin, s.lasting.Below(100) < share
		}
		switch {
		case v.plugin != "" && !here:
		case v.name == "sv_password":
			value := s.bytes(s.Info.Password)
			s.is(s.rule(v.name, value), game.KeyPassword, value)
		case v.name == "sv_tags":
			s.rule(v.name, s.bytes(s.keywords))
		default:
			s.rule(v.name, s.bytes(s.setting(v.values)))
		}
	}
}
