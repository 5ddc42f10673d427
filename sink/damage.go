package sink

import (
	"fmt"
	"strings"
)

// Damage counts the damaged frames and lines that a Reader skipped.
type Damage struct {
	Frames uint64 // number of zstd frames or gzip members
	Lines  uint64 // number of lines that are not JSON
	Bytes  int64  // number of skipped bytes: compressed bytes of frames, and unpacked bytes of lines

	// At is the offset of the first damage: of a frame in the file, or of a line in the
	// unpacked census.
	At int64

	// Doubtful means that the damage is a gzip member at the offset At, and that lines of this
	// member were returned before its checksum was compared.
	Doubtful bool

	// Truncated is the length of the partial line, zstd block or gzip member at the end of
	// the file. The length is known when Next has returned io.EOF. A killed process leaves
	// such bytes; they are not damage. Truncated is 0 if only the end of the last frame is
	// missing.
	Truncated int64

	// Open means that the file ends inside a zstd frame or a gzip member: the file was
	// truncated there, or it is still being written. Open is known when Next has returned
	// io.EOF.
	Open bool

	// Flushed means that Open is set and the file ends where a flush ended. A process that
	// was killed, or is still writing, leaves such a file. So there is no sign that
	// records were lost.
	Flushed bool
}

// Found reports whether anything was damaged.
func (d Damage) Found() bool { return d.Frames+d.Lines > 0 || d.Bytes > 0 }

// add counts n damaged bytes. Its first argument, at, is the offset of the first of these
// bytes.
func (d *Damage) add(at, n int64) {
	if d.Bytes == 0 {
		d.At = at
	}
	d.Bytes += n
}

func (d *Damage) join(later Damage) {
	if d.Bytes == 0 {
		d.At = later.At
	}
	d.Lines += later.Lines
	d.Bytes += later.Bytes
}

// String describes the damage: "1 compressed frame and 2 lines, 12345 bytes, the
// first at byte 67890".
func (d Damage) String() string {
	if d.Doubtful {
		text := fmt.Sprintf("the gzip member at byte %d does not match its checksum, so the records read from it may be false", d.At)
		if d.Lines > 0 {
			text += "; skipped " + plural(d.Lines, "line")
		}
		return text
	}
	var parts []string
	if d.Frames > 0 {
		parts = append(parts, plural(d.Frames, "compressed frame"))
	}
	if d.Lines > 0 {
		parts = append(parts, plural(d.Lines, "line"))
	}
	text := fmt.Sprintf("%s, the first at byte %d", plural(uint64(d.Bytes), "byte"), d.At)
	if len(parts) > 0 {
		text = strings.Join(parts, " and ") + ", " + text
	}
	return text
}

func plural(n uint64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
