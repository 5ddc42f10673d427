package games

import (
	_ "embed" // the lists of variables
	"slices"
	"strings"
	"sync"

	"github.com/a2sscan/a2sscan/scanner/game"
)

// variable is a console variable that servers send as a rule.
type variable struct {
	name   string
	games  []string // games that have it; nil: all games of the engine
	plugin string   // plugin that adds it; "": the game itself
	values []string // the default first
}

//go:embed variables/source.txt
var sourceText string

//go:embed variables/goldsource.txt
var goldSourceText string

// The variables of the engines, in the order in which servers send them.
var (
	sourceVariables     = sync.OnceValue(func() []variable { return parseVariables(sourceText) })
	goldSourceVariables = sync.OnceValue(func() []variable { return parseVariables(goldSourceText) })
)

// parseVariables reads a list with a variable on each line.
func parseVariables(text string) (all []variable) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		v := variable{name: cells[0], values: strings.Split(cells[3], "|")}
		if cells[1] != "*" {
			v.games = strings.Split(cells[1], ",")
		}
		if cells[2] == "plugin" {
			v.plugin = pluginOf(v.name)
		}
		all = append(all, v)
	}
	return all
}

// pluginOf returns the prefix that all variables of a plugin have.
func pluginOf(name string) string {
	words := strings.Split(name, "_")
	if words[0] == "sm" && len(words) > 1 {
		return "sm_" + words[1]
	}
	return words[0]
}

// variables adds the variables of a game, and those of the plugins that this server
// has.
func variables(s *Server, all []variable, id string, plugins bool) {
	share := 0 // percentage of the plugins that the server has
	if plugins {
		share = s.lasting.Between(5, 45)
	}
	plugin, here := "", false
	for i := range all {
		v := &all[i]
		if v.games != nil && !slices.Contains(v.games, id) {
			continue
		}
		if v.plugin != "" && v.plugin != plugin {
			plugin, here = v.plugin, s.lasting.Below(100) < share
		}
		if v.plugin == "" || here {
			s.variable(v)
		}
	}
}

// variable adds one variable.
func (s *Server) variable(v *variable) {
	switch v.name {
	case "sv_password":
		password := s.Info.Password == 1
		s.rule(v.name, spelled(password, "1", "0")).truth(game.KeyPassword, password)
	case "sv_tags":
		s.rule(v.name, s.keywords)
	default:
		value := v.values[0]
		if s.yes(4) {
			value = s.one(v.values...)
		}
		s.rule(v.name, value)
	}
}
