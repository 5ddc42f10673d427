package census

import "strings"

// volatileRules are the rules that Diff ignores, in lower case, and why: their values
// change by themselves, or repeat what another kind of change reports. It also ignores
// rules whose names begin with a control character: the binary pages of Arma 3 and DayZ,
// which hold the mods.
var volatileRules = map[string]string{
	"amx_nextmap":        "map rotation, AMX Mod X",
	"amx_timeleft":       "time left on the map, AMX Mod X",
	"mp_timeleft":        "time left on the map, GoldSource",
	"nextlevel":          "map rotation, Source",
	"nextmap":            "map rotation",
	"sm_nextmap":         "map rotation, SourceMod",
	"timeleft":           "time left on the map",
	"time_left":          "time left on the map",
	"uptime":             "seconds since the start; Rust",
	"ent_cnt":            "entities in the world; Rust",
	"fps":                "frames per second; Rust",
	"fps_avg":            "frames per second; Rust",
	"gc_cl":              "garbage collections; Rust",
	"gc_mb":              "memory; Rust",
	"hu":                 "memory; Rust",
	"daytime_s":          "time of day; ARK",
	"numopenpubconn":     "free places; ARK and other games on the Unreal engine",
	"playercount_i":      "people; Squad and Post Scriptum",
	"publicqueue_i":      "people waiting; Squad",
	"reservedqueue_i":    "people waiting; Squad",
	"mapname_s":          "map; Squad",
	"nextlayer_s":        "map rotation; Squad",
	"teamone_s":          "teams of the map; Squad",
	"teamtwo_s":          "teams of the map; Squad",
	"playtime_i":         "time on the map; Squad",
	"day_b":              "time of day; Insurgency: Sandstorm",
	"plrc_i":             "people; Insurgency: Sandstorm",
	"island":             "map; DayZ",
	"levelname":          "map; 7 Days to Die",
	"currentplayers":     "people; 7 Days to Die",
	"currentservertime":  "time of day; 7 Days to Die",
	"daycount":           "day of the world; 7 Days to Die",
	"currentwave":        "wave of the match; Killing Floor 2",
	"binprogress":        "state of the match; Killing Floor 2",
	"days-running":       "age of the world; V Rising",
	"days-runningv2":     "age of the world; V Rising",
	"bat_player_count_s": "people; Battalion 1944",
	"bat_map_s":          "map; Battalion 1944",
	"g_gamestate":        "state of the match; Quake Live",
	"g_levelstarttime":   "start of the match; Quake Live",
	"g_redscore":         "score; Quake Live",
	"g_bluescore":        "score; Quake Live",
	"mapname":            "map; Quake Live",
	"game_started":       "state of the match; Natural Selection 2",
	"time":               "clock",
	"date":               "clock",
	"datetime":           "clock",
	"servertime":         "clock",
	"currenttime":        "clock",
}

// isVolatile reports whether Diff ignores a rule.
func isVolatile(name []byte) bool {
	if len(name) > 0 && (name[0] < ' ' || name[0] == 0x7F) {
		return true
	}
	_, known := volatileRules[strings.ToLower(string(name))]
	return known
}
