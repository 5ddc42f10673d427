package record

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// Most functions of this file append a key with its value and a comma. The caller
// passes the key with its quotes and its colon.

// end closes an object or list whose members all end in a comma: the bracket
// replaces the last comma. It appends a comma after the bracket.
func end(dst []byte, bracket byte) []byte {
	if last := len(dst) - 1; dst[last] == ',' {
		dst[last] = bracket
	} else {
		dst = append(dst, bracket)
	}
	return append(dst, ',')
}

// appendText appends text from a stranger. If it is not valid UTF-8, its exact bytes
// follow under KEY_hex.
func appendText[T text](dst []byte, key string, s T) []byte {
	return appendValue(append(dst, key...), key, s)
}

// appendValue appends what appendText appends after the key. It is fast for strings
// that need no escapes, as most strings.
func appendValue[T text](dst []byte, key string, s T) []byte {
	old, n := len(dst), len(s)
	dst = slices.Grow(dst, n+len(`"",`))[:old+n+len(`"",`)]
	d := dst[old:]
	d[0], d[n+1], d[n+2] = '"', '"', ','
	if copyPlain(d[1:1+n], s) {
		return dst
	}
	as := clean(s)
	if as == n {
		return dst
	}
	return appendRest(dst[:old+1+as], key, s, as)
}

// appendRest appends s[as:], the closing quote and a comma. If s is not valid
// UTF-8, its exact bytes follow under KEY_hex.
func appendRest[T text](dst []byte, key string, s T, as int) []byte {
	dst, valid := appendEscaped(dst, s, as)
	if !valid {
		dst = append(dst, ',')
		dst = append(dst, key[:len(key)-len(`":`)]...)
		dst = append(dst, `_hex":`...)
		dst = appendHex(dst, s)
	}
	return append(dst, ',')
}

// appendWord appends a word that needs no escapes.
func appendWord(dst []byte, key, word string) []byte {
	dst = append(dst, key...)
	dst = append(dst, '"')
	dst = append(dst, word...)
	return append(dst, '"', ',')
}

func appendUint(dst []byte, key string, v uint64) []byte {
	dst = append(dst, key...)
	return append(appendNumber(dst, v), ',')
}

func appendInt(dst []byte, key string, v int64) []byte {
	dst = append(dst, key...)
	return append(appendSigned(dst, v), ',')
}

// appendNumber appends v in decimal, without a key. It is fast for numbers below a
// million, as most numbers.
func appendNumber(dst []byte, v uint64) []byte {
	switch {
	case v < 1000:
		return appendThree(dst, threes[v])
	case v < 1_000_000:
		dst = appendThree(dst, threes[v/1000])
		return binary.LittleEndian.AppendUint32(dst, threes[v%1000])[:len(dst)+3]
	}
	return strconv.AppendUint(dst, v, 10)
}

// threes holds the numbers of up to three digits: the digits, with leading zeros,
// in the lower three bytes, and the number of leading zeros in the top byte.
var threes = func() (t [1000]uint32) {
	for v := range t {
		zeros := 3 - len(strconv.Itoa(v))
		t[v] = uint32(zeros)<<24 | uint32('0'+v/100) | uint32('0'+v/10%10)<<8 | uint32('0'+v%10)<<16
	}
	return t
}()

// appendThree appends an entry of threes without its leading zeros. It avoids a
// branch that the processor could not predict.
func appendThree(dst []byte, three uint32) []byte {
	zeros := three >> 24
	return binary.LittleEndian.AppendUint32(dst, three<<8>>8>>(8*zeros))[:len(dst)+int(3-zeros)]
}

func appendSigned(dst []byte, v int64) []byte {
	if v < 0 {
		return appendNumber(append(dst, '-'), -uint64(v))
	}
	return appendNumber(dst, uint64(v))
}

// appendID appends a 64-bit identifier as a string: a reader that stores numbers as
// doubles would change its last digits.
func appendID(dst []byte, key string, id uint64) []byte {
	dst = append(dst, key...)
	dst = append(dst, '"')
	dst = strconv.AppendUint(dst, id, 10)
	return append(dst, '"', ',')
}

func appendBool(dst []byte, key string, v bool) []byte {
	dst = append(dst, key...)
	dst = strconv.AppendBool(dst, v)
	return append(dst, ',')
}

// appendAddress appends an address as ip and port, and as addr, a string with both.
func appendAddress(dst []byte, a netip.AddrPort) []byte {
	ip := a.Addr().Unmap()
	dst = append(dst, `"ip":"`...)
	from := len(dst)
	dst = appendIP(dst, ip)
	to := len(dst)
	dst = append(dst, `","port":`...)
	port := len(dst)
	dst = appendNumber(dst, uint64(a.Port()))
	end := len(dst)
	if ip.Is4() {
		dst = append(dst, `,"addr":"`...)
		dst = append(append(dst, dst[from:to]...), ':')
	} else {
		dst = append(dst, `,"addr":"[`...)
		dst = append(append(dst, dst[from:to]...), ']', ':')
	}
	dst = append(dst, dst[port:end]...)
	return append(dst, '"', ',')
}

// appendIP appends an IP address. An IPv6 address loses its zone.
func appendIP(dst []byte, ip netip.Addr) []byte {
	if !ip.Is4() {
		return ip.WithZone("").AppendTo(dst)
	}
	for _, part := range ip.As4() {
		dst = append(appendNumber(dst, uint64(part)), '.')
	}
	return dst[:len(dst)-1]
}

// appendMillis appends d in milliseconds, truncated to microseconds, without
// trailing zeros.
func appendMillis(dst []byte, key string, d time.Duration) []byte {
	us := uint64(max(d, 0) / time.Microsecond)
	dst = append(dst, key...)
	dst = appendNumber(dst, us/1000)
	if frac := us % 1000; frac != 0 {
		dst = append(dst, '.', digit(frac/100), digit(frac/10), digit(frac))
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	return append(dst, ',')
}

// digit returns the last decimal digit of v.
func digit(v uint64) byte { return '0' + byte(v%10) }
