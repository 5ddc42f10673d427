package sink

import (
	"fmt"
	"strings"
)

// Damage counts what a Reader skipped because it could not be read. The partial
// record that a killed process leaves at the end of a file does not count as
// damage: see Reader.Truncated.
type Damage struct {
	Frames uint64 // zstd frames or gzip members
	Lines  uint64 // lines that are not JSON
	Bytes  int64  // length of the frames in the file plus that of the unpacked lines
	At     int64  // offset of the first damage
}

// Found reports whether anything was skipped.
func (d Damage) Found() bool { return d != Damage{} }

// add counts n damaged bytes from offset at on.
func (d *Damage) add(at, n int64) {
	if d.Bytes == 0 {
		d.At = at
	}
	d.Bytes += n
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
