package games

import (
	"strings"

	"github.com/a2sscan/a2sscan/scanner/game"
)

func sourceTitles() []*Title {
	return []*Title{
		{ID: "tf2", app: 440, folder: "tf", name: "Team Fortress", version: "9234167", protocol: 17,
			maps:   []string{"cp_dustbowl", "pl_badwater", "koth_harvest_final", "ctf_2fort", "pl_upward"},
			places: []int{24, 32}, share: 70, fill: tf2},
		{ID: "css", app: 240, folder: "cstrike", name: "Counter-Strike: Source", version: "9540945", protocol: 17,
			maps: []string{"de_dust2", "cs_office", "de_inferno", "surf_mesa"}, places: []int{16, 24, 32, 64}, share: 40, fill: css},
		{ID: "cs2", app: 730, folder: "csgo", name: "Counter-Strike 2", version: "1.41.1.6", protocol: 17,
			maps: []string{"de_mirage", "de_nuke", "de_anubis", "de_inferno"}, places: []int{10, 12, 20, 32}, share: 80, fill: counterStrike2},
		{ID: "csgo", app: 730, folder: "csgo", name: "Counter-Strike: Global Offensive", version: "1.38.8.1", protocol: 17,
			maps: []string{"de_cache", "de_train", "surf_utopia"}, places: []int{10, 16, 32}, share: 20, fill: counterStrike2},
		{ID: "l4d", app: 500, folder: "left4dead", name: "L4D - Co-op - Normal", version: "1.0.4.1", protocol: 7,
			maps: []string{"l4d_hospital01_apartment", "l4d_farm05_cornfield"}, places: []int{4, 8}, share: 10, fill: left4Dead},
		{ID: "l4d2", app: 550, folder: "left4dead2", name: "Left 4 Dead 2", version: "2.2.3.6", protocol: 17,
			maps: []string{"c1m1_hotel", "c8m2_subway", "c14m1_junkyard"}, places: []int{4, 8, 12}, share: 30, fill: left4Dead2},
		{ID: "gmod", app: 4000, folder: "garrysmod", name: "DarkRP", version: "2024.10.29", protocol: 17,
			maps: []string{"rp_downtown_v4c_v2", "gm_construct", "ttt_minecraft_b5"}, places: []int{20, 32, 64, 128}, share: 60, fill: garrysMod},
	}
}

func tf2(s *Server) {
	kind := strings.SplitN(string(s.Info.Map), "_", 2)[0]
	mode := map[string]string{"pl": "payload"}[kind]
	if mode == "" {
		mode = kind
	}
	if s.yes(4) {
		s.tag("alltalk").means("alltalk", s.bytes("true"))
	}
	d := s.tag(mode)
	d.source = "keywords"
	if s.yes(2) {
		s.tag("increased_maxplayers").means("increased_max_players", s.bytes("true"))
	}
	if s.yes(3) {
		s.tag("nocrits").means("random_crits", s.bytes("false"))
	}
	s.tag("Community")
	variables(s, sourceVariables(), s.Title.ID, true)
	d.is(game.KeyMode, s.bytes(mode))
	s.addBots(s.lasting.Below(2) * s.lasting.Below(5))
	s.mapChanged()
}

// mapChanged gives all players the same short duration, on one night in 20: they
// all reconnected after a change of the map.
func (s *Server) mapChanged() {
	if !s.tonight.OneIn(20) {
		return
	}
	seconds := float32(s.tonight.Between(1, 590))
	for i := range s.Players {
		s.Players[i].Duration = seconds
	}
}

func css(s *Server) {
	s.tag("alltalk")
	s.tag("increased_maxplayers")
	variables(s, sourceVariables(), s.Title.ID, true)
	s.addBots(s.lasting.Below(2) * s.lasting.Below(5))
	s.mapChanged()
}

// counterStrike2 may list a single player called "Max Players" instead of all
// players (EC-85).
func counterStrike2(s *Server) {
	s.Info.SteamID = persistentServer | s.lasting.Next()>>32
	s.tag(s.one("competitive", "retakes", "5v5", "deathmatch"))
	s.tag("secure")
	if plugins := s.Title.ID == "csgo"; plugins || s.yes(2) {
		s.rule("game_mode", s.one("0", "1"))
		s.rule("game_type", s.one("0", "1"))
		variables(s, sourceVariables(), "csgo", plugins)
	}
	if s.people > 1 && s.yes(10) {
		s.Players = s.Players[:1]
		s.Players[0].Name, s.Players[0].Score = s.bytes("Max Players"), int32(s.Info.MaxPlayers)
	}
}

// left4Dead has mode and difficulty in INFO's game.
func left4Dead(s *Server) {
	mode, difficulty := s.one("Co-op", "Versus", "Survival"), s.one("Normal", "Advanced", "Expert")
	s.Info.Game = s.bytes("L4D - ", mode, " - ", difficulty)
	s.info("game", s.bytes(difficulty)).attribute("difficulty")
	s.info("game", s.bytes(mode)).text(game.KeyMode)
	s.tag("coop")
	s.tag("versus")
	s.rule("survivor_limit", 4)
	variables(s, sourceVariables(), s.Title.ID, true)
	s.tagged("keywords", s.bytes("coop,versus")).attribute("modes")
}

func left4Dead2(s *Server) {
	mode := s.one("coop", "realism", "scavenge", "survival", "versus")
	s.tag(mode)
	s.tag("secure")
	s.rule("survivor_limit", 4)
	variables(s, sourceVariables(), s.Title.ID, true)
	s.tagged("keywords", s.bytes(mode)).text(game.KeyMode)
}

func garrysMod(s *Server) {
	s.separate = ' '
	s.tag("gm:", s.one("darkrp", "sandbox", "terrortown")).text(game.KeyMode)
	if s.yes(2) {
		s.tag("gmws:", 2724150474).attribute("gamemode_workshop")
	}
	s.tag("gmc:", s.one("rp", "build", "pvp")).attribute("category")
	s.tag("loc:", s.one("us", "de", "ru", "fr")).text(game.KeyRegion)
	s.tag("ver:", 250917).text(game.KeyVersion)
	pvp := s.yes(2)
	s.rule("sbox_playershurtplayers", spelled(pvp, "1", "0")).truth(game.KeyPVP, pvp)
	variables(s, sourceVariables(), s.Title.ID, true)
}
