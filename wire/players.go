package wire

import (
	"encoding/binary"
	"math"
	"slices"
)

// ShipHint says whether a server runs The Ship, if that is known. PLAYER replies of
// The Ship end with deaths and money (EC-74, EC-75). IsShip reports whether the
// application ID of the INFO reply is that of The Ship.
type ShipHint uint8

// The hints.
const (
	// ShipUnknown means that there is no INFO reply. Deaths and money are read only
	// if exactly eight bytes for each announced player follow the announced
	// players.
	ShipUnknown ShipHint = iota
	// ShipNo means that the INFO reply names another game.
	ShipNo
	// ShipYes means that the INFO reply names The Ship. Deaths and money are read even if
	// the count byte is wrong (EC-74). If the announced players fill the message, there
	// are no deaths and money.
	ShipYes
)

// The sizes of a player's parts in bytes.
const (
	playerTail = 4 + 4              // score, duration
	minPlayer  = 1 + 1 + playerTail // index, empty name with its NUL, tail
	shipExtra  = 4 + 4              // deaths, money
)

// Players reads the players of a PLAYER reply one after the other:
//
//	var ps wire.Players
//	if err := ps.Reset(msg, wire.ShipNo); err != nil { … }
//	for ps.Next() {
//		p := ps.Player()
//		…
//	}
//	if err := ps.Err(); err != nil { … }
//
// It reads to the end of the message regardless of the count byte (EC-81, EC-82).
type Players struct {
	list
	extra  []byte // deaths and money of all players
	player Player
}

// list holds the state that Players and Rules share.
type list struct {
	rest      []byte // the players or rules not yet read
	announced int
	count     int
	notes     Notes
	err       Error
}

// Err returns the error of Reset. After the end of the list it returns ErrTruncated
// if the list ends inside an item (EC-84, EC-91, EC-92) or, on The Ship, inside deaths
// and money. The items read before the cut are valid.
func (l *list) Err() error {
	if l.err == 0 {
		return nil
	}
	return l.err
}

// Announced returns the count that the reply announces, which is only a hint (EC-94). With
// more than 255 players it is the number of players modulo 256 (EC-82), and some games send
// a wrong count.
func (l *list) Announced() int { return l.announced }

// Count returns how many items have been read so far.
func (l *list) Count() int { return l.count }

// Notes returns the oddities found so far; the set is complete after the end of the
// list. A wrong count is noted only if Err is nil. NotePlayersTrailing means that all
// announced players were read and that the bytes after them do not form a player.
// NoteRulesDuplicate is never set: finding duplicates takes memory.
func (l *list) Notes() Notes { return l.notes }

// Reset makes ps read msg, which must not change while the players are in use. It
// returns ErrEmpty if msg ends after the type byte, ErrUnexpected if the type byte is
// not KindPlayers, and ErrMalformed if msg has no type byte. Err returns the same
// error.
func (ps *Players) Reset(msg []byte, ship ShipHint) error {
	*ps = Players{}
	b, err := fields(msg, KindPlayers)
	if err == 0 && len(b) == 0 {
		err = ErrEmpty
	}
	if err != 0 {
		ps.err = err
		return err
	}
	ps.announced = int(b[0])
	ps.rest = b[1:]
	if ship != ShipNo {
		i := len(ps.rest) - ps.extraLen(ship)
		ps.rest, ps.extra = ps.rest[:i:i], ps.rest[i:]
	}
	return nil
}

// extraLen returns the number of bytes at the end of the message that are deaths
// and money. The remainder after n players is exactly 8×n bytes for at most one n,
// because each further player makes the remainder shorter and 8×n longer. With
// ShipUnknown, extraLen tries only the announced count as n. With ShipYes, it tries every
// n, but the announced count takes precedence: if fewer than 8×n bytes remain after the
// announced players, these bytes are incomplete deaths and money, and if no bytes remain,
// there are no deaths and money.
func (ps *Players) extraLen(ship ShipHint) int {
	rest, n, found := ps.rest, 0, 0
	for ; len(rest) > 0; n++ {
		left, want := len(rest), shipExtra*n
		if n == ps.announced && (left == want || left < want && ship == ShipYes) {
			return left
		}
		if left == want && ship == ShipYes {
			found = left
		}
		i := playerLen(rest)
		if i == 0 {
			return found
		}
		rest = rest[i:]
	}
	if n == ps.announced {
		return 0
	}
	return found
}

// playerLen returns the length in bytes of the player at the front of b, or 0 if the
// player is incomplete.
func playerLen(b []byte) int {
	if len(b) < minPlayer {
		return 0
	}
	n := indexNUL(b[1 : len(b)-playerTail])
	if n < 0 {
		return 0
	}
	return minPlayer + n
}

// Next reads the next player. It returns false at the end of the list and on an error, which
// Err returns.
func (ps *Players) Next() bool { return ps.read(&ps.player) }

// AppendAll reads all remaining players and appends them to dst. Err and Notes then
// return the same as after a loop over Next. AppendAll is faster than such a loop and
// does not change what Player returns.
func (ps *Players) AppendAll(dst []Player) []Player {
	for {
		n := len(dst)
		dst = slices.Grow(dst, 1)[:n+1]
		if !ps.read(&dst[n]) {
			return dst[:n]
		}
	}
}

// read reads the next player into p. If there is no complete player, it calls
// ps.finish and returns false.
func (ps *Players) read(p *Player) bool {
	n := playerLen(ps.rest)
	if n == 0 {
		ps.finish()
		return false
	}
	b := ps.rest[:n]
	ps.rest = ps.rest[n:]
	end := n - playerTail - 1
	p.Index = b[0]
	p.Name = b[1:end:end]
	p.Score = int32(binary.LittleEndian.Uint32(b[end+1:]))
	duration := binary.LittleEndian.Uint32(b[end+5:])
	p.Duration = math.Float32frombits(duration)
	if duration&0x7F800000 == 0x7F800000 { // infinity and NaN have this exponent
		ps.notes |= NotePlayersNonFinite
	}
	p.Ship, p.Deaths, p.Money = false, 0, 0
	if i := shipExtra * ps.count; len(ps.extra) >= i+shipExtra {
		p.Ship = true
		p.Deaths = int32(binary.LittleEndian.Uint32(ps.extra[i:]))
		p.Money = int32(binary.LittleEndian.Uint32(ps.extra[i+4:]))
	}
	ps.count++
	return true
}

func (ps *Players) finish() {
	left := len(ps.rest) > 0
	switch {
	case ps.err != 0:
	case len(ps.extra) > 0 && len(ps.extra) < shipExtra*ps.count:
		ps.err = ErrTruncated
	case left && ps.count == ps.announced:
		ps.notes |= NotePlayersTrailing
	case left:
		ps.err = ErrTruncated
	case ps.count != ps.announced:
		ps.notes |= NotePlayersCount
	}
}

// Player returns the player that Next read. The next call of Next overwrites it.
func (ps *Players) Player() *Player { return &ps.player }

// AppendPlayers appends a PLAYER reply. Its second argument, announced, is the value of
// the count byte, modulo 256. The reply ends with deaths and money of the players with
// Ship set. Names end at their first NUL.
func AppendPlayers(dst []byte, announced int, players []Player) []byte {
	dst = append(appendHeader(dst, KindPlayers), uint8(announced))
	for i := range players {
		p := &players[i]
		dst = append(dst, p.Index)
		dst = appendText(dst, p.Name)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Score))
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(p.Duration))
	}
	for i := range players {
		if p := &players[i]; p.Ship {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Deaths))
			dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Money))
		}
	}
	return dst
}
