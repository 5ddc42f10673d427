package game

// Notes is a set of things in a reply that Decode did not understand or had no room
// for. None of them means that the reply is faulty.
type Notes uint32

// The notes, each with the word that records use for it.
const (
	// keywords.cut: the keywords fill their field (EC-40), so the last tag may
	// be incomplete and was not read
	noteKeywordsCut Notes = 1 << iota
	// value.unreadable: a value is not the number or boolean that it should be
	noteValue
	// value.cut: a value was cut because it exceeds our limit
	noteValueCut
	// parts.missing: one of the rules that make up a value is missing; the parts
	// before it were used
	notePartsMissing
	// pages.version: the binary pages (bohemia.go) have an unknown version
	notePagesVersion
	// pages.missing: a binary page is missing; the pages before it were read
	notePagesMissing
	// pages.truncated: the binary pages end inside a field, or exceed our limits
	notePagesTruncated
	// pages.trailing: bytes after the last field of the binary pages
	notePagesTrailing
	// pages.overflow: the server says that its pages had no room for all mods or
	// signatures
	notePagesOverflow
	// pages.escape: the binary pages contain an undefined escape
	notePagesEscape
	// mods.limit: there are more mods than our limit
	noteModsLimit
)

// NoteWords are the words that records use for the notes, by bit.
var NoteWords = [...]string{
	"keywords.cut",
	"value.unreadable",
	"value.cut",
	"parts.missing",
	"pages.version",
	"pages.missing",
	"pages.truncated",
	"pages.trailing",
	"pages.overflow",
	"pages.escape",
	"mods.limit",
}
