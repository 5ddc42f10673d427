package export

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// encoder encodes row groups.
type encoder struct {
	limits limits
	out    []byte // the pages of the row group

	zstd   *zstd.Encoder
	page   []byte // before compression
	part   []byte // levels or values of the page, or the compressed page
	header bytes.Buffer
	thrift thrift.CompactProtocol

	scratch [][]byte // definition levels, by depth
	numbers numberDictionary
	entries []byte // of a dictionary
}

func newEncoder(l limits) (*encoder, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true), zstd.WithWindowSize(1<<20))
	return &encoder{limits: l, zstd: z}, err
}

// rowGroup encodes rows to e.out. The offsets in the result count from its beginning.
func (e *encoder) rowGroup(r *rows) format.RowGroup {
	e.out = e.out[:0]
	g := format.RowGroup{NumRows: int64(r.n)}
	above := e.levels(0, int(r.n))
	for range r.n {
		above = append(above, 0)
	}
	e.scratch[0] = above
	for _, c := range r.root.inner {
		e.node(&g, c, &stream{}, above, 1)
	}
	for i := range g.Columns {
		g.TotalByteSize += g.Columns[i].MetaData.TotalUncompressedSize
		g.TotalCompressedSize += g.Columns[i].MetaData.TotalCompressedSize
	}
	return g
}

// levels returns an empty buffer for the definition levels of nodes at a depth.
func (e *encoder) levels(depth, size int) []byte {
	for len(e.scratch) <= depth {
		e.scratch = append(e.scratch, nil)
	}
	e.scratch[depth] = slices.Grow(e.scratch[depth][:0], size)
	return e.scratch[depth]
}

// node encodes the columns of a node. above are the definition levels of its parent.
func (e *encoder) node(g *format.RowGroup, n *node, s *stream, above []byte, depth int) {
	defs := s.levels(e.levels(depth, len(above)), above, &n.marks, n.def)
	switch n.kind {
	case kindLeaf:
		g.Columns = append(g.Columns, e.chunk(n, s, defs))
		return
	case kindList, kindMap:
		in, levels := s.elements(n, defs)
		s, defs = &in, levels
	}
	for _, c := range n.inner {
		e.node(g, c, s, defs, depth+1)
	}
}

// chunk encodes a column.
func (e *encoder) chunk(n *node, s *stream, defs []byte) format.ColumnChunk {
	c := &n.column
	start := len(e.out)
	v := e.values(c)
	m := &chunk{encoder: e, node: n}
	// Readers expect one codec for a column in all row groups, so empty pages have it too.
	m.meta = format.ColumnMetaData{Type: c.kind, Codec: format.Zstd, NumValues: int64(len(defs))}
	m.meta.Statistics.NullCount = int64(len(defs) - v.count)
	m.meta.Statistics.MinValue, m.meta.Statistics.MaxValue = v.min, v.max
	m.meta.Encoding = []format.Encoding{format.RLE, v.encoding}
	if v.dictionary != nil {
		m.meta.Encoding = append(m.meta.Encoding, format.Plain)
		m.meta.DictionaryPageOffset = int64(start)
		m.dictionary(v)
	}
	m.meta.DataPageOffset = int64(len(e.out))
	m.pages(v, s, defs)
	m.meta.TotalCompressedSize = int64(len(e.out) - start)
	return format.ColumnChunk{MetaData: m.meta}
}

// chunk is a column that is being encoded.
type chunk struct {
	*encoder
	node *node
	meta format.ColumnMetaData
}

// dictionary writes the dictionary page.
func (m *chunk) dictionary(v *values) {
	m.page = append(m.page[:0], v.dictionary...)
	m.write(format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
		NumValues: int32(v.entries), Encoding: format.Plain,
	})})
}

// pages writes the data pages. Each ends with a complete row.
func (m *chunk) pages(v *values, s *stream, defs []byte) {
	pages := max(1, parts(len(defs), m.limits.pageSlots), parts(v.size(), m.limits.pageBytes))
	slots := parts(len(defs), pages)
	value := 0
	for from := 0; from < len(defs); {
		to := min(from+slots, len(defs))
		for to < len(defs) && s.rep(uint32(to)) > 0 {
			to++
		}
		m.page = m.page[:0]
		if s.reps != nil {
			m.appendLevels(s.reps[from:to], m.node.rep)
		}
		m.appendLevels(defs[from:to], m.node.def)
		n := bytes.Count(defs[from:to], []byte{byte(m.node.def)})
		m.page = v.append(m.page, &m.part, value, value+n)
		m.write(format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(to - from), Encoding: v.encoding,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		})})
		from, value = to, value+n
	}
}

// parts returns n divided by size, rounded up: the number of parts of this size or, if
// size is the number of parts, the size of one part.
func parts(n, size int) int { return (n + size - 1) / size }

// appendLevels appends levels to the page. most is the highest possible level.
func (m *chunk) appendLevels(levels []byte, most int) {
	m.part, _ = (&rle.Encoding{BitWidth: bits.Len(uint(most))}).EncodeLevels(m.part[:0], levels)
	m.page = binary.LittleEndian.AppendUint32(m.page, uint32(len(m.part)))
	m.page = append(m.page, m.part...)
}

// write compresses the page and appends it to the row group, after its header.
func (m *chunk) write(h format.PageHeader) {
	m.part = m.zstd.EncodeAll(m.page, m.part[:0])
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(m.page)), int32(len(m.part))
	m.header.Reset()
	if err := thrift.NewEncoder(m.thrift.NewWriter(&m.header)).Encode(&h); err != nil {
		panic("export: a page header: " + err.Error()) // it is made of numbers
	}
	m.out = append(append(m.out, m.header.Bytes()...), m.part...)
	m.meta.TotalUncompressedSize += int64(m.header.Len() + len(m.page))
}
