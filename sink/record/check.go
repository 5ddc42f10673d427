package record

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strconv"
)

// name returns the key without quotes and escapes.
func (m *member) name() []byte { return unquote(m.key) }

// unquote returns the text of a valid JSON string.
func unquote(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s[1 : len(s)-1]
	}
	var text string
	if err := json.Unmarshal(s, &text); err != nil {
		return nil // it is known to be JSON
	}
	return []byte(text)
}

// Key identifies a record.
type Key struct {
	Scan   string
	Addr   netip.AddrPort // invalid if the record has no address
	Status string
}

// KeyOf returns the Key of a record, which Check must have accepted.
func KeyOf(line []byte) (k Key) {
	var ip netip.Addr
	var port uint64
	eachMember(line, func(m member) bool {
		switch string(m.key) {
		case `"scan"`:
			k.Scan = string(unquote(m.value))
		case `"ip"`:
			ip, _ = netip.ParseAddr(string(unquote(m.value)))
		case `"port"`:
			port, _ = strconv.ParseUint(string(m.value), 10, 16)
		case `"status"`:
			k.Status = string(unquote(m.value))
			return false
		}
		return true
	})
	if ip.IsValid() {
		k.Addr = netip.AddrPortFrom(ip, uint16(port))
	}
	return k
}
