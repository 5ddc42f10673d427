package export

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/a2sscan/a2sscan/sink/record"
)

// column holds the values of a leaf, without nulls.
type column struct {
	is      record.ColumnType
	kind    format.Type
	numbers []int64 // integers, times, or the bits of floating-point numbers; unused for strings
	texts   texts
}

func (c *column) init(is record.ColumnType) {
	c.is = is
	switch is {
	case record.ColumnID, record.ColumnUint64, record.ColumnMillis, record.ColumnSeconds:
		c.kind = format.Int64
	case record.ColumnFloat64:
		c.kind = format.Double
	case record.ColumnFloat32:
		c.kind = format.Float
	case record.ColumnBool:
		c.kind = format.Boolean
	case record.ColumnText, record.ColumnJSON:
		c.kind = format.ByteArray
	default:
		c.kind = format.Int32
	}
}

func (c *column) reset() {
	c.numbers = c.numbers[:0]
	if c.kind == format.ByteArray {
		c.texts.reset()
	}
}

// parseNumber converts a value that is not text to its form in column.numbers. It
// returns false if the value is not of the given type.
func parseNumber(is record.ColumnType, value []byte) (n int64, ok bool) {
	if len(value) == 0 {
		return 0, false
	}
	switch is {
	case record.ColumnID:
		if len(value) < 2 || value[0] != '"' {
			return 0, false
		}
		return parseUint(value[1 : len(value)-1])
	case record.ColumnUint64:
		return parseUint(value)
	case record.ColumnMillis, record.ColumnSeconds:
		return parseTime(value)
	case record.ColumnFloat64:
		f, ok := parseFloat(value)
		return int64(math.Float64bits(f)), ok
	case record.ColumnFloat32:
		f, ok := parseFloat32(value)
		return int64(math.Float32bits(f)), ok
	case record.ColumnBool:
		if string(value) == "true" {
			return 1, true
		}
		return 0, string(value) == "false"
	}
	if value[0] == '-' {
		n, ok = parseUint(value[1:])
		return -n, ok
	}
	return parseUint(value)
}

// parseUint reads an unsigned integer of up to 64 bits. The result has the same bits.
func parseUint(s []byte) (int64, bool) {
	if len(s) == 0 || len(s) > 18 {
		n, err := strconv.ParseUint(string(s), 10, 64)
		return int64(n), err == nil
	}
	n := int64(0)
	for _, b := range s {
		d := b - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return n, true
}

// parseTime reads a quoted time as milliseconds since 1970.
func parseTime(value []byte) (int64, bool) {
	if len(value) < 2 || value[0] != '"' {
		return 0, false
	}
	at, err := time.Parse(time.RFC3339Nano, string(value[1:len(value)-1]))
	return at.UnixMilli(), err == nil
}

// tens are powers of ten that a float64 represents exactly.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseFloat reads a number. If it has up to 15 digits and no exponent, then its
// digits and the power of ten that divides them are exact as float64, so the quotient
// is the nearest float64.
func parseFloat(s []byte) (float64, bool) {
	n, digits, point := int64(0), 0, -1
	rest := bytes.TrimPrefix(s, []byte("-"))
	for _, b := range rest {
		switch d := b - '0'; {
		case d <= 9:
			n = n*10 + int64(d)
			digits++
		case b == '.' && point < 0:
			point = digits
		default:
			digits = len(tens)
		}
		if digits >= len(tens) {
			f, err := strconv.ParseFloat(string(s), 64)
			return f, err == nil
		}
	}
	if digits == 0 {
		return 0, false
	}
	f := float64(n)
	if point >= 0 {
		f /= tens[digits-point]
	}
	if len(rest) < len(s) {
		f = -f
	}
	return f, true
}

// parseFloat32 reads a number. Rounding the nearest float64 to a float32 gives the
// nearest float32, unless the float64 lies halfway between two float32 values. Such
// numbers, and very small and large ones, are parsed again as float32.
func parseFloat32(s []byte) (float32, bool) {
	f, ok := parseFloat(s)
	const lower, half = 1<<29 - 1, 1 << 28 // the bits that a float32 lacks
	if !ok || math.Float64bits(f)&lower == half || f != 0 && math.Abs(f) < 1e-30 || math.Abs(f) > math.MaxFloat32/2 {
		f, err := strconv.ParseFloat(string(s), 32)
		return float32(f), err == nil
	}
	return float32(f), true
}
