package export

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquetFile writes a Parquet file.
type parquetFile struct {
	out    io.Writer
	at     int64
	meta   format.FileMetaData
	leaves [][]string // paths of the columns
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
	w := parquet.NewGenericWriter[any](&b, schema, parquet.CreatedBy("a2sscan", "", ""))
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

// rowGroup writes a row group whose offsets begin with 0.
func (f *parquetFile) rowGroup(g format.RowGroup, pages []byte) error {
	for i := range g.Columns {
		m := &g.Columns[i].MetaData
		m.PathInSchema = f.leaves[i]
		m.DataPageOffset += f.at
		if len(m.Encoding) > 2 { // it has a dictionary
			m.DictionaryPageOffset += f.at
		}
	}
	g.FileOffset, g.Ordinal = f.at, int16(len(f.meta.RowGroups))
	f.meta.NumRows += g.NumRows
	f.meta.RowGroups = append(f.meta.RowGroups, g)
	return f.write(pages)
}

// close writes the footer.
func (f *parquetFile) close() error {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &f.meta)
	if err != nil {
		return err
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)))
	return f.write(append(b, magic...))
}
