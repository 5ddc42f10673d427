package list

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Format is a format of lists. Sniff detects it from the first bytes of a list. A list
// that no Sniff accepts is text (see the package documentation).
type Format struct {
	Name string // for messages, such as "Web API JSON"

	// Sniff reports whether a list that begins with head has this format. head is
	// at most sniffLen bytes, after decompression; it may end after the first line.
	Sniff func(head []byte) bool

	// Read calls yield for every entry of the list, in order, until yield returns
	// false. It returns an error if reading fails.
	Read func(r io.Reader, yield func(Entry) bool) error

	note string // a remark for the user about a list in this format
}

const sniffLen = 4096

// Entry is one entry of a list. Its bytes belong to the Format that read it, and
// are valid until yield returns.
type Entry struct {
	Line int // line or item number, from 1

	// Text is the target, written as in a line of text: ip:port, ip, network or name:port.
	Text []byte

	// Row is a JSON object that replaces Text and Tag. It has the same keys as a line of an
	// NDJSON list.
	Row []byte

	Tag    []byte // the target's tag; hostile text
	Master []byte // a JSON object that a master server reported; hostile text
	Fault  error  // why the entry is invalid; nil if it is valid

	skip bool // the entry is a row for TCP or for a closed port
	// unclear is the fault of a row that has a port only under a key of unknown meaning.
	// The row is valid if Config.Ports names the ports.
	unclear  fault
	beside   bool // the row has other ports besides the one in Text
	aside    bool // the row has another address, which is ignored
	hostOnly bool // the row's key or column for the port has no value
}

// Source is a list that is not in a file, such as one that was just fetched.
type Source struct {
	Name string // for messages
	Size int64  // number of bytes in the list; -1 if unknown

	// Open returns the list from its beginning. The caller closes it.
	Open func() (io.ReadCloser, error)
}

// Input describes what was read from a list.
type Input struct {
	Name        string // the name that the user gave, made printable; "standard input" for "-"
	Format      string // Format.Name, or "text"
	Compression string // such as "gzip"; empty if the list is not compressed
	Truncated   bool   // the compressed data ended early
	Bytes       int64  // number of bytes read, before decompression
	SHA256      string // SHA-256 of all bytes of the list, in hex; empty if the list was not read to its end
	Targets     uint64 // number of targets, including duplicates and excluded targets
	Invalid     uint64 // number of lines and entries that name no target
	Skipped     uint64 // number of rows for TCP, closed ports and banners
}

// Invalid is a line that names no target, or a line of a file of exclusions that names no
// network.
type Invalid struct {
	File string // the name that the user gave; "standard input" for "-"
	Line int    // line, item or argument number, from 1
	Text string // the line, or its beginning; made printable
	Err  error  // what is wrong; for a host name, why its lookup failed
}

// Error returns the file, line, fault and text in one line.
func (v Invalid) Error() string {
	return fmt.Sprintf("%s:%d: %v: %q", v.File, v.Line, v.Err, v.Text)
}

// unquote undoes what strconv.Quote does to quotes and backslashes.
var unquote = strings.NewReplacer(`\"`, `"`, `\\`, `\`)

// maxShown is the maximum number of bytes of a text that a message shows.
const maxShown = 100

// show makes the first maxShown bytes of text printable for a terminal or a log. Characters
// that are not printable, such as control characters, are escaped as in Go.
func show(text []byte) string {
	end := min(len(text), maxShown)
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	s := strconv.Quote(string(text[:end]))
	s = unquote.Replace(s[1 : len(s)-1])
	if end < len(text) {
		s += "…"
	}
	return s
}
