package wire

import (
	"bytes"
	"encoding/binary"
)

// Layout is one of the three forms of a fragment's header. Nothing in the header names the
// layout; ShowLayout infers it from the bytes that follow.
type Layout uint8

// The layouts (document 000, "multi-packet response format").
const (
	LayoutUnknown      Layout = iota
	LayoutGoldSource          // 9 bytes: FE FF FF FF, ID, number<<4 | total
	LayoutSource              // 12 bytes: FE FF FF FF, ID, total, number, size
	LayoutSourceNoSize        // 10 bytes: FE FF FF FF, ID, total, number (EC-112)
)

// The offsets and lengths of the parts of a fragment. The protocol defines these
// values; they must not be changed.
const (
	splitIDAt      = 4
	splitNibblesAt = 8 // GoldSource
	splitTotalAt   = 8 // Source
	splitNumberAt  = 9 // Source
	splitSizeAt    = 10

	leastHeader = 9 // length of the header of a GoldSource fragment

	packedHeader = 4 + 4 // size and CRC-32, in fragment 0 of a compressed reply

	bzip2Magic = "BZh"
)

// CompressedID is the bit of a Source split ID which says that the reply is
// compressed with bzip2. It counts only if the data look compressed; no other bit
// has a meaning (EC-117).
const CompressedID uint32 = 1 << 31

var (
	layoutWords = [...]string{"unknown", "goldsource", "source", "source without size"}
	headerLens  = [...]int{LayoutGoldSource: 9, LayoutSource: 12, LayoutSourceNoSize: 10}
)

// HeaderLen returns the length of the header in bytes, without the additional eight
// bytes in fragment 0 of a compressed reply. It is 0 for LayoutUnknown.
func (l Layout) HeaderLen() int {
	if int(l) < len(headerLens) {
		return headerLens[l]
	}
	return 0
}

// String returns the layout's name: goldsource, source, source without size or
// unknown.
func (l Layout) String() string { return layoutWords[l] }

// SplitID returns the ID that the fragments of one reply share. The error is
// ErrMalformed if the datagram is not a fragment or is shorter than the shortest
// header (EC-116).
func SplitID(datagram []byte) (id uint32, err error) {
	if !IsSplit(datagram) || len(datagram) < leastHeader {
		return 0, ErrMalformed
	}
	return binary.LittleEndian.Uint32(datagram[splitIDAt:]), nil
}

// ShowLayout finds, from one fragment alone, the layout of a reply and whether the
// reply is compressed. Only fragment 0 can show the layout, since it alone holds
// the beginning of a message. The result is LayoutUnknown for any other fragment,
// and for a fragment 0 that might be a later fragment in another layout. Neither
// the application ID nor the protocol number shows the layout (EC-110, EC-112).
//
// The data after the header show the layout. The strongest evidence is FF FF FF FF and a
// type byte. The second is size, CRC-32 and "BZh" if bit 31 of the ID is set (EC-108; never
// in GoldSource, EC-122). The third is FF FF FF FF alone or a type byte alone (EC-113). For
// the two Source layouts, the third does not count if the datagram could also be a later
// fragment of a GoldSource reply.
//
// A datagram with the third kind of evidence for LayoutGoldSource fits no other layout,
// because its byte 9 is not 0: in LayoutGoldSource, the payload begins at byte 9. In the
// two Source layouts, byte 9 is the fragment number, which is 0 in fragment 0. If the data
// fit both Source layouts, FF FF FF FF is stronger evidence than a type byte. If there is
// only a type byte in both layouts, a size field that matches the length of the payload
// decides for LayoutSource (EC-111).
func ShowLayout(datagram []byte) (l Layout, compressed bool) {
	id, err := SplitID(datagram)
	if err != nil {
		return LayoutUnknown, false
	}
	packed := LayoutUnknown
	var loose [LayoutSourceNoSize + 1]bool
	for l := LayoutGoldSource; l <= LayoutSourceNoSize; l++ {
		if len(datagram) < l.HeaderLen() {
			continue
		}
		total, number := datagram[splitNibblesAt]&15, datagram[splitNibblesAt]>>4
		if l != LayoutGoldSource {
			total, number = datagram[splitTotalAt], datagram[splitNumberAt]
		}
		if total == 0 || number > 0 {
			continue
		}
		payload := datagram[l.HeaderLen():]
		single, typed := IsSingle(payload), startsReply(Body(payload))
		if single && typed {
			return l, false
		}
		loose[l] = single || typed
		if packed == LayoutUnknown && l != LayoutGoldSource && id&CompressedID != 0 &&
			len(payload) >= packedHeader && bytes.HasPrefix(payload[packedHeader:], []byte(bzip2Magic)) {
			packed = l
		}
	}
	total, number := datagram[splitNibblesAt]&15, datagram[splitNibblesAt]>>4 // as a GoldSource header has them
	switch {
	case packed != LayoutUnknown:
		return packed, true
	case loose[LayoutGoldSource]:
		return LayoutGoldSource, false
	case number > 0 && number < total: // may be a later GoldSource fragment
		return LayoutUnknown, false
	case loose[LayoutSource] && loose[LayoutSourceNoSize]:
		payload := datagram[LayoutSource.HeaderLen():]
		size := int(binary.LittleEndian.Uint16(datagram[splitSizeAt:]))
		if IsSingle(datagram[LayoutSourceNoSize.HeaderLen():]) || !IsSingle(payload) && size != len(payload) {
			return LayoutSourceNoSize, false
		}
		return LayoutSource, false
	case loose[LayoutSource]:
		return LayoutSource, false
	case loose[LayoutSourceNoSize]:
		return LayoutSourceNoSize, false
	}
	return LayoutUnknown, false
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

// Fragment is one datagram of a split reply. All fragments of a reply have the same layout;
// ShowLayout finds it.
type Fragment struct {
	Layout     Layout
	Compressed bool // the fragments together are bzip2 data
	ID         uint32
	Total      uint8 // number of fragments of the reply, at least 1 (EC-109)
	Number     uint8 // fragment number, from 0
	// LayoutSource: maximum payload of a fragment in bytes, usually 1248 (EC-110).
	Size uint16

	// The size of the decompressed reply in bytes, as the server claims (EC-121). Only
	// fragment 0 of a compressed reply has DeclaredSize and CRC.
	DeclaredSize uint32
	CRC          uint32 // CRC-32 (IEEE) of the decompressed reply

	Payload []byte // the bytes after the header; aliases the datagram
}

// Decode reads a fragment whose reply has the layout l. Its third argument, compressed,
// says whether the reply is compressed. Decode ignores this argument for LayoutGoldSource,
// because GoldSource replies are never compressed (EC-122). The error is ErrMalformed if
// the datagram is not a fragment, l is LayoutUnknown, the header is cut, the total is 0,
// or the number is not less than the total (EC-120). Decode sets no limit on the number of
// fragments or bytes.
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
	if g.Number >= g.Total {
		return ErrMalformed
	}
	if g.Compressed && g.Number == 0 {
		if len(g.Payload) < packedHeader {
			return ErrMalformed
		}
		g.DeclaredSize = binary.LittleEndian.Uint32(g.Payload)
		g.CRC = binary.LittleEndian.Uint32(g.Payload[4:])
		g.Payload = g.Payload[packedHeader:]
	}
	*f = g
	return nil
}

// AppendFragment appends the datagram of f. The caller must set the bit
// CompressedID in the ID of a compressed reply. In GoldSource fragments number and
// total have four bits each, and Compressed is ignored. The layout must be known.
func AppendFragment(dst []byte, f *Fragment) []byte {
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
