package census

import "strings"

// VolatileRule is a rule whose value changes by itself, or repeats what another kind of
// change reports. Diff ignores it.
type VolatileRule struct {
	Name string // in any letter case
	Why  string
}

// VolatileRules are all rules that Diff ignores. It also ignores rules whose names
// begin with a control character: the binary pages of Arma 3 and DayZ, which hold the
// mods.
var VolatileRules = []VolatileRule{
	{"amx_nextmap", "map rotation, AMX Mod X"},
	{"amx_timeleft", "time left on the map, AMX Mod X"},
	{"mp_timeleft", "time left on the map, GoldSource"},
	{"nextlevel", "map rotation, Source"},
	{"nextmap", "map rotation"},
	{"sm_nextmap", "map rotation, SourceMod"},
	{"timeleft", "time left on the map"},
	{"time_left", "time left on the map"},
	{"uptime", "seconds since the start; Rust"},
	{"ent_cnt", "entities in the world; Rust"},
	{"fps", "frames per second; Rust"},
	{"fps_avg", "frames per second; Rust"},
	{"gc_cl", "garbage collections; Rust"},
	{"gc_mb", "memory; Rust"},
	{"hu", "memory; Rust"},
	{"DayTime_s", "time of day; ARK"},
	{"NUMOPENPUBCONN", "free places; ARK and other games on the Unreal engine"},
	{"PlayerCount_i", "people; Squad and Post Scriptum"},
	{"PublicQueue_i", "people waiting; Squad"},
	{"ReservedQueue_i", "people waiting; Squad"},
	{"MapName_s", "map; Squad"},
	{"NextLayer_s", "map rotation; Squad"},
	{"TeamOne_s", "teams of the map; Squad"},
	{"TeamTwo_s", "teams of the map; Squad"},
	{"PLAYTIME_i", "time on the map; Squad"},
	{"Day_b", "time of day; Insurgency: Sandstorm"},
	{"PlrC_i", "people; Insurgency: Sandstorm"},
	{"island", "map; DayZ"},
	{"LevelName", "map; 7 Days to Die"},
	{"CurrentPlayers", "people; 7 Days to Die"},
	{"CurrentServerTime", "time of day; 7 Days to Die"},
	{"DayCount", "day of the world; 7 Days to Die"},
	{"CurrentWave", "wave of the match; Killing Floor 2"},
	{"bInProgress", "state of the match; Killing Floor 2"},
	{"days-running", "age of the world; V Rising"},
	{"days-runningv2", "age of the world; V Rising"},
	{"bat_player_count_s", "people; Battalion 1944"},
	{"bat_map_s", "map; Battalion 1944"},
	{"g_gameState", "state of the match; Quake Live"},
	{"g_levelStartTime", "start of the match; Quake Live"},
	{"g_redScore", "score; Quake Live"},
	{"g_blueScore", "score; Quake Live"},
	{"mapname", "map; Quake Live"},
	{"game_started", "state of the match; Natural Selection 2"},
	{"time", "clock"},
	{"date", "clock"},
	{"datetime", "clock"},
	{"servertime", "clock"},
	{"currenttime", "clock"},
}

// volatileNames holds the names in lower case. volatileSizes has, by first letter,
// a bit for each length of such a name: a quick test that most rules fail.
var (
	volatileNames = map[string]bool{}
	volatileSizes [256]uint64
)

func init() {
	for _, r := range VolatileRules {
		name := strings.ToLower(r.Name)
		volatileNames[name] = true
		volatileSizes[name[0]] |= 1 << len(name)
	}
}

// isVolatile reports whether Diff ignores a rule. name is escaped as in JSON.
func isVolatile(name []byte) bool {
	if len(name) == 0 || len(name) >= 64 {
		return false
	}
	if name[0] == '\\' {
		return len(name) > 1 && name[1] != '\\' && name[1] != '"'
	}
	if volatileSizes[lower(name[0])]&(1<<len(name)) == 0 {
		return false
	}
	var small [64]byte
	for i, b := range name {
		small[i] = lower(b)
	}
	return volatileNames[string(small[:len(name)])]
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// persistentGames keep their map for weeks, so a new map is not a rotation there.
var persistentGames = map[string]bool{
	"rust": true, "ark": true, "dayz": true, "conan": true, "valheim": true, "7dtd": true, "unturned": true,
	"zomboid": true, "vrising": true, "soulmask": true,
}
