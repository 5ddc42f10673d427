package fleet

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// pageSize is the number of bytes of binary data in each page except the last one.
const pageSize = 124

type bohemiaMod struct {
	hash uint32
	id   uint32
	name string
}

const inPages = "rules.pages" // source of the facts in the pages

// pages adds the binary pages of Arma 3 as rules, and adds facts: what the pages mean. All
// servers have the same DLCs and signatures.
func (s *gameServer) pages() {
	level, third := s.lasting.Below(4), s.lasting.OneIn(2)
	difficulty := byte(level)
	if third {
		difficulty |= 0x80
	}
	s.attribute(inPages, "difficulty", level)
	s.attribute(inPages, "ai_level", 0)
	s.attribute(inPages, "advanced_flight", false)
	s.attribute(inPages, "third_person", third)
	s.attribute(inPages, "crosshair", true)
	s.attribute(inPages, "dlc", "marksmen;apex")
	s.attribute(inPages, "signatures", "a3;cba_3.16.0")
	s.hasMods(inPages)
	s.chooseMods(s.lasting.Below(12))
	b := []byte{3, 0, 1<<1 | 1<<4, 0, difficulty, 1} // version, overflow, DLCs, difficulty, crosshair
	b = append(b, "mrksapex"...)                     // the hash of each DLC
	b = append(b, byte(len(s.chosen)))
	for _, m := range s.chosen {
		b = binary.LittleEndian.AppendUint32(b, m.hash)
		b = binary.LittleEndian.AppendUint32(append(b, 4), m.id)
		b = append(append(b, byte(len(m.name))), m.name...)
		s.mods = append(s.mods, game.Mod{
			ID: s.bytes(m.id), Name: s.bytes(m.name), Hash: s.bytes(fmt.Sprintf("%08x", m.hash)),
		})
	}
	b = append(b, "\x02\x02a3\x0acba_3.16.0"...) // two signatures
	escaped := strings.NewReplacer("\x01", "\x01\x01", "\x00", "\x01\x02", "\xff", "\x01\x03").Replace(string(b))
	pages := slices.Collect(slices.Chunk([]byte(escaped), pageSize))
	for i, page := range pages {
		s.rule(string([]byte{byte(i + 1), byte(len(pages))}), page)
	}
}

var workshop = []bohemiaMod{
	{id: 450814997, name: "CBA_A3"}, {id: 463939057, name: "ace"}, {id: 843577117, name: "RHSUSAF"},
	{id: 843425103, name: "RHSAFRF"}, {id: 1559212036, name: "CF"}, {id: 1564026768, name: "Community-Online-Tools"},
	{id: 1828439124, name: "VPPAdminTools"}, {id: 1708571644, name: "Enhanced Movement"}, {id: 583496184, name: "CUP Terrains - Core"},
	{id: 620019431, name: "task_force_radio"}, {id: 2116157322, name: "DayZ-Dog"}, {id: 1710977250, name: "BaseBuildingPlus"},
}

// hashOf returns the hash of the files of a mod. Three quarters of the servers
// have the same release of it.
func (s *gameServer) hashOf(id uint64) uint32 {
	release := max(0, s.lasting.Between(-8, 3))
	return uint32(random.Hash(id, uint64(release)))
}

// chooseMods chooses n different mods, or all mods if workshop has fewer than n.
func (s *gameServer) chooseMods(n int) {
	s.chosen = s.chosen[:0]
	first := s.lasting.Below(len(workshop))
	for i := range min(n, len(workshop)) {
		m := workshop[(first+i)%len(workshop)]
		m.hash = s.hashOf(uint64(m.id))
		s.chosen = append(s.chosen, m)
	}
}
