package record

import "bytes"

// Rename appends the record in line to dst, with scan as the name of its scan. If scan
// is empty, the record has no name of a scan. All other bytes stay the same. Check must
// have accepted the line, which has no newline.
func Rename(dst, line []byte, scan string) []byte {
	from, to := scanPlace(line)
	dst = append(dst, line[:from]...)
	if scan != "" {
		dst = append(dst, ',')
		dst = appendText(dst, `"scan":`, scan)
		dst = dst[:len(dst)-1] // its comma
	}
	return append(dst, line[to:]...)
}

// scanPlace returns the range of the scan's name in a record, with the comma before it,
// or the place where it belongs: after the schema.
func scanPlace(line []byte) (from, to int) {
	eachMember(line, func(m member) bool {
		switch {
		case m.comma == 0:
			from, to = m.end, m.end
			return true
		case bytes.Equal(m.key, []byte(`"scan"`)), bytes.Equal(m.key, []byte(`"scan_hex"`)):
			to = m.end
			return true
		}
		return false
	})
	return from, to
}
