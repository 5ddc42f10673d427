package game

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"testing"
)

// TestDayZPages decodes pages of DayZ (EC-103) that were made for this test, because no
// recording has any. gamedig 5.3.3 expects one hash for "two DLCs", and an ID of four bytes for "a
// local mod"; it takes the signature for another mod.
func TestDayZPages(t *testing.T) {
	tests := []struct {
		name string
		mask uint16
		mods []string
		want string
	}{
		{"no DLC", 0, []string{dayzMod(1559212036, 4, "CF"), dayzMod(255, 4, "edge")}, "1559212036 CF, 255 edge"},
		{"one DLC", 1, []string{dayzMod(1559212036, 4, "CF")}, "1559212036 CF"},
		{"two DLCs", 3, []string{dayzMod(1559212036, 4, "CF")}, "1559212036 CF"},
		{"a local mod", 0, []string{dayzMod(0, 1, "own"), dayzMod(1559212036, 4, "CF")}, " own, 1559212036 CF"},
		{"no ID at all", 0, []string{dayzMod(0, 0, "own")}, " own"},
		{"an ID of eight bytes", 0, []string{dayzMod(1<<40, 8, "big")}, "1099511627776 big"},
	}
	var g Game
	for _, test := range tests {
		b := binary.LittleEndian.AppendUint16([]byte{2, 0}, test.mask)
		for range bits.OnesCount16(test.mask) {
			b = append(b, 9, 8, 7, 6)
		}
		b = append(b, byte(len(test.mods)))
		b = append(b, strings.Join(test.mods, "")...)
		b = append(b, "\x01\x04dayz\x07welcome"...)
		Decode(&g, server(appDayZ, 1, 60).withPages(escape(b)))
		var got []string
		for _, m := range g.Mods {
			got = append(got, string(m.ID)+" "+string(m.Name))
		}
		if s := strings.Join(got, ", "); s != test.want || g.Notes != 0 || string(g.Description) != "welcome" {
			t.Errorf("%s: mods %q, want %q; notes %b, description %q", test.name, s, test.want, g.Notes, g.Description)
		}
	}
}

// dayzMod encodes a mod with an ID of n bytes.
func dayzMod(id uint64, n int, name string) string {
	b := binary.LittleEndian.AppendUint64([]byte{0xAA, 0xBB, 0xCC, 0xDD, byte(n)}, id)[:5+n]
	return string(append(append(b, byte(len(name))), name...))
}
