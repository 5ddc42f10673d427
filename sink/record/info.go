package record

import "github.com/a2sscan/a2sscan/wire"

// appendInfo appends the fields of an INFO reply that were read completely.
func appendInfo(dst []byte, in *wire.Info) []byte {
	dst = append(dst, `"info":{`...)
	switch in.Format {
	case wire.FormatSource:
		dst = append(dst, `"format":"source",`...)
	case wire.FormatGoldSource:
		dst = append(dst, `"format":"goldsource",`...)
	}
	dst = appendNames(dst, in)
	dst = appendSlots(dst, in)
	dst = appendKind(dst, in)
	dst = appendExtra(dst, in)
	if in.Has&wire.HasAddress != 0 {
		dst = appendText(dst, `"address":`, in.Address)
	}
	if in.Has&wire.HasMod != 0 {
		dst = appendMod(dst, &in.Mod)
	}
	return end(dst, '}')
}

// appendNames appends the protocol, the names of the server, its map, folder and
// game, and the application ID.
func appendNames(dst []byte, in *wire.Info) []byte {
	if in.Has&wire.HasProtocol != 0 {
		dst = appendUint(dst, `"protocol":`, uint64(in.Protocol))
	}
	if in.Has&wire.HasName != 0 {
		dst = appendText(dst, `"name":`, in.Name)
	}
	if in.Has&wire.HasMap != 0 {
		dst = appendText(dst, `"map":`, in.Map)
	}
	if in.Has&wire.HasFolder != 0 {
		dst = appendText(dst, `"folder":`, in.Folder)
	}
	if in.Has&wire.HasGame != 0 {
		dst = appendText(dst, `"game":`, in.Game)
	}
	if id, ok := in.AppID(); ok {
		dst = appendUint(dst, `"app_id":`, uint64(id))
	}
	return dst
}

// appendSlots appends the counts of players.
func appendSlots(dst []byte, in *wire.Info) []byte {
	if in.Has&wire.HasPlayers != 0 {
		dst = appendUint(dst, `"players":`, uint64(in.Players))
	}
	if in.Has&wire.HasMaxPlayers != 0 {
		dst = appendUint(dst, `"max_players":`, uint64(in.MaxPlayers))
	}
	if in.Has&wire.HasBots != 0 {
		dst = appendUint(dst, `"bots":`, uint64(in.Bots))
	}
	return dst
}

// appendKind appends the server's type and system, password and VAC, and The Ship's
// fields.
func appendKind(dst []byte, in *wire.Info) []byte {
	if in.Has&wire.HasServerType != 0 {
		dst = appendLetter(dst, `"server_type":`, in.ServerType, wire.ServerType(in.ServerType))
	}
	if in.Has&wire.HasEnvironment != 0 {
		dst = appendLetter(dst, `"environment":`, in.Environment, wire.Environment(in.Environment))
	}
	if in.Has&wire.HasPassword != 0 {
		dst = appendBool(dst, `"password":`, in.Password != 0)
	}
	if in.Has&wire.HasVAC != 0 {
		dst = appendBool(dst, `"vac":`, in.VAC != 0)
	}
	if in.Has&wire.HasShip != 0 {
		dst = append(dst, `"ship":{`...)
		dst = appendUint(dst, `"mode":`, uint64(in.Ship.Mode))
		dst = appendUint(dst, `"witnesses":`, uint64(in.Ship.Witnesses))
		dst = appendUint(dst, `"duration":`, uint64(in.Ship.Duration))
		dst = end(dst, '}')
	}
	return dst
}

// appendExtra appends the version and the fields that the extra data flag
// announces.
func appendExtra(dst []byte, in *wire.Info) []byte {
	if in.Has&wire.HasVersion != 0 {
		dst = appendText(dst, `"version":`, in.Version)
	}
	if in.Has&wire.HasEDF != 0 {
		dst = appendUint(dst, `"edf":`, uint64(in.EDF))
	}
	if in.Has&wire.HasGamePort != 0 {
		dst = appendUint(dst, `"game_port":`, uint64(in.GamePort))
	}
	if in.Has&wire.HasSteamID != 0 {
		dst = appendID(dst, `"steam_id":`, in.SteamID)
	}
	if in.Has&wire.HasSourceTV != 0 {
		dst = append(dst, `"sourcetv":{`...)
		dst = appendUint(dst, `"port":`, uint64(in.SourceTV.Port))
		dst = appendText(dst, `"name":`, in.SourceTV.Name)
		dst = end(dst, '}')
	}
	if in.Has&wire.HasKeywords != 0 {
		dst = appendText(dst, `"keywords":`, in.Keywords)
	}
	if in.Has&wire.HasGameID != 0 {
		dst = appendID(dst, `"game_id":`, in.GameID)
	}
	return dst
}

// appendMod appends the mod block of a GoldSource reply.
func appendMod(dst []byte, m *wire.Mod) []byte {
	dst = append(dst, `"mod":{`...)
	dst = appendText(dst, `"url":`, m.URL)
	dst = appendText(dst, `"download_url":`, m.DownloadURL)
	dst = appendUint(dst, `"version":`, uint64(m.Version))
	dst = appendUint(dst, `"size":`, uint64(m.Size))
	dst = appendBool(dst, `"multiplayer_only":`, m.Type != 0)
	dst = appendBool(dst, `"custom_dll":`, m.DLL != 0)
	return end(dst, '}')
}

// appendLetter appends the word for the letter c of the protocol, or c in hex if
// word is empty.
func appendLetter(dst []byte, key string, c byte, word string) []byte {
	if word != "" {
		return appendWord(dst, key, word)
	}
	dst = append(dst, key...)
	return append(dst, '"', '0', 'x', hexDigits[c>>4], hexDigits[c&15], '"', ',')
}
