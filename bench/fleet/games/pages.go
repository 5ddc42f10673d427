package games

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// pageSize is the maximum number of bytes of binary data that Arma 3 and DayZ send
// in one rule.
const pageSize = 124

// bohemiaMod is a mod as the binary pages have it.
type bohemiaMod struct {
	hash    uint32
	id      uint32
	name    string
	creator bool // a Creator DLC of Arma 3; id is its application
}

// appendMods appends the list of mods.
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

// appendTexts appends a list of strings, such as signatures.
func appendTexts(b []byte, texts []string) []byte {
	b = append(b, byte(len(texts)))
	for _, t := range texts {
		b = append(append(b, byte(len(t))), t...)
	}
	return b
}

// pages adds the rules that hold the binary data b. It escapes bytes that a rule
// cannot hold.
func (s *Server) pages(b []byte) {
	escaped := strings.NewReplacer("\x01", "\x01\x01", "\x00", "\x01\x02", "\xff", "\x01\x03").Replace(string(b))
	total := (len(escaped) + pageSize - 1) / pageSize
	for i := range total {
		end := min(len(escaped), (i+1)*pageSize)
		s.part(s.bytes(string([]byte{byte(i + 1), byte(total)})), s.bytes(escaped[i*pageSize:end]))
	}
}

// meaning states what the pages mean: DLCs, mods and signatures.
func (s *Server) meaning(mods []bohemiaMod, dlc, signatures []string) {
	d := s.of("rules.pages")
	d.means("dlc", s.bytes(strings.Join(dlc, ";")))
	all := make([]game.Mod, len(mods))
	for i, m := range mods {
		all[i] = game.Mod{
			ID: s.bytes(int(m.id)), Name: s.bytes(m.name), Hash: s.bytes(fmt.Sprintf("%08x", m.hash)), CreatorDLC: m.creator,
		}
	}
	d.mods(all...).means("signatures", s.bytes(strings.Join(signatures, ";")))
}

// dlcs picks DLCs at random. It returns the bits of a mask, the hashes as they are
// sent, and the names.
func (s *Server) dlcs(known []string) (mask uint16, b []byte, names []string) {
	for i, name := range known {
		if !s.yes(3) {
			continue
		}
		mask |= 1 << i
		b = binary.LittleEndian.AppendUint32(b, s.hashOf(uint64(i)))
		names = append(names, name)
	}
	return mask, b, names
}

// workshop are mods that many servers have.
var workshop = []bohemiaMod{
	{id: 450814997, name: "CBA_A3"}, {id: 463939057, name: "ace"}, {id: 843577117, name: "RHSUSAF"},
	{id: 843425103, name: "RHSAFRF"}, {id: 1559212036, name: "CF"}, {id: 1564026768, name: "Community-Online-Tools"},
	{id: 1828439124, name: "VPPAdminTools"}, {id: 1708571644, name: "Enhanced Movement"}, {id: 583496184, name: "CUP Terrains - Core"},
	{id: 620019431, name: "task_force_radio"}, {id: 2116157322, name: "DayZ-Dog"}, {id: 1710977250, name: "BaseBuildingPlus"},
}

// hashOf returns the hash of a mod's or DLC's files. Servers with the same release have
// the same hash, and most have the latest release.
func (s *Server) hashOf(id uint64) uint32 {
	release := uint64(0)
	if s.yes(4) {
		release = uint64(s.lasting.Between(1, 3))
	}
	return uint32(random.Hash(id, release))
}

// chooseMods returns n different mods, or all of workshop if n is larger.
func (s *Server) chooseMods(n int) (mods []bohemiaMod) {
	first := s.lasting.Below(len(workshop))
	for i := range min(n, len(workshop)) {
		m := workshop[(first+i)%len(workshop)]
		m.hash = s.hashOf(uint64(m.id))
		mods = append(mods, m)
	}
	return mods
}
