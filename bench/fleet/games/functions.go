package games

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/data"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// functions are what the scripts do besides statements of their own.
var functions = map[string]func(s *Server){
	"anonymousID":  func(s *Server) { s.Info.SteamID = anonymousServer | s.lasting.Next()>>32 },
	"persistentID": func(s *Server) { s.Info.SteamID = persistentServer | s.lasting.Next()>>32 },
	"arma3Pages":   arma3Pages,
	"dayzPages":    dayzPages,

	// Picks the number of slots, which may be too large for the byte in INFO.
	"rustCrowd": func(s *Server) {
		places := int(s.Info.MaxPlayers)
		if s.lasting.OneIn(6) {
			places = random.Pick(&s.lasting, []int{300, 425, 575})
			s.setPeople(places * s.tonight.Between(50, 99) / 100)
		}
		s.Info.MaxPlayers = uint32(uint8(places))
		s.vars["places"] = s.bytes(places)
	},

	// Adds the description in pieces of a hundred bytes. Pieces that
	// are not needed are empty.
	"rustDescription": func(s *Server) {
		text := s.bytes("Welcome to ", s.Title.recorded, "! ", s.remarks(14))
		s.is("rules.description_N", game.KeyDescription, text)
		for i := range 16 {
			piece := text[:min(100, len(text))]
			text = text[len(piece):]
			s.rule(fmt.Sprintf("description_%02d", i), piece)
		}
	},

	// Adds the chosen mods, each in a rule.
	"arkMods": func(s *Server) {
		s.hasMods("rules.MODN_s")
		for i, m := range s.chosen {
			hash := s.bytes(fmt.Sprintf("%08x", m.hash))
			s.rule(fmt.Sprintf("MOD%d_s", i), s.bytes(m.id, ":", hash))
			s.mods = append(s.mods, game.Mod{ID: s.bytes(m.id), Hash: hash})
		}
	},

	// Adds the description, as base64 in two rules.
	"unturnedDescription": func(s *Server) {
		text := s.bytes("Join ", s.Info.Name, "! ", s.remarks(5))
		code := base64.StdEncoding.EncodeToString(text)
		s.rule("Browser_Desc_Full_Count", s.bytes(2))
		s.rule("Browser_Desc_Full_Line_0", s.bytes(code[:len(code)/2]))
		s.rule("Browser_Desc_Full_Line_1", s.bytes(code[len(code)/2:]))
		s.is("rules.Browser_Desc_Full_Line_N", game.KeyDescription, text)
	},

	// Adds the chosen mods, in one rule.
	"unturnedMods": func(s *Server) {
		s.hasMods("rules.Mod_N")
		var ids []string
		for _, m := range s.chosen {
			ids = append(ids, fmt.Sprint(m.id))
			s.mods = append(s.mods, game.Mod{ID: s.bytes(m.id)})
		}
		s.rule("Mod_Count", s.bytes(1))
		s.rule("Mod_0", s.bytes(strings.Join(ids, ",")))
	},

	// Adds the clock: a thousand ticks are an hour.
	"sevenDaysClock": func(s *Server) {
		ticks := s.tonight.Below(24000 * 200)
		source := s.rule("CurrentServerTime", s.bytes(ticks))
		s.is(source, game.KeyDay, s.bytes(ticks/24000+1))
		s.is(source, game.KeyTimeOfDay, s.bytes(fmt.Sprintf("%02d:%02d", ticks%24000/1000, ticks%1000*60/1000)))
	},

	// Adds who may kill whom: 0 nobody, 1 allies only.
	"sevenDaysKilling": func(s *Server) {
		killing := s.lasting.Below(4)
		source := s.rule("PlayerKillingMode", s.bytes(killing))
		if killing != 1 {
			s.is(source, game.KeyPVP, s.bytes(killing != 0))
		}
	},

	// Adds the names of the chosen mods.
	"zomboidMods": func(s *Server) {
		var list []string
		s.hasMods("rules.mods")
		for _, m := range s.chosen {
			list = append(list, m.name)
			s.mods = append(s.mods, game.Mod{ID: s.bytes(m.name)})
		}
		s.rule("mods", s.bytes(strings.Join(list, ";")))
	},

	"sandstormMods": func(s *Server) {
		s.hasMods(s.rule("ModList_s", s.bytes("98145,109375")), game.Mod{ID: s.bytes("98145")}, game.Mod{ID: s.bytes("109375")})
	},

	// Adds players that have left long ago.
	"squadGhosts": func(s *Server) {
		if s.people > 0 {
			s.setPeople(s.people + s.tonight.Below(25))
			s.Players[len(s.Players)-1].Duration = 140_000
		}
	},

	// Picks a number of slots of up to 5000, and people.
	"jc2mp": func(s *Server) {
		places := random.Pick(&s.lasting, []int{200, 1000, 5000})
		s.setPeople(s.tonight.Below(places / 20))
		s.Info.MaxPlayers = uint32(min(places, 255))
		s.vars["places"] = s.bytes(places)
	},

	// Finds the mode in the name of the map.
	"tf2Mode": func(s *Server) {
		mode, _, _ := strings.Cut(string(s.Info.Map), "_")
		s.vars["mode"] = s.bytes(either(mode == "pl", "payload", mode))
	},

	// Lists a single player called "Max Players" instead of all players
	// (EC-85), on some servers.
	"maxPlayers": func(s *Server) {
		if s.people > 1 && s.lasting.OneIn(10) {
			s.Players = s.Players[:1]
			s.Players[0].Name, s.Players[0].Score = s.bytes("Max Players"), int32(s.Info.MaxPlayers)
		}
	},

	// Gives all players the same short duration, on one night in 20: they
	// all reconnected after a change of the map.
	"mapChanged": func(s *Server) {
		if s.tonight.OneIn(20) {
			s.repeatPlayers(float32(s.tonight.Between(1, 590)))
		}
	},
}

// variable is a console variable that servers send as a rule.
type variable struct {
	name   string
	games  []string // games that have it; nil: all games of the engine
	plugin string   // plugin that adds it; "": the game itself
	values []string // the default first
}

// engineVariables are the variables of the engines, in the order in which servers
// send them.
var engineVariables = sync.OnceValue(func() map[string][]variable {
	return map[string][]variable{"source": readVariables("source.txt"), "goldsource": readVariables("goldsource.txt")}
})

func readVariables(file string) (all []variable) {
	data.Rows(file, func(cells []string) {
		v := variable{name: cells[0], plugin: cells[2], values: strings.Split(cells[3], "|")}
		if cells[1] != "*" {
			v.games = strings.Split(cells[1], ",")
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
	known := engineVariables()[engine]
	for i := range known {
		v := &known[i]
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
