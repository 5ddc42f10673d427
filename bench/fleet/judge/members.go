package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
)

// member is a key of a record and its value, both unparsed.
type member struct{ key, value []byte }

// members appends the members of a record that are not ignored, in their order. It
// parses JSON in the form that sink writes, without spaces and without escapes in
// keys, and checks no more than necessary. It returns false for any other form,
// which json.Unmarshal must then parse.
func members(dst []member, line []byte) ([]member, bool) {
	ok := eachMember(line, func(key, value []byte) {
		if !isLeftAside(string(key)) {
			dst = append(dst, member{key, value})
		}
	})
	return dst, ok
}

// eachMember calls yield for each member of a JSON object. It returns false if it
// can't parse the object.
func eachMember(line []byte, yield func(key, value []byte)) bool {
	b, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte{'{'})
	for ok && len(b) > 0 {
		key := stringLen(b)
		if key < 2 || len(b) <= key || b[key] != ':' {
			return false
		}
		value := valueLen(b[key+1:])
		end := key + 1 + value
		if value == 0 || end >= len(b) {
			return false
		}
		yield(b[1:key-1], b[key+1:end])
		if b[end] == '}' {
			return end == len(b)-1
		}
		ok = b[end] == ','
		b = b[end+1:]
	}
	return false
}

// stringLen returns the length of the JSON string at the beginning of b, including
// its quotes, or 0 if there is no complete string.
func stringLen(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// valueLen returns the length of the JSON value at the beginning of b, which
// another member or the end of the object must follow. It returns 0 if the value
// has no end.
func valueLen(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringLen(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// identifyAny does what identify does, but also accepts a record with spaces, which
// another program may have written. It also returns the line without spaces.
func identifyAny(line []byte) (_ []byte, addr netip.AddrPort, status string, err error) {
	if addr, status, err = identify(line); err == nil {
		return line, addr, status, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, line); err != nil {
		return nil, addr, "", err
	}
	addr, status, err = identify(b.Bytes())
	return b.Bytes(), addr, status, err
}

// identify returns the address and the status of a record.
func identify(line []byte) (addr netip.AddrPort, status string, err error) {
	var ip, port []byte
	ok := eachMember(line, func(key, value []byte) {
		switch string(key) {
		case "ip":
			ip = bytes.Trim(value, `"`)
		case "port":
			port = value
		case "status":
			status = string(bytes.Trim(value, `"`))
		}
	})
	if !ok {
		return addr, "", errors.New("not a record")
	}
	a, err := netip.ParseAddr(string(ip))
	if err != nil || !a.Is4() {
		return addr, "", fmt.Errorf("ip %q: not an IPv4 address", ip)
	}
	p, err := strconv.ParseUint(string(port), 10, 16)
	if err != nil {
		return addr, "", fmt.Errorf("port %q: %w", port, err)
	}
	return netip.AddrPortFrom(a, uint16(p)), status, nil
}
