package sink

import (
	"fmt"
	"strings"
)

// Damage counts what a Reader skipped because it could not be read.
type Damage struct {
	Frames uint64 // number of zstd frames or gzip members
	Lines  uint64 // number of lines that are not JSON
	Bytes  int64  // compressed length of these frames, plus the length of these lines
	At     int64  // offset of the first damage

	// Truncated is the length of a partial line, or of a partial zstd block, at the end of
	// the file, once Next has returned io.EOF. A killed process leaves such bytes, which no
	// Sync has ever reported as written; they are not damage. It is 0 if nothing was lost,
	// even if the last frame has no end yet because the file is still being written.
	Truncated int64

	// Open reports, once Next has returned io.EOF, that the file ends inside a zstd frame or
	// a gzip member: the file was cut there, or it is still being written.
	Open bool

	// Flushed reports, if Open is set, that the file ends where a flush ended. A
	// process that was killed, or is still writing, leaves such a file: nothing in it
	// shows a loss.
	Flushed bool
}

// Found reports whether anything was damaged.
func (d Damage) Found() bool { return d.Frames+d.Lines > 0 || d.Bytes > 0 }

// add counts n damaged bytes, the first of which is at the offset at.
func (d *Damage) add(at, n int64) {
	if d.Bytes == 0 {
		d.At = at
	}
	d.Bytes += n
}

// join adds the damage in later lines.
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
	var parts []string
	if d.Frames > 0 {
		parts = append(parts, plural(d.Frames, "compressed frame"))
	}
	if d.Lines > 0 {
		parts = append(parts, plural(d.Lines, "line"))
	}
	size := plural(uint64(d.Bytes), "byte")
	if len(parts) == 0 {
		return fmt.Sprintf("%s between compressed frames, the first at byte %d", size, d.At)
	}
	return fmt.Sprintf("%s, %s, the first at byte %d", strings.Join(parts, " and "), size, d.At)
}

func plural(n uint64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
