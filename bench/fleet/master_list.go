package fleet

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/master"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// listed is an entry of a master's list: an address and port, and what the master knows
// about the server there. For an address and port without a server, the entry describes
// the server that the fleet would have there if it had servers everywhere.
type listed struct {
	key       uint64
	addr      netip.AddrPort
	known     bool // the master knows the fields below
	server    webServer
	password  bool
	spectator bool
}

// listOf returns the list in address order, without duplicates.
func listOf(c *MasterConfig) ([]listed, error) {
	m, err := newModel(c.Fleet)
	if err != nil {
		return nil, err
	}
	before := *m
	before.Alive = 0
	list := make([]listed, 0, int(m.places())+len(c.Also))
	var said content
	for i := range m.places() {
		n, ok := m.nature(m.place(i))
		if !ok {
			n, ok = before.nature(m.place(i))
		}
		e := newListed(udp.Unpack(m.place(i)))
		if ok {
			said.fill(&n, wire.AskInfo)
			e.describe(&n, &said)
		}
		list = append(list, e)
	}
	for _, a := range c.Also {
		list = append(list, newListed(a))
	}
	slices.SortFunc(list, func(a, b listed) int { return cmp.Compare(a.key, b.key) })
	return slices.CompactFunc(list, func(a, b listed) bool { return a.key == b.key }), nil
}

func newListed(addr netip.AddrPort) listed {
	return listed{key: udp.Pack(addr), addr: addr, server: webServer{Addr: addr.String()}}
}

// describe fills in what the master knows about a server. The knowledge follows from the
// server's nature and its INFO.
func (e *listed) describe(n *nature, said *content) {
	in := &said.info
	r := random.Stream(random.Hash(n.hash, streamMaster))
	s := &e.server
	e.known = true
	s.Name, s.Map, s.GameDir = masterText(in.Name), masterText(in.Map), masterText(in.Folder)
	s.Version = masterText(in.Version)
	if s.AppID, _ = in.AppID(); n.title == nil {
		s.AppID = n.game.app // INFO may lack the ID, or have only half of it
	}
	s.Players, s.MaxPlayers = int32(in.Players), int32(in.MaxPlayers)
	s.Secure, s.Dedicated = in.VAC == 1, in.ServerType|0x20 == 'd'
	s.OS = string(rune(in.Environment | 0x20))
	s.Region = random.Pick(&r, []int32{0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 255, 255, -1})
	s.GamePort = uint32(n.addr & 0xFFFF)
	s.SteamID = strconv.FormatUint(0x0140000000000000|r.Next()>>8, 10)
	e.password = in.Password != 0
	e.spectator = in.ServerType|0x20 == 'p'
}

// masterText returns b with U+FFFD in place of bytes that are not UTF-8. Masters send
// texts in this form.
func masterText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

func (e *listed) in(r master.Region) bool {
	return r == master.World || e.known && e.server.Region == int32(r)
}

func (e *listed) meets(f []master.Condition) bool {
	return !slices.ContainsFunc(f, func(c master.Condition) bool { return !e.meetsOne(c) })
}

// meetsOne reports whether the server meets a condition. Every server meets a condition
// with an unknown key.
func (e *listed) meetsOne(c master.Condition) bool {
	s := &e.server
	switch c.Key {
	case "nor":
		return !slices.ContainsFunc(c.Group, e.meetsOne)
	case "nand":
		return !e.meets(c.Group)
	case "or":
		return slices.ContainsFunc(c.Group, e.meetsOne)
	case "gameaddr":
		ip, port, ok := strings.Cut(c.Value, ":")
		return ip == e.addr.Addr().String() && (!ok || port == strconv.Itoa(int(e.addr.Port())))
	case "name_match":
		return likePattern(c.Value, e.server.Name)
	case "version_match":
		return likePattern(c.Value, e.server.Version)
	case "appid":
		return c.Value == strconv.FormatUint(uint64(s.AppID), 10)
	case "napp":
		return c.Value != strconv.FormatUint(uint64(s.AppID), 10)
	case "gamedir":
		return strings.EqualFold(c.Value, s.GameDir)
	case "map":
		return strings.EqualFold(c.Value, s.Map)
	case "type":
		return c.Value != "d" || s.Dedicated
	}
	flags := map[string]bool{
		"dedicated": s.Dedicated, "secure": s.Secure, "linux": s.OS == "l",
		"password": e.password, "empty": s.Players > 0, "full": s.Players < s.MaxPlayers,
		"proxy": e.spectator, "noplayers": s.Players == 0,
	}
	have, known := flags[c.Key]
	return !known || have == (c.Value != "0")
}

// likePattern reports whether s matches a pattern, in which * stands for any
// string.
func likePattern(pattern, s string) bool {
	expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`)
	return regexp.MustCompile(`(?s)^` + expression + `$`).MatchString(s)
}

// after(seed) is the index of the first entry whose address is greater than seed, which
// need not be on the list. If seed is not valid, or is 0.0.0.0:0, the index is 0.
func (m *Master) after(seed netip.AddrPort) int {
	if !seed.IsValid() || seed.Port() == 0 && seed.Addr().IsUnspecified() {
		return 0
	}
	i, found := slices.BinarySearchFunc(m.list, udp.Pack(seed), func(e listed, k uint64) int {
		return cmp.Compare(e.key, k)
	})
	if found {
		i++
	}
	return i
}
