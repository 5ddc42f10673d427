package game

import (
	"bytes"

	"github.com/a2sscan/a2sscan/wire"
)

// Rust: INFO's counts are single bytes and wrong above 255. The keywords have the real
// counts, but may lag behind: 46 where INFO and the list have 36. If the list confirms
// INFO's count, and the capacity fits into a byte, INFO's count is used. Some tags have a
// one-letter form; several of these may be joined to one tag, such as "^w^z^o".
var _ = register("rust", "Rust", []uint32{252490}, &table{
	evidence: "recorded replies from 2014 to 2022; gamedig and rust-query-proxy; for the short tags, " +
		"descriptions of the game's tag compressor",
	split: ',',
	words: rustTags,
	prefixes: []field{
		// Letters with "^" between them; the first "^" is the name of the field.
		{name: "^", read: func(d *decoder, v []byte, source string) {
			for letters := (list{rest: v, separator: '^'}); letters.next(); {
				if len(letters.piece) != 1 {
					continue
				}
				if f := rustTagByName.find(letters.piece); f != nil {
					f.read(d, nil, source)
				}
			}
		}},
		{name: "$r", read: text(KeyRegion)},
		{name: "mp", read: rustNumber(count(KeyMaxPlayers))},
		{name: "cp", read: rustNumber(count(KeyPlayers))},
		{name: "qp", read: rustNumber(count(KeyQueue))},
		{name: "born", read: rustNumber(began)},
		{name: "gm", read: attribute("gamemode")},
		{name: "pt", read: attribute("transport")},
		{name: "ts", read: rustNumber(attribute("team_size"))},
		// The hash of the server's assemblies: six to eight lower-case hexadecimal digits.
		{name: "h", read: func(d *decoder, v []byte, source string) {
			if len(v) >= 6 && len(v) <= 8 && len(bytes.Trim(v, "0123456789abcdef")) == 0 {
				d.setAttribute("hash", v, source)
			}
		}},
		{name: "v", read: rustNumber(text(KeyVersion))},
	},
	rules: []field{
		{name: "pve", read: opposite(KeyPVP)},
	},
	series: []series{{prefix: "description_", digits: 2, join: text(KeyDescription)}},
	finish: func(d *decoder) {
		in, i := &d.in, d.in.Info
		confirmed := in.HasPlayers && !in.PlayersCut && len(in.Players) == int(i.Players) && i.Has&wire.HasPlayers != 0
		if small := max(d.g.MaxPlayers, int(i.MaxPlayers)) < 256; confirmed && small && d.g.Has.Has(KeyPlayers) && d.g.Players != int(i.Players) {
			d.drop(KeyPlayers)
			set(d, KeyPlayers, int(i.Players), sourceListed)
		}
	},
})

// rustTags are the tags without a value that Decode knows, followed by the one-letter forms
// of some of them.
var rustTags = []field{
	{name: "monthly", read: tagged("wipe_cycle", "monthly")},
	{name: "biweekly", read: tagged("wipe_cycle", "biweekly")},
	{name: "weekly", read: tagged("wipe_cycle", "weekly")},
	{name: "vanilla", read: says(KeyMode, "vanilla")},
	{name: "hardcore", read: says(KeyMode, "hardcore")},
	{name: "softcore", read: says(KeyMode, "softcore")},
	{name: "roleplay", read: says(KeyMode, "roleplay")},
	{name: "creative", read: says(KeyMode, "creative")},
	{name: "training", read: says(KeyMode, "training")},
	{name: "minigame", read: says(KeyMode, "minigame")},
	{name: "pve", read: means(KeyPVP, false)},
	{name: "modded", read: means(KeyModded, true)},
	{name: "oxide", read: tagged("framework", "oxide")},
	{name: "carbon", read: tagged("framework", "carbon")},
	{name: "NA", read: says(KeyRegion, "NA")},
	{name: "SA", read: says(KeyRegion, "SA")},
	{name: "EU", read: says(KeyRegion, "EU")},
	{name: "WA", read: says(KeyRegion, "WA")},
	{name: "EA", read: says(KeyRegion, "EA")},
	{name: "OC", read: says(KeyRegion, "OC")},
	{name: "AF", read: says(KeyRegion, "AF")},
	{name: "m", read: tagged("wipe_cycle", "monthly")},
	{name: "b", read: tagged("wipe_cycle", "biweekly")},
	{name: "w", read: tagged("wipe_cycle", "weekly")},
	{name: "v", read: says(KeyMode, "vanilla")},
	{name: "h", read: says(KeyMode, "hardcore")},
	{name: "s", read: says(KeyMode, "softcore")},
	{name: "r", read: says(KeyMode, "roleplay")},
	{name: "p", read: means(KeyPVP, false)},
	{name: "z", read: means(KeyModded, true)},
	{name: "o", read: tagged("framework", "oxide")},
	{name: "y", read: tagged("framework", "carbon")},
}

var rustTagByName = newMatcher(rustTags)

// rustNumber returns an action that calls its argument, read, if a digit follows the
// letters of the tag. It ignores tags that the owner made up, such as "cpvp".
func rustNumber(read action) action {
	return func(d *decoder, v []byte, source string) {
		if len(v) > 0 && v[0] >= '0' && v[0] <= '9' {
			read(d, v, source)
		}
	}
}
