package game

import (
	"bytes"
	"strconv"
)

// This file has the games that put most of their values into keywords of their own form.

// Mordhau: INFO's player count is always 0 and the player list is empty. The tag B is the
// number of people, and O probably marks official servers. The meaning of H, C and M is
// unknown.
var _ = register("mordhau", "Mordhau", []uint32{629760}, &table{
	evidence: "four recorded replies, all with B:0; DiscordGSM's reader and opengsq-python's issue 2 for the meaning of B",
	split:    ',',
	prefixes: []field{
		{name: "B:", read: count(KeyPlayers)},
		{name: "N:", read: text(KeyMode)},
		{name: "O:", read: attribute("official")},
	},
})

// Space Engineers: a tag is a name directly followed by its value, and spaces separate the
// tags. The mode S is survival, with three multipliers whose order is unknown.
var _ = register("spaceengineers", "Space Engineers", []uint32{244850}, &table{
	evidence: "three recorded replies of versions 1.118 to 1.157",
	split:    ' ',
	prefixes: []field{
		// The version as one number: 1157012 is 1.157.012.
		{name: "version", read: func(d *decoder, v []byte, source string) {
			n := d.number(v, 999_999_999)
			if n < 0 {
				return
			}
			start := len(d.buf)
			d.buf = strconv.AppendInt(d.buf, n/1_000_000, 10)
			for _, part := range []int64{n / 1000 % 1000, n % 1000} {
				d.buf = append2(append(d.buf, '.', byte('0'+part/100)), part%100)
			}
			d.setText(KeyVersion, d.since(start), source)
		}},
		// The Steam group that may join; 0 means that there is none.
		{name: "groupId", read: func(d *decoder, v []byte, source string) {
			if string(v) != "0" {
				d.setAttribute("steam_group", v, source)
			}
		}},
		// The mode, a letter, and the multipliers.
		{name: "gamemode", read: func(d *decoder, v []byte, source string) {
			if hasPrefix(v, "S") {
				d.setText(KeyMode, wordSurvival, source)
			} else {
				d.setText(KeyMode, v, source)
			}
			d.setAttribute("gamemode", v, source)
		}},
		// The number of mods.
		{name: "mods", read: func(d *decoder, v []byte, source string) {
			if n := d.number(v, maxNumber); n >= 0 {
				set(d, KeyModded, n > 0, source)
			}
		}},
		{name: "view", read: attribute("view_distance")},
	},
	rules: []field{
		// The number of rules with mods. If it is 0, the server has no mods, so KeyMods is set
		// with an empty list.
		{name: "mods", read: func(d *decoder, v []byte, source string) {
			if string(v) == "0" {
				d.mark(KeyMods, source)
			}
		}},
	},
	finish: func(d *decoder) {
		d.numberedMods("mod", "", "rules.modN", func(v []byte) Mod { return Mod{Name: v} })
	},
})

var wordSurvival = []byte("survival")

// Insurgency, the game of 2014. Servers of version 1.x sent the mode as the first tag. The
// server's owner chooses the other tags.
var _ = register("insurgency", "Insurgency", []uint32{222880}, &table{
	evidence: "four recorded replies of versions 1.2 and 2.x; the meanings of the tags are probable, but not documented",
	split:    ',',
	prefixes: []field{
		{name: "g:", read: text(KeyMode)},
		{name: "p:", read: attribute("playlist")},
		{name: "mm:", read: attribute("playlist")},
		{name: "t:", read: attribute("theater")},
		{name: "theater:", read: attribute("theater")},
		{name: "pure:", read: attribute("pure")},
	},
	rules: withCvars(),
	finish: func(d *decoder) {
		first := list{rest: d.in.Info.Keywords, separator: ','}
		if bytes.Contains(d.in.Info.Keywords, []byte(",mm:")) && first.next() && bytes.IndexByte(first.piece, ':') < 0 {
			d.setText(KeyMode, first.piece, "keywords")
		}
	},
})

// Natural Selection 2: the first keyword is the build, and the second is the mode; the
// meaning of the next five is unknown. INFO's version is always 1.0.0.0.
var _ = register("ns2", "Natural Selection 2", []uint32{4920}, &table{
	evidence: "two recorded replies; the game's NS2Gamerules.lua for P_S, scripts of servers for R_S",
	split:    '|',
	words:    []field{{name: "rookie", read: tagged("rookie", "true")}},
	prefixes: []field{
		{name: "R_S", read: attribute("reserved_slots")},
		{name: "P_S", read: attribute("average_skill")},
		{name: "tickrate_", read: attribute("tickrate")},
		{name: "CHUD_", read: attribute("ns2plus")},
	},
	series: []series{
		// Workshop IDs in hexadecimal, separated by spaces.
		{prefix: "mods[", suffix: "]", digits: 3, join: func(d *decoder, v []byte, source string) {
			for ids := (list{rest: v, separator: ' '}); ids.next(); {
				id, ok := parseHex(ids.piece)
				if !ok {
					d.g.Notes |= noteValue
				} else if !d.addMod(Mod{ID: d.decimal(id)}, source) {
					return
				}
			}
		}},
	},
	info: func(d *decoder) {
		tags := d.keywords('|')
		if !tags.next() {
			return
		}
		if _, ok := parseInt(tags.piece, maxNumber); !ok {
			return
		}
		d.setText(KeyVersion, tags.piece, "keywords")
		if tags.next() {
			d.setText(KeyMode, tags.piece, "keywords")
		}
	},
})

// Citadel: Forged With Fire: INFO's version is always 1.0.0.0, and its password byte
// is 0 even if PWD is 1.
var _ = register("citadel", "Citadel: Forged With Fire", []uint32{487120}, &table{
	evidence: "a recorded reply of version 1.0.33216; the meaning of PWD is probable, but not documented",
	split:    ' ',
	prefixes: []field{
		{name: "VER=", read: text(KeyVersion)},
		{name: "RGN=", read: text(KeyRegion)},
		{name: "PWD=", read: truth(KeyPassword)},
	},
	info: func(d *decoder) {
		switch string(d.in.Info.Game) {
		case "PVP":
			set(d, KeyPVP, true, "info.game")
		case "PVE":
			set(d, KeyPVP, false, "info.game")
		}
	},
})

// America's Army: RULES is never answered (EC-99). The meaning of the tags C, VM, sm and P
// is unknown; P was 0 on every recorded server.
var (
	_ = register("aapg", "America's Army: Proving Grounds", []uint32{203290}, americasArmy(attribute("phase")))
	_ = register("aa3", "America's Army 3", []uint32{13140}, americasArmy(text(KeyTimeOfDay)))
)

// americasArmy returns the table of one of these games. The action t reads the tag T.
func americasArmy(t action) *table {
	return &table{
		evidence: "six recorded replies from 2014 to 2016",
		split:    ';',
		prefixes: []field{
			{name: "ver=", read: text(KeyVersion)},
			{name: "M=", read: text(KeyMode)},
			{name: "T=", read: t},
			{name: "W=", read: attribute("weather")},
			{name: "P=", read: attribute("tag_p")},
			{name: "qp=", read: attribute("query_port")},
			{name: "HONOR=", read: attribute("honor")},
		},
	}
}

// Red Orchestra 2 and Rising Storm 2. The meanings of the tags come from comparing keywords
// and rules of the same server; the rules have the same values in words. The values of the
// tags become attributes. The meanings of b, c, d, e, h and i are unknown.
var (
	_ = register("redorchestra2", "Red Orchestra 2", []uint32{35450}, redOrchestra())
	_ = register("risingstorm2", "Rising Storm 2: Vietnam", []uint32{418460}, redOrchestra())
)

func redOrchestra() *table {
	return &table{
		evidence: "four recorded replies with keywords and rules",
		split:    ',',
		prefixes: []field{
			{name: "m:", read: attribute("campaign")},
			{name: "g:", read: attribute("realism_level")},
			{name: "t:", read: attribute("friendly_fire")},
			{name: "r:", read: attribute("map_type")},
			{name: "p:", read: attribute("spectator_mode")},
			{name: "q:", read: attribute("mutators")},
		},
		rules: []field{
			{name: "bRequiresPassword", read: truth(KeyPassword)},
			{name: "bAntiCheatProtected", read: truth(KeyAnticheat)},
		},
	}
}

// Ground Branch: INFO's version is always 1.0.0.0. The meaning of the tags is probable,
// but not documented.
var _ = register("groundbranch", "Ground Branch", []uint32{16900}, &table{
	evidence: "output of gamedig, in gamedig's issue 267",
	split:    ',',
	prefixes: []field{
		{name: "mn", read: attribute("mn")},
		{name: "nv", read: attribute("nv")},
	},
})

// Sons of the Forest: the meaning of Pwd, which was 31 on one server, is unknown.
var _ = register("sonsoftheforest", "Sons of the Forest", []uint32{1326470}, &table{
	evidence: "an issue of srcds_exporter",
	split:    ',',
	prefixes: []field{{name: "Pwd:", read: attribute("pwd")}},
})

var _ = register("battlebuilder", "Ace of Spades: Battle Builder", []uint32{224540}, &table{
	evidence: "the tests of the project that revived the game",
	split:    ';',
	prefixes: []field{
		{name: "region=", read: text(KeyRegion)},
		{name: "mode=", read: text(KeyMode)},
	},
})
