package list

import (
	"io"
	"net/netip"
)

// Format is a kind of list, detected from its first bytes. A list that no Format
// detects is text (see the package's documentation).
type Format struct {
	Name string // for a person, such as "Web API JSON"

	// Sniff reports whether a list that begins with head has this format. head is
	// at most SniffLen bytes, after decompression.
	Sniff func(head []byte) bool

	// Read calls yield for every entry of the list, in order, until yield returns
	// false. It returns an error if reading failed. It must not keep r.
	Read func(r io.Reader, yield func(Entry) bool) error
}

// SniffLen is how many bytes of a list Sniff gets at most.
const SniffLen = 4096

// Entry is one entry of a list. Its bytes belong to the Format that read it, and
// are valid until yield returns.
type Entry struct {
	Line   int            // from 1: the line, or the number of the item
	Addr   netip.AddrPort // the target; port 0 is unscannable. If it is invalid, Text counts
	Text   []byte         // the target as in a line of text: ip:port, ip, network, name:port
	Tag    []byte         // hostile text
	Master []byte         // what a master server reported about it, a JSON object; hostile text
	Fault  error          // why the entry is no target; Text is shown with it
}

// Source is a list that is not a file, such as one that was just fetched.
type Source struct {
	Name string // for a person
	Size int64  // in bytes, as they come from Open; -1: unknown

	// Open returns the list from its beginning. The caller closes it.
	Open func() (io.ReadCloser, error)
}

// Input describes one list as it was read.
type Input struct {
	Name        string // as it was named, made printable; "standard input" for "-"
	Format      string // Format.Name, or "text"
	Compression string // such as "gzip"; empty: none
	Truncated   bool   // the compressed data ended early; how much is missing is unknown
	Bytes       int64  // before decompression
	SHA256      string // of these bytes, in hex; empty: the list was not read to its end
	Targets     uint64 // in it, including duplicates and those left out later
	Invalid     uint64 // lines and entries that name no target
}
