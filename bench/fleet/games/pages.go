package games

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// pageSize is the number of bytes of binary data in each page except the last one.
const pageSize = 124

type bohemiaMod struct {
	hash    uint32
	id      uint32
	name    string
	creator bool // a Creator DLC of Arma 3; id is its application ID
}

func appendMods(b []byte, mods []bohemiaMod) []byte {
	b = append(b, byte(len(mods)))
	for _, m := range mods {
		b = binary.LittleEndian.AppendUint32(b, m.hash)
		info := byte(4)
		if m.creator {
			info |= 0x10
		}
		b = binary.LittleEndian.AppendUint32(append(b, info), m.id)
		b = append(append(b, byte(len(m.name))), m.name...)
	}
	return b
}

const inPages = "rules.pages" // source of the facts in the pages

// pages adds the binary pages of Arma 3 as rules, and adds facts: what the pages mean.
func (s *Server) pages() {
	var mask uint16 // a bit for each DLC that the server has
	var dlc []byte  // hashes of these DLCs
	var names []string
	for i, name := range []string{"karts", "marksmen", "heli", "zeus", "apex", "jets", "laws_of_war", "malden", "tac_ops", "tanks", "contact"} {
		if s.lasting.OneIn(3) {
			mask |= 1 << i
			dlc = binary.LittleEndian.AppendUint32(dlc, s.hashOf(uint64(i)))
			names = append(names, name)
		}
	}
	level, ai := s.lasting.Below(4), s.lasting.Below(4)
	s.attribute(inPages, "difficulty", level)
	s.attribute(inPages, "ai_level", ai)
	difficulty, crosshair := byte(level|ai<<3), byte(0)
	bit := func(name string, in *byte, value byte, rare int) {
		set := s.lasting.OneIn(rare)
		s.attribute(inPages, name, set)
		if set {
			*in |= value
		}
	}
	bit("advanced_flight", &difficulty, 0x40, 4)
	bit("third_person", &difficulty, 0x80, 2)
	bit("crosshair", &crosshair, 1, 2)
	s.chooseMods(s.lasting.Below(12))
	if s.lasting.OneIn(4) {
		s.chosen = append(s.chosen, bohemiaMod{hash: s.hashOf(1042220), id: 1042220, creator: true})
	}
	b := binary.LittleEndian.AppendUint16([]byte{3, 0}, mask)
	b = append(append(b, difficulty, crosshair), dlc...)
	b = append(appendMods(b, s.chosen), "\x02\x02a3\x0acba_3.16.0"...) // append two signatures
	escaped := strings.NewReplacer("\x01", "\x01\x01", "\x00", "\x01\x02", "\xff", "\x01\x03").Replace(string(b))
	total := (len(escaped) + pageSize - 1) / pageSize
	for i := range total {
		end := min(len(escaped), (i+1)*pageSize)
		s.rule(string([]byte{byte(i + 1), byte(total)}), escaped[i*pageSize:end])
	}
	s.attribute(inPages, "dlc", strings.Join(names, ";"))
	s.attribute(inPages, "signatures", "a3;cba_3.16.0")
	s.hasMods(inPages)
	for _, m := range s.chosen {
		s.mods = append(s.mods, game.Mod{
			ID: s.bytes(m.id), Name: s.bytes(m.name), Hash: s.bytes(fmt.Sprintf("%08x", m.hash)), CreatorDLC: m.creator,
		})
	}
}

var workshop = []bohemiaMod{
	{id: 450814997, name: "CBA_A3"}, {id: 463939057, name: "ace"}, {id: 843577117, name: "RHSUSAF"},
	{id: 843425103, name: "RHSAFRF"}, {id: 1559212036, name: "CF"}, {id: 1564026768, name: "Community-Online-Tools"},
	{id: 1828439124, name: "VPPAdminTools"}, {id: 1708571644, name: "Enhanced Movement"}, {id: 583496184, name: "CUP Terrains - Core"},
	{id: 620019431, name: "task_force_radio"}, {id: 2116157322, name: "DayZ-Dog"}, {id: 1710977250, name: "BaseBuildingPlus"},
}

// hashOf returns the hash of the files of a mod or a DLC. Three quarters of the servers
// have the same release of it.
func (s *Server) hashOf(id uint64) uint32 {
	release := max(0, s.lasting.Between(-8, 3))
	return uint32(random.Hash(id, uint64(release)))
}

// chooseMods chooses n different mods, or all mods if workshop has fewer than n.
func (s *Server) chooseMods(n int) {
	s.chosen = s.chosen[:0]
	first := s.lasting.Below(len(workshop))
	for i := range min(n, len(workshop)) {
		m := workshop[(first+i)%len(workshop)]
		m.hash = s.hashOf(uint64(m.id))
		s.chosen = append(s.chosen, m)
	}
}
