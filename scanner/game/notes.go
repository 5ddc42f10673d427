package game

// Notes is a set of things in a reply that could not be understood or had no
// room. They are never a reason to call the reply faulty.
type Notes uint32

// The notes, each with the record's word.
const (
	// keywords.cut: the keywords fill their field (EC-40), so the last tag may
	// be incomplete and was not read
	NoteKeywordsCut Notes = 1 << iota
	// value.unreadable: the value of a number or a boolean can't be read
	NoteValue
	// value.cut: a text longer than we keep
	NoteValueCut
	// parts.missing: one of the rules that make up a text is missing; the parts
	// before it were kept
	NotePartsMissing
	// pages.version: binary pages of a version that we do not know
	NotePagesVersion
	// pages.missing: a binary page is not there; those before it were read
	NotePagesMissing
	// pages.truncated: the binary pages end inside a field
	NotePagesTruncated
	// pages.trailing: bytes after the last field of the binary pages
	NotePagesTrailing
	// pages.overflow: the server says that its pages had no room for all mods or
	// signatures
	NotePagesOverflow
	// pages.escape: the binary pages hold an escape that has no meaning
	NotePagesEscape
	// mods.limit: more mods than we keep
	NoteModsLimit

	NumNotes = iota
)

var noteWords = [NumNotes]string{
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

// NoteWord returns the record's word for the note of bit i, 0 ≤ i < NumNotes.
func NoteWord(i int) string { return noteWords[i] }
