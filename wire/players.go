package wire

import (
	"encoding/binary"
	"math"
	"slices"
)

// ShipHint is whether a server runs The Ship, as far as known. Player lists of The
// Ship end with deaths and money (EC-74, EC-75). IsShip tells it from the
// application ID of INFO.
type ShipHint uint8

// The hints.
const (
	// ShipUnknown: no INFO. Deaths and money are read only where exactly
	// eight bytes for each announced player follow the announced players.
	ShipUnknown ShipHint = iota
	// ShipNo: INFO names another game.
	ShipNo
	// ShipYes: INFO names The Ship. Deaths and money are read even where the
	// count byte lies (EC-74), unless the announced players fill the message.
	ShipYes
)

// The sizes of a player's parts in bytes.
const (
	playerTail = 4 + 4              // score, duration
	minPlayer  = 1 + 1 + playerTail // index, the NUL of the name
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
// It reads on to the end of the message whatever the count byte says (EC-81,
// EC-82).
type Players struct {
	rest      []byte // records not yet read
	extra     []byte // deaths and money of all players
	player    Player
	announced int
	count     int
	notes     Notes
	err       Error
}

// Reset makes ps read msg, which must stay as it is as long as the players are
// in use. The error, which Err returns too, is ErrEmpty where there is only the
// type byte, ErrUnexpected where that is another one, ErrMalformed where there
// is none.
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
		ps.splitExtra(ship)
	}
	return nil
}

// splitExtra moves the deaths and money of The Ship from the end of rest to
// extra.
func (ps *Players) splitExtra(ship ShipHint) {
	n := ps.extraLen(ship)
	i := len(ps.rest) - n
	ps.rest, ps.extra = ps.rest[:i:i], ps.rest[i:]
}

// extraLen returns how many bytes at the end of the message are deaths and
// money. What n players leave is 8×n bytes for at most one n, as each further
// record takes more than that away; but the announced players come first: where
// they leave nothing there is none, and where they leave less it is cut.
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

// playerLen returns the length of the record at the front of b, 0 if it is
// incomplete.
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

// Next reads the next player, and reports false at the end of the list or
// where something is wrong; Err tells which.
func (ps *Players) Next() bool { return ps.read(&ps.player) }

// AppendAll reads all players that follow and appends them to dst; Err and
// Notes then tell what Next would have stopped at. It is quicker than Next;
// Player knows nothing of it.
func (ps *Players) AppendAll(dst []Player) []Player {
	for {
		n := len(dst)
		dst = slices.Grow(dst, 1)[:n+1]
		if !ps.read(&dst[n]) {
			return dst[:n]
		}
	}
}

// read reads the next player into p.
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
	if !finite(duration) {
		ps.notes |= NotePlayersNonFinite
	}
	if len(ps.extra) > 0 {
		ps.readExtra(p)
	} else {
		p.Ship, p.Deaths, p.Money = false, 0, 0
	}
	ps.count++
	return true
}

// finite reports whether the float32 of these bits is neither infinite nor NaN.
func finite(bits uint32) bool {
	const exponent = 0x7F800000
	return bits&exponent != exponent
}

// readExtra reads deaths and money of the player at hand into p.
func (ps *Players) readExtra(p *Player) {
	i := shipExtra * ps.count
	p.Ship = len(ps.extra) >= i+shipExtra
	if !p.Ship {
		p.Deaths, p.Money = 0, 0
		return
	}
	p.Deaths = int32(binary.LittleEndian.Uint32(ps.extra[i:]))
	p.Money = int32(binary.LittleEndian.Uint32(ps.extra[i+4:]))
}

// finish decides what the end of the list means.
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

// Player returns the player that Next read; the next Next overwrites it.
func (ps *Players) Player() *Player { return &ps.player }

// Err returns what Reset returned, or ErrTruncated after the end of a list
// that ends inside a record (EC-84, EC-91) or, on The Ship, inside deaths and
// money. The players read before are good.
func (ps *Players) Err() error {
	if ps.err == 0 {
		return nil
	}
	return ps.err
}

// Announced returns the count byte, which is a hint: on games with more than
// 255 players it is the number modulo 256 (EC-82), on some it lies.
func (ps *Players) Announced() int { return ps.announced }

// Count returns how many players were read so far.
func (ps *Players) Count() int { return ps.count }

// Notes returns the oddities, which are complete after the end of the list.
// NotePlayersCount is there only if Err is nil. NotePlayersTrailing means that all
// announced players were there, and that the bytes after them are no player.
func (ps *Players) Notes() Notes { return ps.notes }

// AppendPlayers appends a PLAYER reply with the count byte announced, modulo
// 256, and the players; deaths and money of those with Ship follow at the end.
// Names are written as far as their first NUL.
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
