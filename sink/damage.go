package sink

import (
	"fmt"
	"strings"
)

// Damage is what a Reader passed over because it could not be read. What a run
// that was killed left at the end of a file is none: see Reader.Torn.
type Damage struct {
	Frames uint64 // zstd frames
	Lines  uint64 // lines that are no JSON
	Bytes  int64  // of the file, in frames; of what is unpacked, in lines
	At     int64  // where the first of it begins
}

// Found reports whether anything was passed over.
func (d Damage) Found() bool { return d != Damage{} }

// add counts n bytes from offset at on.
func (d *Damage) add(at, n int64) {
	if d.Bytes == 0 {
		d.At = at
	}
	d.Bytes += n
}

// String says what is missing: "1 zstd frame and 2 lines, 12345 bytes, the first
// at byte 67890".
func (d Damage) String() string {
	var parts []string
	if d.Frames > 0 {
		parts = append(parts, plural(d.Frames, "zstd frame"))
	}
	if d.Lines > 0 {
		parts = append(parts, plural(d.Lines, "line"))
	}
	if len(parts) == 0 {
		parts = append(parts, "something that is no zstd frame")
	}
	return fmt.Sprintf("%s, %s, the first at byte %d",
		strings.Join(parts, " and "), plural(uint64(d.Bytes), "byte"), d.At)
}

func plural(n uint64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
