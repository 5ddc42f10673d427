package wire

import (
	"encoding/binary"
	"math"
)

// The bits of the extra data flag. The protocol defines these values; they must not
// be changed. On the wire, the fields have the order of this list (EC-28).
const (
	edfGamePort uint8 = 0x80
	edfSteamID  uint8 = 0x10
	edfSourceTV uint8 = 0x40
	edfKeywords uint8 = 0x20
	edfGameID   uint8 = 0x01
)

// IsShip reports whether an application ID is that of The Ship or of one of its
// variants (EC-75), whose replies have extra fields.
func IsShip(appID uint32) bool {
	switch appID {
	case 2400, 2401, 2402, 2403, 2405, 2406, 2412, 2430:
		return true
	}
	return false
}

// Decode clears the Info, and then reads the INFO reply msg into it. The reply may have
// either format. The strings of the Info alias msg.
//
// The error is ErrTruncated if the message ends inside a field, or before a field that
// the extra data flag promises (EC-29, EC-31); in.Has then names the complete fields.
// It is ErrEmpty if the message ends after the type byte (EC-24), ErrUnexpected if the
// type byte is neither KindInfo nor KindGoldSource, and ErrMalformed if msg has no type
// byte.
//
// A Source reply may end after the version (EC-27). If the reply ends inside the
// version, Version holds the bytes that are there (EC-136). NoteInfoShortAppID is
// set for a truncated reply that may have lost the game ID (EC-145).
//
// If the mod flag of a GoldSource reply is set, but at most three bytes follow it, there
// is no mod block. The last two of these bytes are VAC and bots (EC-67). But if there are
// fewer than two, or the first of the two can't be VAC, the reply is truncated, and
// neither field is set (EC-137). A relay omits bots (EC-33, EC-147). A relay with more
// than 255 spectators or slots may send both numbers as longs in place of bots (EC-146).
func (in *Info) Decode(msg []byte) error {
	*in = Info{}
	body := Body(msg)
	if len(body) == 0 {
		return ErrMalformed
	}
	r := reader{b: body[1:]}
	switch Kind(body[0]) {
	case KindInfo:
		in.Format = FormatSource
	case KindGoldSource:
		in.Format = FormatGoldSource
	default:
		return ErrUnexpected
	}
	if len(r.b) == 0 {
		return ErrEmpty
	}
	if in.Format == FormatSource {
		in.readSource(&r)
	} else {
		in.readGoldSource(&r)
	}
	in.Has = r.has & hasAll
	if in.Password > 1 || in.VAC > 1 {
		in.Notes |= NoteInfoOddBoolean
	}
	if len(r.b) > 0 {
		in.Notes |= NoteInfoTrailing
	}
	if r.cut == 0 {
		return nil
	}
	lostGameID := in.Has&HasGameID == 0 && (in.Has&HasEDF == 0 || in.EDF&edfGameID != 0)
	if in.Format == FormatSource && in.Has&HasAppID != 0 && lostGameID {
		in.Notes |= NoteInfoShortAppID
	}
	return ErrTruncated
}

// readSource reads the fields of an 'I' reply (document 000, A2S_INFO).
func (in *Info) readSource(r *reader) {
	r.u8(&in.Protocol, HasProtocol)
	r.text(&in.Name, HasName)
	r.text(&in.Map, HasMap)
	r.text(&in.Folder, HasFolder)
	r.text(&in.Game, HasGame)
	r.u16(&in.ShortAppID, HasAppID)
	r.count(&in.Players, HasPlayers)
	r.count(&in.MaxPlayers, HasMaxPlayers)
	r.u8(&in.Bots, HasBots)
	r.u8(&in.ServerType, HasServerType)
	r.u8(&in.Environment, HasEnvironment)
	r.u8(&in.Password, HasPassword)
	r.u8(&in.VAC, HasVAC)
	if IsShip(uint32(in.ShortAppID)) {
		r.u8(&in.Ship.Mode, fieldShipMode)
		r.u8(&in.Ship.Witnesses, fieldShipWitnesses)
		r.u8(&in.Ship.Duration, HasShip)
	}
	r.lastText(&in.Version, HasVersion)
	if len(r.left()) == 0 {
		return
	}
	r.u8(&in.EDF, HasEDF)
	if in.EDF&edfGamePort != 0 {
		r.u16(&in.GamePort, HasGamePort)
	}
	if in.EDF&edfSteamID != 0 {
		r.u64(&in.SteamID, HasSteamID)
	}
	if in.EDF&edfSourceTV != 0 {
		r.u16(&in.SourceTV.Port, fieldTVPort)
		r.text(&in.SourceTV.Name, HasSourceTV)
	}
	if in.EDF&edfKeywords != 0 {
		r.text(&in.Keywords, HasKeywords)
	}
	if in.EDF&edfGameID != 0 {
		r.u64(&in.GameID, HasGameID)
	}
}

// readGoldSource reads the fields of an 'm' reply (document 000, "obsolete
// GoldSource response").
func (in *Info) readGoldSource(r *reader) {
	r.text(&in.Address, HasAddress)
	r.text(&in.Name, HasName)
	r.text(&in.Map, HasMap)
	r.text(&in.Folder, HasFolder)
	r.text(&in.Game, HasGame)
	r.count(&in.Players, HasPlayers)
	r.count(&in.MaxPlayers, HasMaxPlayers)
	r.u8(&in.Protocol, HasProtocol)
	r.u8(&in.ServerType, HasServerType)
	r.u8(&in.Environment, HasEnvironment)
	r.u8(&in.Password, HasPassword)
	var mod uint8
	r.u8(&mod, fieldIsMod)
	if mod != 0 {
		in.readMod(r)
	}
	r.u8(&in.VAC, HasVAC)
	switch {
	case !in.IsRelay():
		r.u8(&in.Bots, HasBots)
	// HLTV sends its counts a second time, as longs, if they do not fit in bytes
	// (EC-146).
	case len(r.left()) >= 8:
		var spectators, slots uint32
		r.u32(&spectators, fieldSpectators)
		r.u32(&slots, fieldSlots)
		if spectators|slots <= math.MaxInt32 { // as signed 32-bit numbers, both are at least 0
			in.Players, in.MaxPlayers = spectators, slots
		}
	case len(r.left()) > 0:
		r.u8(&in.Bots, HasBots)
	}
}

// IsRelay reports whether the server is a spectator relay, such as HLTV or SourceTV:
// its players are spectators (EC-33).
func (in *Info) IsRelay() bool { return in.ServerType|0x20 == 'p' }

// ServerType returns the word for the type byte of an INFO reply: dedicated, listen or
// proxy, or "" for an unknown byte. Some servers send upper case (EC-69). A dedicated
// server may send 1, as document 002 says; an emulator sends 'i' for a listen server
// (EC-150).
func ServerType(c byte) string {
	switch c {
	case 'd', 'D', 1:
		return "dedicated"
	case 'l', 'L', 'i':
		return "listen"
	case 'p', 'P':
		return "proxy"
	}
	return ""
}

// Environment returns the word for the environment byte of an INFO reply: linux,
// windows or mac, or "" for an unknown byte.
func Environment(c byte) string {
	switch c {
	case 'l', 'L':
		return "linux"
	case 'w', 'W':
		return "windows"
	case 'm', 'M', 'o', 'O':
		return "mac"
	}
	return ""
}

// readMod reads the mod block. If at most three bytes remain, the reply has no mod block,
// and readMod sets NoteInfoNoModBlock. The last two of these bytes are VAC and bots
// (EC-67). But if there are fewer than two, or the first of the two is neither 0 nor 1 and
// so can't be VAC, the message counts as truncated inside the block (EC-137).
func (in *Info) readMod(r *reader) {
	if left := r.left(); len(left) <= 3 {
		in.Notes |= NoteInfoNoModBlock
		if len(left) == 3 {
			r.take(1, fieldNoModBlock)
		}
		if left = r.left(); len(left) < 2 || left[0] > 1 {
			r.fail(fieldModBlock)
		}
		return
	}
	// Where document 000 has a NUL byte, HLTV's source code writes a string. A NUL byte
	// is an empty string, and readMod discards either.
	var null []byte
	r.text(&in.Mod.URL, fieldModURL)
	r.text(&in.Mod.DownloadURL, fieldModDownload)
	r.text(&null, fieldModNUL)
	r.u32(&in.Mod.Version, fieldModVersion)
	r.u32(&in.Mod.Size, fieldModSize)
	r.u8(&in.Mod.Type, fieldModType)
	r.u8(&in.Mod.DLL, HasMod)
}

// AppendInfo appends an INFO reply: 'm' for FormatGoldSource, else 'I'.
//
// The fields that every reply has are written regardless of in.Has. The fields of
// The Ship, the mod block and the extra data of Source replies are written only if
// in.Has names them. The extra data flag is computed: the bits of the fields
// written, plus the bits of in.EDF that have no defined meaning. If no bit is set and
// in.Has lacks HasEDF, the flag is left out.
//
// A GoldSource reply with NoteInfoNoModBlock has the mod flag set but no mod block
// (EC-67). A GoldSource reply of a relay has bots only if in.Has contains HasBots; if a
// count is above 255, it has both counts as longs instead (EC-146). Any other reply has
// only the low byte of each count. Strings end at their first NUL.
func AppendInfo(dst []byte, in *Info) []byte {
	if in.Format == FormatGoldSource {
		return appendGoldSource(dst, in)
	}
	dst = appendHeader(dst, KindInfo)
	dst = append(dst, in.Protocol)
	dst = appendText(dst, in.Name)
	dst = appendText(dst, in.Map)
	dst = appendText(dst, in.Folder)
	dst = appendText(dst, in.Game)
	dst = binary.LittleEndian.AppendUint16(dst, in.ShortAppID)
	dst = append(dst, uint8(in.Players), uint8(in.MaxPlayers), in.Bots,
		in.ServerType, in.Environment, in.Password, in.VAC)
	if in.Has&HasShip != 0 {
		dst = append(dst, in.Ship.Mode, in.Ship.Witnesses, in.Ship.Duration)
	}
	dst = appendText(dst, in.Version)
	at := len(dst)
	dst = append(dst, in.EDF&^(edfGamePort|edfSteamID|edfSourceTV|edfKeywords|edfGameID))
	if in.Has&HasGamePort != 0 {
		dst[at] |= edfGamePort
		dst = binary.LittleEndian.AppendUint16(dst, in.GamePort)
	}
	if in.Has&HasSteamID != 0 {
		dst[at] |= edfSteamID
		dst = binary.LittleEndian.AppendUint64(dst, in.SteamID)
	}
	if in.Has&HasSourceTV != 0 {
		dst[at] |= edfSourceTV
		dst = binary.LittleEndian.AppendUint16(dst, in.SourceTV.Port)
		dst = appendText(dst, in.SourceTV.Name)
	}
	if in.Has&HasKeywords != 0 {
		dst[at] |= edfKeywords
		dst = appendText(dst, in.Keywords)
	}
	if in.Has&HasGameID != 0 {
		dst[at] |= edfGameID
		dst = binary.LittleEndian.AppendUint64(dst, in.GameID)
	}
	if dst[at] == 0 && in.Has&HasEDF == 0 {
		return dst[:at]
	}
	return dst
}

func appendGoldSource(dst []byte, in *Info) []byte {
	dst = appendHeader(dst, KindGoldSource)
	dst = appendText(dst, in.Address)
	dst = appendText(dst, in.Name)
	dst = appendText(dst, in.Map)
	dst = appendText(dst, in.Folder)
	dst = appendText(dst, in.Game)
	large := in.IsRelay() && max(in.Players, in.MaxPlayers) > math.MaxUint8
	players, slots := uint8(in.Players), uint8(in.MaxPlayers)
	if large {
		players, slots = uint8(min(in.Players, math.MaxUint8)), uint8(min(in.MaxPlayers, math.MaxUint8))
	}
	dst = append(dst, players, slots, in.Protocol, in.ServerType, in.Environment, in.Password)
	switch {
	case in.Notes&NoteInfoNoModBlock != 0:
		dst = append(dst, 1)
	case in.Has&HasMod == 0:
		dst = append(dst, 0)
	default:
		dst = append(dst, 1)
		dst = appendText(dst, in.Mod.URL)
		dst = appendText(dst, in.Mod.DownloadURL)
		dst = append(dst, 0)
		dst = binary.LittleEndian.AppendUint32(dst, in.Mod.Version)
		dst = binary.LittleEndian.AppendUint32(dst, in.Mod.Size)
		dst = append(dst, in.Mod.Type, in.Mod.DLL)
	}
	dst = append(dst, in.VAC)
	switch {
	case large:
		dst = binary.LittleEndian.AppendUint32(dst, in.Players)
		return binary.LittleEndian.AppendUint32(dst, in.MaxPlayers)
	case in.IsRelay() && in.Has&HasBots == 0:
		return dst
	}
	return append(dst, in.Bots)
}
