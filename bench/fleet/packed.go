package fleet

import (
	"bytes"
	"hash/crc32"
	"sync"

	"github.com/dsnet/compress/bzip2"

	"github.com/a2sscan/a2sscan/wire"
)

// packed is a reply as bzip2 data, with the header fields of fragment 0.
type packed struct {
	data []byte
	size uint32 // of the reply
	crc  uint32 // of the reply, CRC-32 (IEEE)
}

// compress compresses a reply with bzip2.
func compress(msg []byte, level int) packed {
	var b bytes.Buffer
	w, err := bzip2.NewWriter(&b, &bzip2.WriterConfig{Level: level})
	if err == nil {
		_, err = w.Write(msg)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("fleet: bzip2 into memory: " + err.Error()) // it can't fail
	}
	return packed{b.Bytes(), uint32(len(msg)), crc32.ChecksumIEEE(msg)}
}

// packedLists holds the compressed lists of rules. packedRules compresses each when
// it is first needed.
var packedLists [packedSets]struct {
	once sync.Once
	packed
}

// packedRules returns compressed list number set.
func packedRules(set int) packed {
	l := &packedLists[set]
	l.once.Do(func() {
		var c content
		c.fillRules(&nature{kind: Packed, hash: uint64(set) << 40})
		l.packed = compress(c.appendMessage(nil, wire.QuestionRules), 1)
	})
	return l.packed
}

// sendPacked sends a compressed reply, in a single fragment if it fits (EC-109).
func (p *responder) sendPacked(n *nature, z packed) {
	f := wire.Fragment{
		Layout: n.layout, Compressed: true, ID: p.nextID(n) | wire.CompressedID,
		Size: uint16(n.fragment), DeclaredSize: z.size, CRC: z.crc,
	}
	const header = 4 + 4 // size and checksum, in fragment 0
	f.Total = uint8((header + len(z.data) + n.fragment - 1) / n.fragment)
	for room := n.fragment - header; len(z.data) > 0; room = n.fragment {
		f.Payload = z.data[:min(room, len(z.data))]
		z.data = z.data[len(f.Payload):]
		p.sendFragment(n, &f)
		f.Number++
	}
}
