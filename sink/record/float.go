package record

import (
	"math"
	"strconv"
)

// appendFloat appends the shortest decimal that reads back as the same float32, or
// null for NaN and infinity, which JSON can't express.
func appendFloat(dst []byte, v float32) []byte {
	if b := math.Float32bits(v); ordinary(b) {
		return appendOrdinary(dst, b)
	}
	f := float64(v)
	size := math.Abs(f)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(dst, "null"...)
	case size != 0 && float32(size) < 1e-6 || float32(size) >= 1e21:
		return strconv.AppendFloat(dst, f, 'e', -1, 32)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 32)
}

// A float32 is a mantissa of 24 bits, the first of which is 1 and not stored,
// times a power of two.
const (
	mantissaBits = 23
	oneBits      = 0x3F800000 // the bits of 1.0
)

// ordinary reports whether appendOrdinary can write the float32 with the bits b. The
// absolute value of the float32 must be at least 1/16 and less than 2^23 (97 days, for a
// duration in seconds). It must not be a power of two, which is nearer to its lower
// neighbour than to its upper one.
func ordinary(b uint32) bool {
	const least, most = oneBits - 4<<mantissaBits, oneBits + mantissaBits<<mantissaBits
	b &^= 1 << 31
	return b >= least && b < most && b<<9 != 0
}

// appendOrdinary appends the shortest decimal of an ordinary float32, three times
// as fast as package strconv. The fraction has fewer than 28 bits. appendOrdinary
// produces the digits of the fraction one by one. It stops when the decimal is so
// near to the float that a reader gets the same float back: nearer than half the
// distance to the float's neighbours. (Steele and White 1990, in integers.)
func appendOrdinary(dst []byte, b uint32) []byte {
	if b>>31 != 0 {
		dst = append(dst, '-')
	}
	mantissa := uint64(b&(1<<mantissaBits-1) | 1<<mantissaBits)
	point := mantissaBits - int(b>>mantissaBits&0xFF) + oneBits>>mantissaBits
	if whole := mantissa >> point; whole < 1000 {
		dst = appendThree(dst, threes[whole])
	} else {
		dst = appendNumber(dst, whole)
	}
	one := uint64(2) << point // one and rest count halves of the mantissa's last bit
	rest := mantissa << 1 & (one - 1)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for near := uint64(10); ; near *= 10 {
		rest *= 10
		next := '0' + byte(rest>>(point+1))
		rest &= one - 1
		low, high := rest < near, one-rest < near
		if mantissa&1 == 0 { // a decimal halfway between two floats reads as the even one
			low, high = rest <= near, one-rest <= near
		}
		if !low && !high {
			dst = append(dst, next)
			continue
		}
		if high && (!low || rest > one-rest || rest == one-rest && next&1 != 0) {
			next++
		}
		return append(dst, next)
	}
}

// parseDecimal returns the float32 that is nearest to a short decimal, or false if the text is
// anything else. The digits and the power of ten are exact as float64, so their quotient is the
// nearest float64. Rounding the quotient to float32 gives the float32 nearest to the decimal as
// well, because with so few digits the quotient is halfway between two float32 only if the
// decimal is.
func parseDecimal(s []byte) (float32, bool) {
	const most = 14 // maximum length
	whole := digitsEnd(s, 0)
	end := whole
	if end > 0 && end < len(s) && s[end] == '.' {
		end = digitsEnd(s, end+1)
	}
	if end != len(s) || end == 0 || end > most || end == whole+1 {
		return 0, false
	}
	digits, power := uint64(0), 1.0
	for i, b := range s {
		if i != whole {
			digits = 10*digits + uint64(b-'0')
		}
		if i > whole {
			power *= 10
		}
	}
	return float32(float64(digits) / power), true
}
