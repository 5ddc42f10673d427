package list

import (
	"io"
	"net/netip"
)

// Format is a kind of list that is known by how it begins. A list of which no
// Format knows the beginning is text (see the package's documentation).
type Format struct {
	Name string // for a person, such as "Web API JSON"

	// Sniff reports whether a list that begins with head, at most SniffLen
	// bytes after decompression, is one of these.
	Sniff func(head []byte) bool

	// Read calls yield for every entry of the list, in order, until it returns
	// false, and returns why reading ended before the end of the list, if it
	// did. It must not keep r.
	Read func(r io.Reader, yield func(Entry) bool) error
}

// SniffLen is how much of a list Formats are shown, in bytes.
const SniffLen = 4096

// Entry is what a list holds in one place. Its bytes are those of the Format
// that read it, and valid until yield returns.
type Entry struct {
	Line   int            // where it is, from 1: a line, or which one of the list's items
	Addr   netip.AddrPort // the target; port 0 is unscannable. If it is not valid, Text counts
	Text   []byte         // what a line would say: ip:port, ip, network, name:port; without a tag
	Tag    []byte         // what is said beside it; hostile text
	Master []byte         // what a master server said of it, a JSON object; hostile text
	Fault  error          // why it is no target, nil if it is one; Text is shown with it
}

// Source is a list that is no file, such as one that was fetched just now.
type Source struct {
	Name string // for a person
	Size int64  // bytes, as Open gives them; -1: not known

	// Open begins the list, from its beginning each time. What it returns is
	// closed after it was read.
	Open func() (io.ReadCloser, error)
}

// Input is one list, as it was read.
type Input struct {
	Name        string // as it was named; "standard input" for "-"; fit to be shown
	Format      string // Format.Name, or "text"
	Compression string // such as "gzip"; empty: none
	Truncated   bool   // the compressed data ended early: what is missing is unknown
	Bytes       int64  // as they came, before decompression
	SHA256      string // of these bytes, in hex; empty: they were not read to the end
	Targets     uint64 // that it stands for, those left out later and duplicates included
	Invalid     uint64 // lines and entries that name no target
}
