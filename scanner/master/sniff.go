package master

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Kind is the format of a list.
type Kind uint8

// The kinds of lists.
const (
	KindText      Kind = iota // any other format, such as lines of text; package list reads it
	KindPages                 // the replies of a master server, one after the other
	KindWeb                   // answers of GetServerList, or only the array of servers of an answer
	KindAtAddress             // answers of GetServersAtAddress
	KindLines                 // NDJSON: elements of an answer, one per line
)

var kindTexts = [...]string{
	KindText:      "text",
	KindPages:     "reply pages of a master server",
	KindWeb:       "Web API JSON (GetServerList)",
	KindAtAddress: "Web API JSON (GetServersAtAddress)",
	KindLines:     "NDJSON",
}

// String describes the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindTexts) {
		return kindTexts[k]
	}
	return "unknown"
}

// sniffLen is the number of bytes after which the Kind is always certain. The keys
// that identify the Kind come earlier, unless somebody has constructed the list to
// mislead.
const sniffLen = 4096

// Sniff detects the kind of a list from its first bytes: 4096 are enough, and most
// lists need fewer. It returns KindText for a format that it does not recognise.
func Sniff(first []byte) Kind {
	k, _ := sniff(first)
	return k
}

// sniff returns the Kind, and whether it is certain, that is, whether more bytes
// can't change it.
func sniff(b []byte) (k Kind, sure bool) {
	if n := min(len(b), len(pageHeader)); n > 0 && string(b[:n]) == pageHeader[:n] {
		return KindPages, n == len(pageHeader)
	}
	rest := trimJSON(b)
	switch {
	case len(rest) == 0:
		return KindText, len(b) >= sniffLen
	case rest[0] == '[':
		return sniffArray(rest)
	case rest[0] != '{':
		return KindText, len(rest) >= len(byteOrderMark) || rest[0] < 0x80
	}
	return sniffObject(rest)
}

// sniffArray distinguishes an array of servers from text that begins with an IPv6
// address in brackets.
func sniffArray(b []byte) (k Kind, sure bool) {
	switch rest := trimJSON(b[1:]); {
	case len(rest) == 0:
		return KindText, len(b) >= sniffLen
	case rest[0] == '{', rest[0] == ']':
		return KindWeb, true
	}
	return KindText, true
}

const byteOrderMark = "\xEF\xBB\xBF"

// trimJSON removes a byte order mark and white space before JSON.
func trimJSON(b []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(b, []byte(byteOrderMark)), " \t\r\n")
}

// sniffObject distinguishes answers from NDJSON by the first key of the object, and
// the two kinds of answers by keys that only GetServersAtAddress sends.
func sniffObject(b []byte) (k Kind, sure bool) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.Token() // the opening bracket
	t, err := dec.Token()
	if key, ok := t.(string); err != nil || !ok || key != "response" {
		return sniffLine(b)
	}
	dec.Token() // the opening bracket of the value
	for first := true; ; first = false {
		t, err := dec.Token()
		switch {
		case first && t == "success", t == "gmsindex":
			return KindAtAddress, true
		case err != nil, t == json.Delim('}'):
			return KindWeb, err == nil || len(b) >= sniffLen
		}
	}
}

// sniffLine distinguishes NDJSON with elements of an answer from other NDJSON, such
// as a census, by the keys in the first line.
func sniffLine(b []byte) (k Kind, sure bool) {
	line, _, ended := bytes.Cut(b, []byte("\n"))
	has := func(key string) bool { return bytes.Contains(line, []byte(key)) }
	k = KindText
	if !has(`"ip"`) && (has(`"gamedir"`) || has(`"appid"`)) {
		k = KindLines
	}
	return k, ended || has(`"ip"`) || len(b) >= sniffLen
}

// hasPrefixOfHeader reports whether b begins with the header of a reply or, if b is
// shorter than the header, whether the header begins with b.
func hasPrefixOfHeader(b []byte) bool {
	return strings.HasPrefix(pageHeader, string(b[:min(len(b), len(pageHeader))]))
}
