package game

// Notes is a set of things in a reply that Decode did not understand or had no room
// for. None of them means that the reply is faulty.
type Notes uint32

const (
	noteKeywordsCut Notes = 1 << iota
	noteValue
	noteValueCut
	notePartsMissing
	notePagesVersion
	notePagesMissing
	notePagesTruncated
	notePagesTrailing
	notePagesOverflow
	notePagesEscape
	noteModsLimit
)

// NoteWords are the words that records use for the notes, by bit.
var NoteWords = [...]string{
	"keywords.cut",     // the keywords fill their field (EC-40), so the last tag may be incomplete and was not read
	"value.unreadable", // a value is not the number or boolean that it should be
	"value.cut",        // a value exceeds our limit
	"parts.missing",    // one of the rules that make up a value is missing; the parts before it were used
	"pages.version",    // the binary pages (bohemia.go) have an unknown version
	"pages.missing",    // a binary page is missing; the pages before it were read
	"pages.truncated",  // the binary pages end inside a field, or exceed our limits
	"pages.trailing",   // bytes follow the last field of the binary pages
	"pages.overflow",   // the server says that its pages had no room for all mods or signatures
	"pages.escape",     // the binary pages contain an undefined escape
	"mods.limit",       // there are more mods than our limit
}
