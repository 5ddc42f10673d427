package census

import "strings"

// volatileRules are the rules that Diff ignores, in any letter case, and why: their values
// change by themselves, or repeat what another kind of change reports. It also ignores
// rules whose names begin with a control character: the binary pages of Arma 3 and DayZ,
// which hold the mods.
var volatileRules = lowered(map[string]string{
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
	"DayTime_s":          "time of day; ARK",
	"NUMOPENPUBCONN":     "free places; ARK and other games on the Unreal engine",
	"PlayerCount_i":      "people; Squad and Post Scriptum",
	"PublicQueue_i":      "people waiting; Squad",
	"ReservedQueue_i":    "people waiting; Squad",
	"MapName_s":          "map; Squad",
	"NextLayer_s":        "map rotation; Squad",
	"TeamOne_s":          "teams of the map; Squad",
	"TeamTwo_s":          "teams of the map; Squad",
	"PLAYTIME_i":         "time on the map; Squad",
	"Day_b":              "time of day; Insurgency: Sandstorm",
	"PlrC_i":             "people; Insurgency: Sandstorm",
	"island":             "map; DayZ",
	"LevelName":          "map; 7 Days to Die",
	"CurrentPlayers":     "people; 7 Days to Die",
	"CurrentServerTime":  "time of day; 7 Days to Die",
	"DayCount":           "day of the world; 7 Days to Die",
	"CurrentWave":        "wave of the match; Killing Floor 2",
	"bInProgress":        "state of the match; Killing Floor 2",
	"days-running":       "age of the world; V Rising",
	"days-runningv2":     "age of the world; V Rising",
	"bat_player_count_s": "people; Battalion 1944",
	"bat_map_s":          "map; Battalion 1944",
	"g_gameState":        "state of the match; Quake Live",
	"g_levelStartTime":   "start of the match; Quake Live",
	"g_redScore":         "score; Quake Live",
	"g_blueScore":        "score; Quake Live",
	"mapname":            "map; Quake Live",
	"game_started":       "state of the match; Natural Selection 2",
	"time":               "clock",
	"date":               "clock",
	"datetime":           "clock",
	"servertime":         "clock",
	"currenttime":        "clock",
})

func lowered(names map[string]string) map[string]string {
	all := map[string]string{}
	for name, why := range names {
		all[strings.ToLower(name)] = why
	}
	return all
}

// isVolatile reports whether Diff ignores a rule.
func isVolatile(name []byte) bool {
	var lower [32]byte // longer than any of these names
	if len(name) > 0 && (name[0] < ' ' || name[0] == 0x7F) {
		return true
	}
	if len(name) > len(lower) {
		return false
	}
	for i, b := range name {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	_, ok := volatileRules[string(lower[:len(name)])]
	return ok
}
