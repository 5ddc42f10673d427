package bench

import (
	"bytes"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/canned"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
)

// compressor is a way to compress a census.
type compressor struct {
	name string
	new  func(io.Writer) io.WriteCloser
}

// compressors returns ways to compress a census. The first is the one that package
// sink uses.
func compressors(t *testing.T) []compressor {
	zstdWith := func(o ...zstd.EOption) func(io.Writer) io.WriteCloser {
		return func(w io.Writer) io.WriteCloser {
			// The window must come before the level: in the other order it would
			// shorten the blocks.
			enc, err := zstd.NewWriter(w, append([]zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(512 << 10)}, o...)...)
			if err != nil {
				t.Fatal(err)
			}
			return enc
		}
	}
	gzipWith := func(level int) func(io.Writer) io.WriteCloser {
		return func(w io.Writer) io.WriteCloser {
			enc, err := gzip.NewWriterLevel(w, level)
			if err != nil {
				t.Fatal(err)
			}
			return enc
		}
	}
	s2With := func(o ...s2.WriterOption) func(io.Writer) io.WriteCloser {
		return func(w io.Writer) io.WriteCloser { return s2.NewWriter(w, append(o, s2.WriterConcurrency(1))...) }
	}
	fastest, usual := zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderLevel(zstd.SpeedDefault)
	return []compressor{
		{"zstd fastest, as in a census", zstdWith(fastest)},
		{"zstd fastest, window 4 MiB", zstdWith(fastest, zstd.WithWindowSize(4<<20))},
		{"zstd fastest, window 128 KiB", zstdWith(fastest, zstd.WithWindowSize(128<<10))},
		{"zstd fastest, no entropy coding", zstdWith(fastest, zstd.WithNoEntropyCompression(true))},
		{"zstd fastest, no checksum", zstdWith(fastest, zstd.WithEncoderCRC(false))},
		{"zstd default", zstdWith(usual)},
		{"zstd better", zstdWith(zstd.WithEncoderLevel(zstd.SpeedBetterCompression))},
		{"S2", s2With()},
		{"S2 better", s2With(s2.WriterBetterCompression())},
		{"gzip 1", gzipWith(1)},
		{"gzip 6", gzipWith(6)},
	}
}

// censusLines returns the records of n servers, each with its own players and rules.
func censusLines(n int) (lines []byte) {
	var enc record.Encoder
	addr := netip.MustParseAddr("127.16.0.0")
	for seed := uint64(0); n > 0; seed++ {
		server := fleet.NewOrdinary(seed*0x9E3779B97F4A7C15, canned.Players, canned.Rules)
		if !server.Readable() {
			continue
		}
		r := server.Truth(scanner.AskAll)
		addr = addr.Next()
		r.Addr = netip.AddrPortFrom(addr, 27015)
		traffic(r)
		lines = enc.Append(lines, "20261120T030000Z", r)
		n--
	}
	return lines
}

// barsOfCompression measures the time that each compressor takes for a census, and
// the size of its output. It has no bar: the numbers show which compressor is worth
// its time.
func barsOfCompression(t *testing.T) {
	const servers, chunk = 20_000, 64 << 10
	lines := censusLines(servers)
	all := compressors(t)
	took, size := make([][]float64, len(all)), make([]int, len(all))
	for range *roundsFlag {
		for i, c := range all { // in alternation: the speed of a machine varies
			var out bytes.Buffer
			begun := time.Now()
			w := c.new(&out)
			for rest := lines; len(rest) > 0; {
				n, err := w.Write(rest[:min(chunk, len(rest))])
				if err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			took[i] = append(took[i], time.Since(begun).Seconds())
			size[i] = out.Len()
		}
	}
	t.Logf("%d records of %.0f bytes", servers, float64(len(lines))/servers)
	for i, c := range all {
		s := median(took[i])
		t.Logf("%-32s %6.2f µs a record  %4.0f MB/s  a %5.2fth of the size  time × %.2f, size × %.2f", c.name, s/servers*1e6,
			float64(len(lines))/1e6/s, float64(len(lines))/float64(size[i]), s/median(took[0]), float64(size[i])/float64(size[0]))
	}
}
