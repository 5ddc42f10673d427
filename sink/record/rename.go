package record

import "bytes"

// Rename appends the record in line to dst, with scan as the name of its scan. If
// scan is empty, the new record has no such name. All other bytes stay the same.
// Check must have accepted the line, which has no newline.
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

// scanPlace returns the byte range of scan and scan_hex in a record, with the comma
// before them. If the record has neither, the range is empty and lies after the
// schema.
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
