package wire

import "encoding/binary"

// Layout is one of the three forms that a fragment's header has. Nothing in
// the header names it; ShowLayout tells it from what follows.
type Layout uint8

// The layouts (document 000, "multi-packet response format").
const (
	LayoutUnknown      Layout = iota
	LayoutGoldSource          // 9 bytes: FE FF FF FF, ID, number<<4 | total
	LayoutSource              // 12 bytes: FE FF FF FF, ID, total, number, size
	LayoutSourceNoSize        // 10 bytes: the same without the size (EC-112)
)

// Where the parts of a fragment stand. These are the protocol's and must not be
// changed.
const (
	splitIDAt      = 4
	splitNibblesAt = 8 // GoldSource
	splitTotalAt   = 8 // Source
	splitNumberAt  = 9 // Source
	splitSizeAt    = 10

	goldSourceHeader   = 9
	sourceHeader       = 12
	sourceNoSizeHeader = 10

	packedHeader = 4 + 4 // size and CRC-32, in fragment 0 of a compressed reply

	bzip2Magic = "BZh"
)

// CompressedID is the bit of a Source split ID that says that the reply is
// compressed with bzip2. It counts only where the data bear it out; no other
// bit means anything (EC-117).
const CompressedID uint32 = 1 << 31

// HeaderLen returns the length of the header in bytes, without the eight more
// that fragment 0 of a compressed reply has; 0 for LayoutUnknown.
func (l Layout) HeaderLen() int {
	switch l {
	case LayoutGoldSource:
		return goldSourceHeader
	case LayoutSource:
		return sourceHeader
	case LayoutSourceNoSize:
		return sourceNoSizeHeader
	}
	return 0
}

// String names the layout.
func (l Layout) String() string {
	switch l {
	case LayoutGoldSource:
		return "goldsource"
	case LayoutSource:
		return "source"
	case LayoutSourceNoSize:
		return "source without size"
	}
	return "unknown"
}

// SplitID returns the number that the fragments of one reply share. The error
// is ErrMalformed where the datagram is no fragment or shorter than the
// shortest header (EC-116).
func SplitID(datagram []byte) (id uint32, err error) {
	if !IsSplit(datagram) || len(datagram) < goldSourceHeader {
		return 0, ErrMalformed
	}
	return binary.LittleEndian.Uint32(datagram[splitIDAt:]), nil
}

// ShowLayout finds the layout of a reply from one fragment alone, and whether the
// reply is compressed. Only fragment 0 can show the layout, since it alone holds
// the beginning of a message. For others the result is LayoutUnknown, and also for
// a fragment 0 that might be a later one in another layout. Neither the application
// ID nor the protocol number shows the layout (EC-110, EC-112).
//
// Three things show a layout, the better one first: FF FF FF FF and a type byte
// after its header; size, CRC-32 and "BZh" after it where bit 31 of the ID is
// set (EC-108; never GoldSource, EC-122); FF FF FF FF or a type byte alone
// (EC-113), unless the fragment could also be a later one of a GoldSource reply
// whose text happens to look like that.
func ShowLayout(datagram []byte) (l Layout, compressed bool) {
	if _, err := SplitID(datagram); err != nil {
		return LayoutUnknown, false
	}
	if l = plainLayout(datagram); l != LayoutUnknown {
		return l, false
	}
	if l = packedLayout(datagram); l != LayoutUnknown {
		return l, true
	}
	return looseLayout(datagram), false
}

// isFirst reports whether the datagram is fragment 0 of one or more in the
// layout l.
func isFirst(datagram []byte, l Layout) bool {
	if len(datagram) < l.HeaderLen() {
		return false
	}
	if l == LayoutGoldSource {
		b := datagram[splitNibblesAt]
		return b>>4 == 0 && b&15 > 0
	}
	return datagram[splitTotalAt] > 0 && datagram[splitNumberAt] == 0
}

// plainLayout returns the layout in which the datagram is fragment 0 and goes
// on with FF FF FF FF and a type byte.
func plainLayout(datagram []byte) Layout {
	for l := LayoutGoldSource; l <= LayoutSourceNoSize; l++ {
		if isFirst(datagram, l) && startsMessage(datagram[l.HeaderLen():]) {
			return l
		}
	}
	return LayoutUnknown
}

// packedLayout returns the layout in which the datagram is fragment 0 of a
// compressed reply.
func packedLayout(datagram []byte) Layout {
	if binary.LittleEndian.Uint32(datagram[splitIDAt:])&CompressedID == 0 {
		return LayoutUnknown
	}
	for _, l := range [...]Layout{LayoutSource, LayoutSourceNoSize} {
		if isFirst(datagram, l) && startsPacked(datagram[l.HeaderLen():]) {
			return l
		}
	}
	return LayoutUnknown
}

// looseLayout returns the layout in which the datagram is fragment 0 and goes
// on with FF FF FF FF or with a type byte. GoldSource is never in doubt: there
// byte 9 is 0 in the other two, as their number.
func looseLayout(datagram []byte) Layout {
	if showsLoosely(datagram, LayoutGoldSource) {
		return LayoutGoldSource
	}
	if isLaterGoldSource(datagram) {
		return LayoutUnknown
	}
	sized := showsLoosely(datagram, LayoutSource)
	bare := showsLoosely(datagram, LayoutSourceNoSize)
	switch {
	case sized && bare:
		return settleSize(datagram)
	case sized:
		return LayoutSource
	case bare:
		return LayoutSourceNoSize
	}
	return LayoutUnknown
}

// settleSize decides between the two Source layouts if the data look like both. FF
// FF FF FF is better than a type byte. Of two type bytes, the one counts with which
// the size field matches the length of the datagram (EC-111).
func settleSize(datagram []byte) Layout {
	if IsSingle(datagram[sourceNoSizeHeader:]) {
		return LayoutSourceNoSize
	}
	size := int(binary.LittleEndian.Uint16(datagram[splitSizeAt:]))
	if IsSingle(datagram[sourceHeader:]) || size == len(datagram)-sourceHeader {
		return LayoutSource
	}
	return LayoutSourceNoSize
}

// isLaterGoldSource reports whether the datagram could be a fragment after the
// first of a GoldSource reply.
func isLaterGoldSource(datagram []byte) bool {
	number, total := datagram[splitNibblesAt]>>4, datagram[splitNibblesAt]&15
	return number > 0 && number < total
}

// startsMessage reports whether b begins with FF FF FF FF, once or twice, and
// the type byte of a reply that servers split.
func startsMessage(b []byte) bool {
	return IsSingle(b) && startsReply(Body(b))
}

// startsReply reports whether b begins with the type byte of a reply that
// servers split.
func startsReply(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	switch Kind(b[0]) {
	case KindInfo, KindGoldSource, KindPlayers, KindRules:
		return true
	}
	return false
}

// showsLoosely reports whether the datagram is fragment 0 in the layout l, followed
// by half of what startsMessage wants: FF FF FF FF, or the type byte (EC-113).
func showsLoosely(datagram []byte, l Layout) bool {
	if !isFirst(datagram, l) {
		return false
	}
	payload := datagram[l.HeaderLen():]
	return IsSingle(payload) || startsReply(payload)
}

// startsPacked reports whether b begins with size, CRC-32 and bzip2 data.
func startsPacked(b []byte) bool {
	return len(b) >= packedHeader+len(bzip2Magic) &&
		string(b[packedHeader:packedHeader+len(bzip2Magic)]) == bzip2Magic
}

// Fragment is one datagram of a split reply. Its layout is that of its group;
// ShowLayout finds it.
type Fragment struct {
	Layout     Layout // how its header is laid out
	Compressed bool   // the fragments together are bzip2 data
	ID         uint32 // the number that the fragments of one reply share
	Total      uint8  // how many fragments there are, from 1 (EC-109)
	Number     uint8  // of this one, from 0
	Size       uint16 // LayoutSource: most payload bytes of a datagram, mostly 1248 (EC-110)

	// Fragment 0 of a compressed reply.
	DeclaredSize uint32 // bytes of the reply when decompressed; untrusted (EC-121)
	CRC          uint32 // CRC-32 (IEEE) of those

	Payload []byte // what the header leaves; aliases the datagram
}

// Decode reads a fragment whose reply has the layout l and is compressed or
// not; GoldSource replies never are, whatever compressed says (EC-122). The
// error is ErrMalformed for what is no fragment, for LayoutUnknown, for a header
// that is cut, for a total of 0, and for a number that is not less than the
// total (EC-120). How many fragments and bytes are too many is not decided here.
func (f *Fragment) Decode(datagram []byte, l Layout, compressed bool) error {
	*f = Fragment{}
	id, err := SplitID(datagram)
	n := l.HeaderLen()
	if err != nil || n == 0 || len(datagram) < n {
		return ErrMalformed
	}
	g := Fragment{Layout: l, ID: id, Payload: datagram[n:len(datagram):len(datagram)]}
	if l == LayoutGoldSource {
		b := datagram[splitNibblesAt]
		g.Number, g.Total = b>>4, b&15
	} else {
		g.Total, g.Number = datagram[splitTotalAt], datagram[splitNumberAt]
		g.Compressed = compressed
	}
	if l == LayoutSource {
		g.Size = binary.LittleEndian.Uint16(datagram[splitSizeAt:])
	}
	if g.Number >= g.Total || !g.readPacked() {
		return ErrMalformed
	}
	*f = g
	return nil
}

// readPacked takes size and CRC-32 off the payload where they are there, and
// reports false where they are cut.
func (f *Fragment) readPacked() bool {
	if !f.Compressed || f.Number != 0 {
		return true
	}
	if len(f.Payload) < packedHeader {
		return false
	}
	f.DeclaredSize = binary.LittleEndian.Uint32(f.Payload)
	f.CRC = binary.LittleEndian.Uint32(f.Payload[4:])
	f.Payload = f.Payload[packedHeader:]
	return true
}

// AppendFragment appends the datagram of f. A compressed reply's ID must have
// the bit CompressedID, which AppendFragment does not set. In GoldSource
// fragments number and total are four bits each, and Compressed is ignored.
// LayoutUnknown has no datagram: nothing is appended.
func AppendFragment(dst []byte, f *Fragment) []byte {
	if f.Layout.HeaderLen() == 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint32(dst, splitHeader)
	dst = binary.LittleEndian.AppendUint32(dst, f.ID)
	if f.Layout == LayoutGoldSource {
		dst = append(dst, f.Number<<4|f.Total&15)
		return append(dst, f.Payload...)
	}
	dst = append(dst, f.Total, f.Number)
	if f.Layout == LayoutSource {
		dst = binary.LittleEndian.AppendUint16(dst, f.Size)
	}
	if f.Compressed && f.Number == 0 {
		dst = binary.LittleEndian.AppendUint32(dst, f.DeclaredSize)
		dst = binary.LittleEndian.AppendUint32(dst, f.CRC)
	}
	return append(dst, f.Payload...)
}
