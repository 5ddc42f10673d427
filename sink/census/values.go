package census

import (
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// parseIP returns the IP address in s, or the zero Addr if s is not one.
func parseIP(s []byte) netip.Addr {
	var ip [4]byte
	part, n, digits := 0, 0, 0
	for _, b := range s {
		switch {
		case '0' <= b && b <= '9' && digits < 3:
			n, digits = n*10+int(b-'0'), digits+1
		case b == '.' && digits > 0 && n < 256 && part < 3:
			ip[part] = byte(n)
			part, n, digits = part+1, 0, 0
		default:
			other, err := netip.ParseAddr(string(s))
			if err != nil {
				return netip.Addr{}
			}
			return other
		}
	}
	if part != 3 || digits == 0 || n > 255 {
		return netip.Addr{}
	}
	ip[3] = byte(n)
	return netip.AddrFrom4(ip)
}

// parseTime returns a record's time in Unix milliseconds, or 0 if s is not a time.
func parseTime(s []byte) int64 {
	if len(s) != len("2006-01-02T15:04:05.000Z") || s[10] != 'T' || s[23] != 'Z' {
		return 0
	}
	n := func(from, to int) (v int) {
		for _, b := range s[from:to] {
			v = v*10 + int(b-'0')
		}
		return v
	}
	t := time.Date(n(0, 4), time.Month(n(5, 7)), n(8, 10), n(11, 13), n(14, 16), n(17, 19), n(20, 23)*1e6, time.UTC)
	return t.UnixMilli()
}

// parseMillis reads a number of milliseconds; decimals after the third are ignored. It
// returns 0 if s is not a number.
func parseMillis(s []byte) time.Duration {
	us, decimals := int64(0), -1
	for _, b := range s {
		switch {
		case b == '.' && decimals < 0:
			decimals = 0
		case b < '0' || b > '9' || us > 1<<50:
			return 0
		case decimals < 3:
			us = us*10 + int64(b-'0')
			if decimals >= 0 {
				decimals++
			}
		}
	}
	for range 3 - max(decimals, 0) {
		us *= 10
	}
	return time.Duration(us) * time.Microsecond
}

func parseStatus[T string | []byte](s T) status {
	for i, word := range statusWords {
		if string(s) == word {
			return status(i)
		}
	}
	return statusUnknown
}

// questionOf returns the question that a word names, or numQuestions if it names none.
func questionOf(word []byte) int {
	for q, w := range questionWords {
		if string(word) == w {
			return q
		}
	}
	return numQuestions
}

// errorCodes are the codes of errors, by the word that a record has for each.
var errorCodes = func() map[string]uint8 {
	codes := map[string]uint8{}
	for e := wire.NumErrors - 1; e > 0; e-- {
		codes[wire.Error(e).String()] = uint8(e)
	}
	return codes
}()

// errorCode returns the code of a word, or wire.NumErrors for an unknown word.
func errorCode(word []byte) uint8 {
	if code, ok := errorCodes[string(word)]; ok {
		return code
	}
	return wire.NumErrors
}

// systemOf returns the letter that INFO has for the word linux, windows or mac. For
// another word, such as 0x6f, it returns the byte that the word gives in hex.
func systemOf(word []byte) byte {
	switch string(word) {
	case "linux":
		return 'l'
	case "windows":
		return 'w'
	case "mac":
		return 'm'
	}
	var b byte
	for _, c := range word[min(len("0x"), len(word)):] {
		d := c - '0'
		if c >= 'a' {
			d = c - 'a' + 10
		}
		b = b<<4 | d&15
	}
	return b
}
