package export

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquetFile writes a Parquet file.
type parquetFile struct {
	out    io.Writer
	at     int64
	meta   format.FileMetaData // without row groups
	leaves [][]string          // paths of the columns

	groups [][]byte // the encoded metadata of each row group; decoded, it is large
}

// magic begins and ends a Parquet file.
const magic = "PAR1"

// newParquetFile begins a file. empty is the metadata of a file without rows.
func newParquetFile(out io.Writer, empty *format.FileMetaData, leaves [][]string) (*parquetFile, error) {
	f := &parquetFile{out: out, meta: *empty, leaves: leaves}
	f.meta.RowGroups = nil
	return f, f.write([]byte(magic))
}

// emptyFile returns the metadata of a file with this schema and without rows.
func emptyFile(schema *parquet.Schema) (*format.FileMetaData, error) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, schema)
	if err := w.Close(); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return nil, err
	}
	return f.Metadata(), nil
}

func (f *parquetFile) write(b []byte) error {
	n, err := f.out.Write(b)
	f.at += int64(n)
	return err
}

// rowGroup writes a row group. Its offsets count from the beginning of pages.
func (f *parquetFile) rowGroup(g format.RowGroup, pages []byte) error {
	for i := range g.Columns {
		m := &g.Columns[i].MetaData
		m.PathInSchema = f.leaves[i]
		m.DataPageOffset += f.at
		if len(m.Encoding) > 2 { // it has a dictionary
			m.DictionaryPageOffset += f.at
		}
	}
	g.FileOffset, g.Ordinal = f.at, int16(len(f.groups))
	f.meta.NumRows += g.NumRows
	b, err := encode(&g)
	if err != nil {
		return err
	}
	f.groups = append(f.groups, b)
	return f.write(pages)
}

// encode returns metadata in the encoding of the file.
func encode(v any) ([]byte, error) { return thrift.Marshal(new(thrift.CompactProtocol), v) }

// close writes the footer: the metadata, with the row groups in place of its empty
// list.
func (f *parquetFile) close() error {
	all, err := encode(&f.meta)
	if err != nil {
		return err
	}
	before, err := encode(&format.FileMetaData{Version: f.meta.Version, Schema: f.meta.Schema, NumRows: f.meta.NumRows})
	if err != nil {
		return err
	}
	list := len(before) - 2 // the empty list is the last field; then the struct ends
	var head bytes.Buffer
	head.Write(all[:list])
	if err := new(thrift.CompactProtocol).NewWriter(&head).WriteList(thrift.List{Size: int32(len(f.groups)), Type: thrift.STRUCT}); err != nil {
		return err
	}
	return f.footer(slices.Concat([][]byte{head.Bytes()}, f.groups, [][]byte{all[list+1:]}))
}

// footer writes the parts of a footer, and its size.
func (f *parquetFile) footer(parts [][]byte) error {
	start := f.at
	for _, part := range parts {
		if err := f.write(part); err != nil {
			return err
		}
	}
	end := binary.LittleEndian.AppendUint32(nil, uint32(f.at-start))
	return f.write(append(end, magic...))
}
