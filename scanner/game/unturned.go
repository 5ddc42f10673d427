package game

import (
	"bytes"
	"encoding/base64"

	"github.com/a2sscan/a2sscan/wire"
)

// Unturned: the keywords are switches in a fixed order, and values between tags
// such as <gm> and </gm>. The rules hold Workshop items, changed settings and a
// description, each split over several rules. Later versions encode the description
// as base64.
var _ = register("unturned", "Unturned", []uint32{304930}, &table{
	evidence: "two recorded replies of version 3.13; queryhost for later versions; the game's own code for the tags and the port",
	split:    ',',
	words: []field{
		{name: "PVP", read: means(KeyPVP, true)},
		{name: "PVE", read: means(KeyPVP, false)},
		{name: "EZY", read: tagged("difficulty", "easy")},
		{name: "NRM", read: tagged("difficulty", "normal")},
		{name: "HRD", read: tagged("difficulty", "hard")},
		{name: "EASY", read: tagged("difficulty", "easy")},
		{name: "NORMAL", read: tagged("difficulty", "normal")},
		{name: "HARD", read: tagged("difficulty", "hard")},
		{name: "1Pp", read: tagged("camera", "first")},
		{name: "2Pp", read: tagged("camera", "both")},
		{name: "3Pp", read: tagged("camera", "third")},
		{name: "4Pp", read: tagged("camera", "vehicle")},
		{name: "FIRST", read: tagged("camera", "first")},
		{name: "BOTH", read: tagged("camera", "both")},
		{name: "THIRD", read: tagged("camera", "third")},
		{name: "CHy", read: tagged("cheats", "true")},
		{name: "CHn", read: tagged("cheats", "false")},
		{name: "WSy", read: tagged("workshop", "true")},
		{name: "WSn", read: tagged("workshop", "false")},
		{name: "BEy", read: means(KeyAnticheat, true)},
		{name: "BEn", read: means(KeyAnticheat, false)},
		{name: "GLD", read: tagged("gold_only", "true")},
		{name: "F2P", read: tagged("gold_only", "false")},
		{name: "ACP", read: tagged("proxy", "true")},
		{name: "MTXn", read: tagged("monetization", "none")},
		{name: "MTXy", read: tagged("monetization", "cosmetic")},
		{name: "MTXg", read: tagged("monetization", "gameplay")},
	},
	prefixes: []field{
		{name: "<gm>", read: unturnedText("gamemode", "</gm>")},
		{name: "<net>", read: unturnedText("transport", "</net>")},
		{name: "<pf>", read: unturnedText("framework", "</pf>")},
	},
	rules: []field{
		{name: "GameVersion", read: text(KeyVersion)},
		// The version of the plugin loader Rocket.
		{name: "rocket", read: func(d *decoder, v []byte, source string) {
			if len(v) > 0 {
				set(d, KeyModded, true, source)
			}
		}},
	},
	series: []series{
		{prefix: "Mod_", join: modsBy(',')},
		{prefix: "Browser_Workshop_Line_", join: modsBy(',')},
		// The description: base64 or, from old versions, plain text.
		{prefix: "Browser_Desc_Full_Line_", join: func(d *decoder, v []byte, source string) {
			if plain, ok := d.base64(v); ok {
				v = plain
			}
			d.setText(KeyDescription, v, source)
		}},
	},
	finish: func(d *decoder) {
		unturnedConfig(d)
		unturnedLoader(d)
		unturnedPort(d)
	},
})

// unturnedText returns an action that removes the closing tag from a value and stores the
// rest as an attribute. The action ignores a value without the closing tag.
func unturnedText(name, shut string) action {
	return func(d *decoder, v []byte, source string) {
		if hasSuffix(v, shut) {
			n := len(v) - len(shut)
			d.setAttribute(name, v[:n:n], source)
		}
	}
}

func (d *decoder) base64(v []byte) ([]byte, bool) {
	v = d.limit(v, maxLongText/3*4)
	start := len(d.buf)
	d.buf = append(d.buf, v...) // reserves memory; decoding shortens v
	n, err := base64.StdEncoding.Decode(d.buf[start:], v)
	if err != nil {
		d.buf = d.buf[:start]
		return nil, false
	}
	d.buf = d.buf[:start+n]
	return d.since(start), true
}

// unturnedConfig joins the settings that differ from their defaults. Each setting is a
// rule Cfg_N with the value "Group.Name=value".
func unturnedConfig(d *decoder) {
	start := len(d.buf)
	for i := range d.in.Rules {
		r := &d.in.Rules[i]
		if !hasPrefix(r.Name, "Cfg_") || bytes.IndexByte(r.Value, '=') < 0 {
			continue
		}
		if len(d.buf)-start+len(r.Value) > maxLongText {
			d.g.Notes |= noteValueCut
			break
		}
		if len(d.buf) > start {
			d.buf = append(d.buf, ';')
		}
		d.buf = append(d.buf, r.Value...)
	}
	d.addAttribute("config", d.limit(d.since(start), maxLongText), "rules.Cfg_N")
}

// unturnedLoader recognises a server with legacy RocketMod: the server reports one bot,
// which does not exist, and sends no tag <pf>.
func unturnedLoader(d *decoder) {
	in := d.in.Info
	for i := range d.g.Attributes {
		if d.g.Attributes[i].Name == "framework" {
			return
		}
	}
	if in.Has&wire.HasBots != 0 && in.Bots == 1 && d.g.Notes&noteKeywordsCut == 0 {
		set(d, KeyBots, 0, "info.bots")
		set(d, KeyPlayers, int(in.Players), sourceInfo)
		set(d, KeyModded, true, "info.bots")
	}
}

// unturnedPort adds the port that clients join. Since 2021-10-15, when the game introduced
// the tag <net>, this port is the query port plus one, and INFO's game port is the query
// port.
func unturnedPort(d *decoder) {
	in := d.in.Info
	if in.Has&wire.HasGamePort == 0 || in.GamePort == 0 || !bytes.Contains(in.Keywords, []byte("<net>")) {
		return
	}
	d.setAttribute("join_port", d.decimal(uint64(in.GamePort)+1), "info.game_port")
}
