package census

import "strings"

// volatileRules are the rules, in lower case, that a census ignores, because their values
// change by themselves, or repeat what another kind of change reports.
var volatileRules = func() map[string]bool {
	all := map[string]bool{}
	for _, rules := range []string{
		"nextlevel nextmap amx_nextmap sm_nextmap",             // map rotation
		"timeleft time_left mp_timeleft amx_timeleft",          // time left on the map
		"time date datetime servertime currenttime",            // clocks
		"uptime ent_cnt fps fps_avg gc_cl gc_mb hu",            // Rust: age, entities, speed, memory
		"daytime_s numopenpubconn",                             // ARK: time of day, free places
		"playercount_i publicqueue_i reservedqueue_i",          // Squad: people
		"mapname_s nextlayer_s teamone_s teamtwo_s playtime_i", // Squad: map
		"day_b plrc_i", // Insurgency: Sandstorm: time of day, people
		"island",       // DayZ: map
		"levelname currentplayers currentservertime daycount", // 7 Days to Die: map, people, time
		"currentwave binprogress",                             // Killing Floor 2: state of the match
		"days-running days-runningv2 days-until-reset",        // V Rising: age of the world
		"players_s",                    // EXFIL: people
		"bat_player_count_s bat_map_s", // Battalion 1944: people, map
		"mapname g_gamestate g_levelstarttime g_redscore g_bluescore", // Quake Live: map, match
		"game_started", // Natural Selection 2: state of the match
	} {
		for rule := range strings.FieldsSeq(rules) {
			all[rule] = true
		}
	}
	return all
}()

// volatileStarts[n][c] means that volatileRules has a name of n bytes whose first byte is
// c. For most rules isVolatile needs only this array, which is faster than a map.
var volatileStarts = func() (all [maxVolatile + 1][256]bool) {
	for rule := range volatileRules {
		all[len(rule)][rule[0]] = true
	}
	return all
}()

const maxVolatile = 32 // more than the length of any name in volatileRules

// isVolatile reports whether a census ignores the rule called name.
func isVolatile(name []byte) bool {
	if len(name) > 0 && (name[0] < ' ' || name[0] == 0x7F) { // binary pages of Arma 3 and DayZ, which hold the mods
		return true
	}
	var lower [maxVolatile]byte // name in lower case
	if len(name) == 0 || len(name) > maxVolatile || !volatileStarts[len(name)][name[0]|0x20] {
		return false
	}
	for i, b := range name {
		if lower[i] = b; 'A' <= b && b <= 'Z' {
			lower[i] |= 0x20
		}
	}
	return volatileRules[string(lower[:len(name)])]
}
