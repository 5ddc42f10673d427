package inputs

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// Spool keeps a list in memory as compressed NDJSON. It needs about 10 bytes per
// server, or 80 with the entry that the master sent.
type Spool struct {
	keep bool
	line []byte
	size int64
	buf  bytes.Buffer
	pack *zstd.Encoder
}

func NewSpool(keep bool) (s *Spool, err error) {
	s = &Spool{keep: keep}
	s.pack, err = zstd.NewWriter(&s.buf, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	return s, err
}

func (s *Spool) Add(server *master.Server) error {
	if !s.keep {
		server = &master.Server{Addr: server.Addr}
	}
	s.line = server.AppendLine(s.line[:0])
	s.size += int64(len(s.line))
	_, err := s.pack.Write(s.line)
	return err
}

// Source completes the list and returns it as a source of targets. Do not call Add
// after it.
func (s *Spool) Source(name string) (list.Source, error) {
	err := s.pack.Close()
	return list.Source{Name: name, Size: s.size, Open: func() (io.ReadCloser, error) {
		d, err := zstd.NewReader(bytes.NewReader(s.buf.Bytes()), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}}, err
}
