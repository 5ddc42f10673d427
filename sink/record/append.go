package record

import (
	"encoding/binary"
	"strconv"
	"time"
)

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

// appendText appends key, which includes quotes and colon, and then s as appendValue does.
func appendText(dst []byte, key string, s []byte) []byte {
	return appendValue(append(dst, key...), key[1:len(key)-len(`":`)], s)
}

// appendValue appends s, which is a text from a stranger, and a comma. If s is not valid
// UTF-8, its exact bytes follow under the key NAME_hex.
func appendValue(dst []byte, name string, s []byte) []byte {
	dst, valid := appendString(dst, s)
	if !valid {
		dst = append(append(dst, `,"`...), name...)
		dst = appendHex(append(dst, `_hex":`...), s)
	}
	return append(dst, ',')
}

func appendQuoted(dst []byte, word string) []byte {
	dst = append(dst, '"')
	dst = append(dst, word...)
	return append(dst, '"')
}

// appendNumber appends v in decimal. It is fast for numbers below a million, which most
// numbers are.
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
	switch {
	case v < 0:
		return appendNumber(append(dst, '-'), -uint64(v))
	case v < 1000:
		return appendThree(dst, threes[v])
	}
	return appendNumber(dst, uint64(v))
}

// appendMillis appends d in milliseconds, truncated to microseconds, without
// trailing zeros.
func appendMillis(dst []byte, d time.Duration) []byte {
	us := uint64(max(d, 0) / time.Microsecond)
	dst = appendNumber(dst, us/1000)
	if frac := us % 1000; frac != 0 {
		dst = append(dst, '.', digit(frac/100), digit(frac/10), digit(frac))
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	return dst
}

func digit(v uint64) byte { return '0' + byte(v%10) }
